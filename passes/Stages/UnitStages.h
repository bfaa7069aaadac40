//===- UnitStages.h - units of each stage -----------------------*- C++ -*-===//
//
// Stages are ranges of units in forward order. Ops without a unit, and units that enclose other units, are grouped:
// those before the first unit form `embed`, in the first stage, and those behind the last unit form `head`, in the
// last stage.
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
  /// Stages of units, in forward order.
  llvm::MapVector<mlir::StringAttr, unsigned> ofUnit;

  unsigned last() const { return numStages - 1; }
  /// Returns a readable description such as `embed, h.0 to h.5`.
  std::string text(unsigned stage) const;
};

/// Returns the units of forward in order. Leaves out a unit that encloses other units, such as tied embeddings,
/// because it is at both ends.
llvm::SmallVector<mlir::StringAttr> unitsInOrder(mlir::func::FuncOp program);

/// Balances stages by predicted costs. Minimises the time of the slowest stage per microbatch, then the memory of the
/// fullest stage. `held` gives the maximum number of microbatches that each stage holds. A `limit`, in bytes per
/// stage, has priority: no stage exceeds it, or the excess is minimal. Emits an error at the program if it has fewer
/// units than stages.
mlir::FailureOr<UnitStages> balanceStages(mlir::func::FuncOp program, llvm::ArrayRef<unsigned> held,
                                          const Machine &machine, std::optional<int64_t> limit);

/// Reads stages from a text such as `embed+h.0-5|h.6-11+head`. Each unit is in one stage, in order. `embed` and `head`
/// may be left out. If the model has units with these names, they mean these units.
mlir::FailureOr<UnitStages> readStages(mlir::func::FuncOp program, llvm::StringRef text, unsigned numStages);

} // namespace braid

#endif // BRAID_PASSES_STAGES_UNITSTAGES_H
