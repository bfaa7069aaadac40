//===- Causes.h - why a transient buffer exists -----------------*- C++ -*-===//
//
// Reports sum bytes by cause.  The rule for transient buffers, decided by the
// action that writes them first:
//
//   inputs       arguments that are no parameter or state
//   gathered     written by a collective that combines nothing, from values that
//                depend on parameters alone: a parameter in its whole size
//   activations  written by the forward pass (lib/Schedule/Forward.h), which is all
//                of a program that does not train
//   buckets      of the rest, what a collective that combines several tensors writes
//                (in place, its operands' memory has its own cause)
//   gradients    the rest: what the backward pass and the optimizer make
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_LIB_MEMORY_CAUSES_H
#define BRAID_LIB_MEMORY_CAUSES_H

#include "lib/Memory/Places.h"

namespace braid {

/// The keys of `by_cause`, in the order of reports.
llvm::ArrayRef<llvm::StringLiteral> causeNames();

inline constexpr llvm::StringLiteral kParameters = "parameters", kGradients = "gradients",
                                     kActivations = "activations", kBuckets = "buckets",
                                     kGathered = "gathered", kWorkspace = "workspace", kInputs = "inputs";

/// One for each storage of the program; empty for persistent ones.
std::vector<llvm::StringRef> transientCauses(mlir::func::FuncOp program, const Places &places);

} // namespace braid

#endif // BRAID_LIB_MEMORY_CAUSES_H
