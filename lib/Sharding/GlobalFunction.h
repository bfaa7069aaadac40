//===- GlobalFunction.h - shardings in a global function --------*- C++ -*-===//
//
// A global function has the shapes of a single device. Its arguments and results have
// `comm.sharding`; `comm.constrain` and `comm.reshard` request a sharding in between;
// other ops have the shardings of their results in `comm.shardings` once these are known.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_LIB_SHARDING_GLOBALFUNCTION_H
#define BRAID_LIB_SHARDING_GLOBALFUNCTION_H

#include "dialects/Comm/Sharding.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace braid {

/// Returns the sharding that a `comm.constrain` or `comm.reshard` requests; null for other ops.
comm::ShardingAttr requestOf(mlir::Operation *op);
/// Returns whether a request yields to annotations of the same priority.
bool yieldsToOthers(mlir::Operation *op);

/// Returns the known sharding of a value; null if unknown.
comm::ShardingAttr shardingOf(mlir::Value value);

/// The mesh of a function's shardings, and its name.
struct GlobalMesh {
  mlir::FlatSymbolRefAttr symbol;
  comm::Mesh mesh;
};

/// Returns the mesh of a global function's shardings. No value if the function has no shardings
/// or is local: there is nothing to do. Fails on two meshes, with an error that names both, on
/// several blocks, on values other than tensors, and on ops of a rank's program.
mlir::FailureOr<std::optional<GlobalMesh>> meshOfGlobal(mlir::func::FuncOp function);

/// Removes axes of size 1, which shard nothing, from a sharding.
comm::ShardingAttr withoutUnitAxes(comm::ShardingAttr sharding, const comm::Mesh &mesh);

/// Return the names of an argument or a result in messages: `argument #0 'x'`.
std::string nameOfArgument(mlir::func::FuncOp function, unsigned argument);
std::string nameOfResult(mlir::func::FuncOp function, unsigned result);

} // namespace braid

#endif // BRAID_LIB_SHARDING_GLOBALFUNCTION_H
