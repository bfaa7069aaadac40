//===- UnitStages.h - which units a stage has --------------------*- C++ -*-===//
//
// Stages are ranges of units in the order of forward.  What no unit has, and a unit that others stand
// in the middle of, comes before the first (`embed`), which is in the first stage, or behind the last
// (`head`), which is in the last.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_PASSES_STAGES_UNITSTAGES_H
#define BRAID_PASSES_STAGES_UNITSTAGES_H

#include "lib/Cost/Machine.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/MapVector.h"

namespace braid {

struct UnitStages {
  unsigned numStages = 0;
  /// In the order of forward.
  llvm::MapVector<mlir::StringAttr, unsigned> ofUnit;

  unsigned last() const { return numStages - 1; }
  /// `embed, h.0 to h.5`, for people.
  std::string text(unsigned stage) const;
};

/// The units of forward, in its order.  A unit that others stand in the middle of, such as tied embeddings, is
/// none: it is at both ends.
llvm::SmallVector<mlir::StringAttr> unitsInOrder(mlir::func::FuncOp program);

/// Balanced as predicted: the stage that takes longest for a microbatch takes the least that it can, and of those
/// ways the fullest stage holds the least.  `held` has the microbatches that each stage holds at most.  With a `limit`,
/// in bytes of a stage, before both: none is beyond it, or as little as can be.  Errors, at the program,
/// where there are fewer units than stages.
mlir::FailureOr<UnitStages> balanceStages(mlir::func::FuncOp program, llvm::ArrayRef<unsigned> held,
                                          const Machine &machine, std::optional<int64_t> limit);

/// As a text says: `embed+h.0-5|h.6-11+head`.  Each unit is in one stage, in order; `embed` and `head` may be
/// left out, and are units where the model has some of these names.
mlir::FailureOr<UnitStages> readStages(mlir::func::FuncOp program, llvm::StringRef text, unsigned numStages);

} // namespace braid

#endif // BRAID_PASSES_STAGES_UNITSTAGES_H
