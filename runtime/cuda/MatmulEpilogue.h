//===- MatmulEpilogue.h - epilogues that a cuBLASLt call computes ---------===//
//
// Only the installed cuBLASLt knows whether it computes an epilogue for some types.  So a matmul
// has several ways to end, in order of preference: with the whole epilogue, with the bias only,
// with none.  Kernels of the program compute the rest after the call (MatmulRest.h).
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_CUDA_MATMULEPILOGUE_H
#define BRAID_CUDA_MATMULEPILOGUE_H

#include "cuda/braid_cuda.h"

#include <cublasLt.h>

#include <string>
#include <vector>

namespace braid {

struct EpilogueWay {
  cublasLtEpilogue_t epilogue = CUBLASLT_EPILOGUE_DEFAULT;
  int32_t left = 0; // flags of br_rest

  // Whether the library reads the bias or writes its gradient (hasVector); whether it writes or
  // reads GELU's input (hasAux).
  bool hasVector(const br_matmul_desc &d) const;
  bool hasAux(const br_matmul_desc &d) const;
};

// Returns the ways to end a matmul; the first leaves no rest.  `swapped`: the library's A is our B.
std::vector<EpilogueWay> waysToFinish(const br_matmul_desc &d, bool swapped);

// Describes the rest of a way, and the types: "GELU (bf16 by bf16 into bf16)".
std::string describeRest(const EpilogueWay &way, const br_matmul_desc &d);

} // namespace braid
#endif // BRAID_CUDA_MATMULEPILOGUE_H
