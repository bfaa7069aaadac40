//===- CutProgram.h - other programs among the ranks of a pipeline -*- C++ -*-===//
//
// Evaluation and generation go through the stages once, forward: a rank computes the ops of its
// stages and sends what others read.  The update at the end of a step has no stages: a rank
// computes what follows from the tensors that it holds.  Sums over tensors of several ranks, such as
// the norm of all gradients, are added on each rank and then among them; each tensor counts once,
// on the first rank that holds it.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_PASSES_STAGES_CUTPROGRAM_H
#define BRAID_PASSES_STAGES_CUTPROGRAM_H

#include "passes/Stages/SharedGradients.h"
#include "passes/Stages/StageFunction.h"
#include "llvm/ADT/SmallBitVector.h"

namespace braid {

/// Which ranks hold the tensors that live across programs.
class Holders {
public:
  Holders(llvm::ArrayRef<mlir::func::FuncOp> cells, const StageAxis &axis, SharedSums shared);

  /// Of the argument of a parameter, or of a state; all ranks for other arguments.
  llvm::SmallBitVector of(mlir::BlockArgument argument) const;
  /// What a rank calls a tensor: its part of a sum of gradients may have a name of its own.
  std::string nameOn(unsigned rank, llvm::StringRef name) const;
  /// Whether some of the parameter's ranks have no part of a sum of its gradients, or several have one.
  bool isShared(mlir::BlockArgument argument) const;
  /// The ranks with parts of a sum of gradients.
  llvm::SmallVector<unsigned> partsOf(llvm::StringRef accumulator) const;
  unsigned numRanks() const { return all.size(); }
  llvm::SmallBitVector everyone() const { return all; }

private:
  llvm::SmallBitVector all;
  /// By the name of a parameter (of the master, if it is a copy), or of a state of none.
  llvm::StringMap<llvm::SmallBitVector> ofOwner;
  /// By the name of an accumulator in the cells.
  llvm::StringMap<llvm::SmallBitVector> ofSums;
  SharedSums shared;
};

/// The functions of a program's ranks along the axis, which are all of its entry.
mlir::FailureOr<llvm::SmallVector<mlir::func::FuncOp>> cutForward(mlir::func::FuncOp program, const StageMap &map,
                                                                  const StageAxis &axis,
                                                                  llvm::function_ref<unsigned(unsigned)> rankOf);
mlir::FailureOr<llvm::SmallVector<mlir::func::FuncOp>> cutUpdate(mlir::func::FuncOp program, const StageAxis &axis,
                                                                 const Holders &holders);

} // namespace braid

#endif // BRAID_PASSES_STAGES_CUTPROGRAM_H
