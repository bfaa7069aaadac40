//===- LtAlgorithms.h - what the heuristic offers, and how long it takes --===//
//
// BRAID_SHIM_LT=4096:30,0:12,0:5:fails,0:30::8 lists the algorithms of cublasLtMatmulAlgoGetHeuristic in order: the
// bytes of workspace, the microseconds of a call, whether calls fail, and the microseconds with a split sum over k, if
// splitting is possible. Events then show only the time of the matmuls on their stream, so that tests know it;
// otherwise they show the host's clock.
//
// BRAID_SHIM_LT_REFUSES=BGRADB:f32,GELU_AUX_BIAS lists the epilogues for which the library has no algorithm, for one
// type of the result or for all.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_SHIM_LTALGORITHMS_H
#define BRAID_SHIM_LTALGORITHMS_H

#include "cublasLt.h"

#include <chrono>
#include <cstddef>
#include <vector>

namespace shim {

struct LtAlgorithm {
  size_t workspace;
  unsigned microseconds = 0;
  bool fails = false;
  unsigned splitMicroseconds = 0; // 0: it cannot split
};
std::vector<LtAlgorithm> offeredAlgorithms();

bool isRefused(uint32_t epilogue, cudaDataType result);

// Returns the time that an event shows, on a stream with this number.
std::chrono::steady_clock::time_point timeOnStream(int stream);
void passTime(int stream, unsigned microseconds);

} // namespace shim
#endif // BRAID_SHIM_LTALGORITHMS_H
