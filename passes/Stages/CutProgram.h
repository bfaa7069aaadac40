//===- CutProgram.h - cut programs among pipeline ranks ---------*- C++ -*-===//
//
// Evaluation and generation pass the stages once, forward. A rank computes the ops of its stages and sends the values
// that other ranks read. The update at the end of a step has no stages: a rank computes everything that depends on its
// own tensors. Sums over tensors of several ranks, such as the norm of all gradients, are added on each rank and then
// among ranks. Each tensor counts once, on the first rank that holds it.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_PASSES_STAGES_CUTPROGRAM_H
#define BRAID_PASSES_STAGES_CUTPROGRAM_H

#include "lib/Pipeline/Walk.h"
#include "passes/Stages/StageFunction.h"
#include "passes/Stages/StageMap.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SmallBitVector.h"
#include "llvm/ADT/StringMap.h"
#include <map>

namespace braid {

/// Names of the ranks' own parts of an accumulator, by the accumulator's name and the rank's coordinate.
using SharedSums = llvm::StringMap<std::map<unsigned, std::string>>;

/// Splits sums in @accumulate over values of several stages. Gives each rank with a part of a gradient its own
/// accumulator.
mlir::FailureOr<SharedSums> splitSharedGradients(mlir::func::FuncOp accumulate, StageMap &map,
                                                 llvm::function_ref<unsigned(unsigned stage)> rankOf);

/// Number of slots by symbol.
using SlotCounts = llvm::MapVector<mlir::StringAttr, int64_t>;

struct Cells {
  llvm::SmallVector<mlir::func::FuncOp> functions;
  SlotCounts slots;
};

/// Cuts `program`, which accumulates the gradients of a microbatch.
Cells cutCells(mlir::func::FuncOp program, const StageMap &map, const StageAxis &axis,
               const pipeline::Schedule &schedule, const pipeline::Walk &walk);

/// The ranks that hold each tensor that persists across programs.
class Holders {
public:
  Holders(llvm::ArrayRef<mlir::func::FuncOp> cells, const StageAxis &axis, SharedSums shared);

  /// Returns the ranks of a parameter's argument or of a state; all ranks for other arguments.
  llvm::SmallBitVector of(mlir::BlockArgument argument) const;
  /// Returns the name of a tensor on a rank: a rank's part of a sum of gradients may have its own name.
  std::string nameOn(unsigned rank, llvm::StringRef name) const;
  /// Whether some of the parameter's ranks have no part of a sum of its gradients, or several ranks have one.
  bool isShared(mlir::BlockArgument argument) const;
  /// Returns the ranks with parts of a sum of gradients.
  llvm::SmallVector<unsigned> partsOf(llvm::StringRef accumulator) const;
  unsigned numRanks() const { return all.size(); }
  llvm::SmallBitVector allRanks() const { return all; }

private:
  llvm::SmallBitVector all;
  /// Ranks by the name of a parameter (its master's name, for a copy) or of a state without a parameter.
  llvm::StringMap<llvm::SmallBitVector> ofOwner;
  /// Ranks by the name of an accumulator in the cells.
  llvm::StringMap<llvm::SmallBitVector> ofSums;
  SharedSums shared;
};

/// Return one function per rank along the axis; together they are the program's entry.
mlir::FailureOr<llvm::SmallVector<mlir::func::FuncOp>> cutForward(mlir::func::FuncOp program, const StageMap &map,
                                                                  const StageAxis &axis,
                                                                  llvm::function_ref<unsigned(unsigned)> rankOf);
mlir::FailureOr<llvm::SmallVector<mlir::func::FuncOp>> cutUpdate(mlir::func::FuncOp program, const StageAxis &axis,
                                                                 const Holders &holders);

} // namespace braid

#endif // BRAID_PASSES_STAGES_CUTPROGRAM_H
