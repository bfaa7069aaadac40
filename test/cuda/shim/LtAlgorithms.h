//===- LtAlgorithms.h - what the heuristic offers, and how long it takes --===//
//
// BRAID_SHIM_LT=4096:30,0:12,0:5:fails,0:30::8 says which algorithms cublasLtMatmulAlgoGetHeuristic
// offers, in their order: the bytes of workspace, the microseconds of a call, whether
// calls fail, and the microseconds with the sum over k split, where it can be.  Events then show what matmuls have
// taken on their stream, and nothing else, so that tests know it; without it they show the host's clock.
//
// BRAID_SHIM_LT_REFUSES=BGRADB:f32,GELU_AUX_BIAS says which epilogues the library has no
// algorithm for, for a type of the result or for all.
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

// The time on a stream, by its number, that an event shows.
std::chrono::steady_clock::time_point timeOnStream(int stream);
void passTime(int stream, unsigned microseconds);

} // namespace shim
#endif // BRAID_SHIM_LTALGORITHMS_H
