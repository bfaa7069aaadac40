//===- Sharding.h - which part of a tensor a rank holds ---------*- C++ -*-===//
//
// The arithmetic of `#comm.sharding`; see there for what it means.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_DIALECTS_COMM_SHARDING_H
#define BRAID_DIALECTS_COMM_SHARDING_H

#include "dialects/Comm/Mesh.h"

namespace braid::comm {

/// Checks a sharding of a tensor: one list of axes for each dim, axes of the
/// mesh, none used twice, sizes that divide.
llvm::LogicalResult verifySharding(llvm::function_ref<mlir::InFlightDiagnostic()> emitError, const Mesh &mesh,
                                   ShardingAttr sharding, mlir::RankedTensorType type);

/// Whether partial values may be added, scaled or moved before they are combined.
inline bool isAdditive(Reduction reduction) { return reduction == Reduction::Sum || reduction == Reduction::Mean; }

/// The type of a rank's part.  The sharding must be valid.
mlir::RankedTensorType localType(mlir::RankedTensorType type, ShardingAttr sharding, const Mesh &mesh);
/// The same type before the flat order is sharded.
mlir::RankedTensorType localDimsType(mlir::RankedTensorType type, ShardingAttr sharding, const Mesh &mesh);

/// One of `ranks` equal blocks of a tensor along `dim`, or, for kFlat, of its
/// flat order.  `ranks` must divide the dim.
mlir::RankedTensorType blockType(mlir::RankedTensorType whole, int64_t dim, int64_t ranks);
/// `ranks` equal blocks side by side along `dim`, which cannot be kFlat: a flat
/// range does not say the shape that it is from.
mlir::RankedTensorType wholeType(mlir::RankedTensorType block, int64_t dim, int64_t ranks);

/// The elements of each of `ranks` equal flat ranges: ceil(elements / ranks).
int64_t flatRange(int64_t elements, int64_t ranks);

/// The sharding that an argument or result says, or replicated on `mesh`.
ShardingAttr shardingOfArgument(mlir::Operation *function, unsigned argument, mlir::FlatSymbolRefAttr mesh);
ShardingAttr shardingOfResult(mlir::Operation *function, unsigned result, mlir::FlatSymbolRefAttr mesh);

} // namespace braid::comm

#endif // BRAID_DIALECTS_COMM_SHARDING_H
