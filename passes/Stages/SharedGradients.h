//===- SharedGradients.h - gradient sums of several stages ------*- C++ -*-===//
//
// Several stages may read a parameter, such as the table of tied embeddings, and each computes a gradient for it.
// Every rank sums its own gradients over the microbatches. These sums are added after the schedule of a step ends.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_PASSES_STAGES_SHAREDGRADIENTS_H
#define BRAID_PASSES_STAGES_SHAREDGRADIENTS_H

#include "passes/Stages/StageMap.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringMap.h"
#include <map>

namespace braid {

/// Names of the ranks' own parts of an accumulator, by the accumulator's name and the rank's coordinate.
using SharedSums = llvm::StringMap<std::map<unsigned, std::string>>;

/// Splits sums in @accumulate over values of several stages. Gives each rank with a part of a gradient its own
/// accumulator.
mlir::FailureOr<SharedSums> splitSharedGradients(mlir::func::FuncOp accumulate, StageMap &map,
                                                 llvm::function_ref<unsigned(unsigned stage)> rankOf);

} // namespace braid

#endif // BRAID_PASSES_STAGES_SHAREDGRADIENTS_H
