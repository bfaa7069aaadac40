//===- Replication.h - values that are equal on several ranks ---*- C++ -*-===//
//
// A forward analysis of a local function: the axes along which each value may differ
// between ranks. Arguments differ along the axes of their shardings. The results of an op
// differ along the axes of its operands, and along axes whose coordinate the op reads. A
// collective whose results agree removes its axes. Unknown values differ along every axis.
//
// The analysis visits each op once; `update` keeps it current while ops are rewritten.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_LIB_SHARDING_REPLICATION_H
#define BRAID_LIB_SHARDING_REPLICATION_H

#include "dialects/Comm/Mesh.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SmallBitVector.h"

namespace braid {

class Replication {
public:
  /// Analyzes `function`, the program of ranks of `mesh`.
  Replication(mlir::FunctionOpInterface function, comm::ProgramAttr program, const comm::Mesh &mesh);

  /// Returns the axes of `axes` along which all ranks hold the same value.
  comm::AxesAttr replicatedAxes(mlir::Value value, comm::AxesAttr axes) const;
  bool isReplicated(mlir::Value value, comm::AxesAttr axes) const {
    return replicatedAxes(value, axes).size() == axes.size();
  }

  /// Recomputes the results of a new or changed op from its operands.
  void update(mlir::Operation *op);

private:
  /// One bit per axis of the mesh.
  using AxisSet = llvm::SmallBitVector;

  AxisSet none() const { return AxisSet(mesh.getNames().size()); }
  AxisSet all() const { return AxisSet(mesh.getNames().size(), true); }
  AxisSet setOf(comm::AxesAttr axes) const;
  AxisSet differenceOf(mlir::Value value) const;
  AxisSet differenceOfArgument(mlir::FunctionOpInterface function, unsigned argument) const;
  AxisSet differenceOfResults(mlir::Operation *op) const;
  AxisSet differenceOfResults(comm::CollectiveOpInterface op) const;

  comm::ProgramAttr program;
  comm::Mesh mesh;
  llvm::DenseMap<mlir::Value, AxisSet> differences;
};

} // namespace braid

#endif // BRAID_LIB_SHARDING_REPLICATION_H
