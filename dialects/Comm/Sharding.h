//===- Sharding.h - the part of a tensor that a rank holds ------*- C++ -*-===//
//
// The arithmetic of `#comm.sharding`; the attribute's description defines its meaning.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_DIALECTS_COMM_SHARDING_H
#define BRAID_DIALECTS_COMM_SHARDING_H

#include "dialects/Comm/Mesh.h"

namespace braid::comm {

/// Checks a sharding of a tensor: one list of axes per dim, axes of the mesh, no axis
/// used twice, sizes that divide.
llvm::LogicalResult verifySharding(llvm::function_ref<mlir::InFlightDiagnostic()> emitError, const Mesh &mesh,
                                   ShardingAttr sharding, mlir::RankedTensorType type);

/// Returns whether partial values may be added, scaled or moved before they are combined.
inline bool isAdditive(Reduction reduction) { return reduction == Reduction::Sum || reduction == Reduction::Mean; }

/// Returns the type of a rank's part. The sharding must be valid.
mlir::RankedTensorType localType(mlir::RankedTensorType type, ShardingAttr sharding, const Mesh &mesh);
/// Returns the type of a rank's part before the flat order is sharded.
mlir::RankedTensorType localDimsType(mlir::RankedTensorType type, ShardingAttr sharding, const Mesh &mesh);

/// Returns the type of one of `ranks` equal blocks of a tensor along `dim`, or of its
/// flat order for kFlat. `ranks` must divide the dim.
mlir::RankedTensorType blockType(mlir::RankedTensorType whole, int64_t dim, int64_t ranks);
/// Returns the type of `ranks` equal blocks joined along `dim`. `dim` cannot be kFlat,
/// because a flat range does not determine the shape of its tensor.
mlir::RankedTensorType wholeType(mlir::RankedTensorType block, int64_t dim, int64_t ranks);

/// Returns the number of elements in each of `ranks` equal flat ranges: ceil(elements / ranks).
int64_t flatRange(int64_t elements, int64_t ranks);

/// Return the sharding attribute of an argument or result; replicated on `mesh` if there is none.
ShardingAttr shardingOfArgument(mlir::Operation *function, unsigned argument, mlir::FlatSymbolRefAttr mesh);
ShardingAttr shardingOfResult(mlir::Operation *function, unsigned result, mlir::FlatSymbolRefAttr mesh);

} // namespace braid::comm

#endif // BRAID_DIALECTS_COMM_SHARDING_H
