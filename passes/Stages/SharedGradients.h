//===- SharedGradients.h - sums of gradients that several stages make -*- C++ -*-===//
//
// A parameter that several stages read, such as the table of tied embeddings, has a gradient
// from each.  Every rank adds up its own over the microbatches; these sums are added when the
// table of a step is over.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_PASSES_STAGES_SHAREDGRADIENTS_H
#define BRAID_PASSES_STAGES_SHAREDGRADIENTS_H

#include "passes/Stages/StageMap.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringMap.h"
#include <map>

namespace braid {

/// What each rank calls its own part of an accumulator, by the accumulator's name and the rank's
/// coordinate.
using SharedSums = llvm::StringMap<std::map<unsigned, std::string>>;

/// Gives each rank with a part of a gradient an accumulator of its own: takes sums of several
/// stages' values in @accumulate apart.
mlir::FailureOr<SharedSums> splitSharedGradients(mlir::func::FuncOp accumulate, StageMap &map,
                                                 llvm::function_ref<unsigned(unsigned stage)> rankOf);

} // namespace braid

#endif // BRAID_PASSES_STAGES_SHAREDGRADIENTS_H
