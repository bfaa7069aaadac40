//===- Causes.h - why a transient buffer exists -----------------*- C++ -*-===//
//
// Reports sum bytes by cause.  The rule for transient buffers, decided by the
// action that writes them first:
//
//   inputs       arguments other than parameters and states
//   gathered     written by a collective that combines nothing, from values that
//                depend on parameters alone: a parameter in its whole size
//   workspace    a rank's copy of its part of a whole parameter, beside the scratch
//                memory of library calls
//   gradients    what updates a parameter, or is added to what does, element for
//                element, and is not written by the forward pass
//   buckets      of these, what a collective reads and reduces to somewhere else: full
//                gradients that are not yet reduced (one that is reduced in place is
//                a gradient)
//   activations  the rest: what forward (lib/Schedule/Forward.h) and backward pass on;
//                all of a program that does not train
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_LIB_MEMORY_CAUSES_H
#define BRAID_LIB_MEMORY_CAUSES_H

#include "lib/Memory/BufferAssignment.h"

namespace braid {

/// The keys of `by_cause`, in the order of reports.
llvm::ArrayRef<llvm::StringLiteral> causeNames();

inline constexpr llvm::StringLiteral kParameters = "parameters", kGradients = "gradients", kActivations = "activations",
                                     kBuckets = "buckets", kGathered = "gathered", kWorkspace = "workspace",
                                     kInputs = "inputs";

/// One for each storage of the program; empty for persistent ones.
std::vector<llvm::StringRef> transientCauses(mlir::func::FuncOp program, const Places &places);

} // namespace braid

#endif // BRAID_LIB_MEMORY_CAUSES_H
