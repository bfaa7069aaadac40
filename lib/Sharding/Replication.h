//===- Replication.h - which values are the same on which ranks -*- C++ -*-===//
//
// A forward analysis of a local function: for each value the axes along which it
// may differ between ranks.  Arguments differ along the axes of their shardings;
// an op's results differ along the axes that its operands do, and that it reads
// the rank's coordinate of; a collective whose results agree ends a difference.
// Unknown values differ along every axis.
//
// One visit an op; `update` keeps it current while ops are rewritten.
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
  /// `function` is the program of ranks of `mesh`.
  Replication(mlir::FunctionOpInterface function, comm::ProgramAttr program, const comm::Mesh &mesh);

  /// The axes of `axes` along which all ranks hold the same value.
  comm::AxesAttr replicatedAxes(mlir::Value value, comm::AxesAttr axes) const;
  bool isReplicated(mlir::Value value, comm::AxesAttr axes) const {
    return replicatedAxes(value, axes).size() == axes.size();
  }

  /// Computes the results of an op, which is new or changed, from its operands.
  void update(mlir::Operation *op);

private:
  /// A bit for each axis of the mesh.
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
