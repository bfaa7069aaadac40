//===- MatmulEpilogue.h - what a call of cuBLASLt does of an epilogue -----===//
//
// Whether cuBLASLt computes an epilogue for some types, only the library knows that is
// there.  A matmul has several ways to end, in the order of preference: by the epilogue
// as it is; with the bias alone; plainly.  What a way leaves, kernels of the program
// compute after the call (MatmulRest.h).
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
  int32_t left = 0; // of br_rest

  // Whether the library reads the bias or writes its gradient; whether it keeps or reads GELU's input.
  bool hasVector(const br_matmul_desc &d) const;
  bool hasAux(const br_matmul_desc &d) const;
};

// The ways of a matmul, the first of which leaves nothing.  `swapped`: the library's A is our B.
std::vector<EpilogueWay> waysToFinish(const br_matmul_desc &d, bool swapped);

// What the way leaves, and for which types: "GELU, bf16 by bf16 into bf16".
std::string describeRest(const EpilogueWay &way, const br_matmul_desc &d);

} // namespace braid
#endif // BRAID_CUDA_MATMULEPILOGUE_H
