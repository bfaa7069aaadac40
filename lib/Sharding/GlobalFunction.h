//===- GlobalFunction.h - what a global function says of shardings -*- C++ -*-===//
//
// A global function has one device's shapes.  Its arguments and results carry
// `comm.sharding`; `comm.constrain` and `comm.reshard` ask for one in between;
// other ops say the shardings of their results in `comm.shardings` once they are
// known.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_LIB_SHARDING_GLOBALFUNCTION_H
#define BRAID_LIB_SHARDING_GLOBALFUNCTION_H

#include "dialects/Comm/Sharding.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace braid {

/// The sharding that a `comm.constrain` or `comm.reshard` asks for; null for
/// other ops.
comm::ShardingAttr requestOf(mlir::Operation *op);
/// Whether a request gives way to annotations of its priority.
bool yieldsToOthers(mlir::Operation *op);

/// The sharding that a value is known to have; null if unknown.
comm::ShardingAttr shardingOf(mlir::Value value);

/// The mesh of a function's shardings and its name.
struct GlobalMesh {
  mlir::FlatSymbolRefAttr symbol;
  comm::Mesh mesh;
};

/// The mesh of a global function's shardings; none when it has none or when it is
/// local, which means that there is nothing to do.  Two meshes are an error that
/// names both; so are a function of more than one block, values other than tensors
/// and ops of the program of a rank.
mlir::FailureOr<std::optional<GlobalMesh>> meshOfGlobal(mlir::func::FuncOp function);

/// A sharding without axes of size 1, which shard nothing.
comm::ShardingAttr withoutUnitAxes(comm::ShardingAttr sharding, const comm::Mesh &mesh);

/// How messages name an argument or a result: `argument #0 'x'`.
std::string nameOfArgument(mlir::func::FuncOp function, unsigned argument);
std::string nameOfResult(mlir::func::FuncOp function, unsigned result);

} // namespace braid

#endif // BRAID_LIB_SHARDING_GLOBALFUNCTION_H
