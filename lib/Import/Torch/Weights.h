//===- Weights.h - the values of an exported program's tensors --*- C++ -*-===//
#ifndef BRAID_LIB_IMPORT_TORCH_WEIGHTS_H
#define BRAID_LIB_IMPORT_TORCH_WEIGHTS_H

#include "lib/Import/Torch/Program.h"
#include "llvm/Support/raw_ostream.h"

namespace braid::torch {

/// Returns the bytes of a tensor's elements in row-major order. Fails if the archive has not all of them.
llvm::Expected<std::string> readTensor(const Archive &archive, const StoredTensor &stored);

/// Writes these tensors of the state_dict as safetensors, in the order of their names. Copies a block at a time, so
/// memory does not grow with the weights. Fails if the archive has no values for a tensor, or fewer bytes than its type
/// has.
llvm::Error writeWeights(const Program &program, const Archive &archive, llvm::ArrayRef<std::string> names,
                         llvm::raw_ostream &os);

} // namespace braid::torch

#endif // BRAID_LIB_IMPORT_TORCH_WEIGHTS_H
