//===- RankFunctions.h - functions of the ranks along an axis ---*- C++ -*-===//
#ifndef BRAID_PASSES_STAGES_RANKFUNCTIONS_H
#define BRAID_PASSES_STAGES_RANKFUNCTIONS_H

#include "dialects/Comm/MovedValues.h"
#include "passes/Stages/StageFunction.h"

namespace braid {

/// One function per coordinate, which together form the program's entry, and the messages between them. Both sides of
/// a message see the same order.
class RankFunctions {
public:
  RankFunctions(mlir::func::FuncOp program, const StageAxis &axis);

  StageFunction &operator[](unsigned rank) { return functions[rank]; }
  unsigned size() const { return functions.size(); }

  /// Sends a value of the program from one rank to another, which maps it to the received value.
  void send(mlir::Value value, unsigned from, unsigned to);
  /// Sends a value from one rank to all others.
  void broadcast(mlir::Value value, unsigned from);
  /// Adds the `ofRanks` of all ranks on all of them, as the value `sum` of the program. Returns the sum on each rank.
  llvm::SmallVector<mlir::Value> allReduce(mlir::Value sum, llvm::ArrayRef<mlir::Value> ofRanks, mlir::Location loc);
  /// Sends rank `from`'s version of the program's `value` to rank `to`. Returns the received value.
  mlir::Value move(mlir::Value value, mlir::Value local, unsigned from, unsigned to, mlir::Location loc);

  llvm::SmallVector<mlir::func::FuncOp> finish();

private:
  mlir::func::FuncOp program;
  const StageAxis &axis;
  comm::ValueNumbers numbers;
  std::vector<StageFunction> functions;
};

} // namespace braid

#endif // BRAID_PASSES_STAGES_RANKFUNCTIONS_H
