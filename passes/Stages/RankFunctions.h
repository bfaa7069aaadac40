//===- RankFunctions.h - a program's functions along an axis, side by side -*- C++ -*-===//
#ifndef BRAID_PASSES_STAGES_RANKFUNCTIONS_H
#define BRAID_PASSES_STAGES_RANKFUNCTIONS_H

#include "dialects/Comm/MovedValues.h"
#include "passes/Stages/StageFunction.h"

namespace braid {

/// One function for each coordinate, all of the program's entry, with messages between them: their
/// order is the same on both sides.
class RankFunctions {
public:
  RankFunctions(mlir::func::FuncOp program, const StageAxis &axis);

  StageFunction &operator[](unsigned rank) { return functions[rank]; }
  unsigned size() const { return functions.size(); }

  /// Sends a value here, which is of the program, from one rank to another, where it stands for it.
  void send(mlir::Value value, unsigned from, unsigned to);
  /// The same to all others.
  void broadcast(mlir::Value value, unsigned from);
  /// The sum of what ranks have, on all of them, which is `sum` of the program.
  llvm::SmallVector<mlir::Value> allReduce(mlir::Value sum, llvm::ArrayRef<mlir::Value> ofRanks, mlir::Location loc);
  /// Sends what rank `from` has of `value` of the program to rank `to`; returns it there.
  mlir::Value move(mlir::Value value, mlir::Value here, unsigned from, unsigned to, mlir::Location loc);

  llvm::SmallVector<mlir::func::FuncOp> finish();

private:
  mlir::func::FuncOp program;
  const StageAxis &axis;
  comm::ValueNumbers numbers;
  std::vector<StageFunction> functions;
};

} // namespace braid

#endif // BRAID_PASSES_STAGES_RANKFUNCTIONS_H
