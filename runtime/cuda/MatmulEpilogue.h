//===- MatmulEpilogue.h - epilogues that a cuBLASLt call computes ---------===//
//
// Only the installed cuBLASLt knows whether it computes an epilogue for some types.  So a matmul
// has several variants, in order of preference: with the whole epilogue, with the bias only,
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

struct EpilogueVariant {
  cublasLtEpilogue_t epilogue = CUBLASLT_EPILOGUE_DEFAULT;
  int32_t left = 0; // flags of br_rest

  // Whether the library reads the bias or writes its gradient (hasVector); whether it writes or
  // reads GELU's input (hasAux).
  bool hasVector(const br_matmul_desc &d) const;
  bool hasAux(const br_matmul_desc &d) const;
};

// Returns the variants of a matmul's epilogue; the first leaves no rest.  `swapped`: the library's A is our B.
std::vector<EpilogueVariant> epilogueVariants(const br_matmul_desc &d, bool swapped);

// Describes the rest of a variant, and the types: "GELU (bf16 by bf16 into bf16)".
std::string describeRest(const EpilogueVariant &variant, const br_matmul_desc &d);

} // namespace braid
#endif // BRAID_CUDA_MATMULEPILOGUE_H
