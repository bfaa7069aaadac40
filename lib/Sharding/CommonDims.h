//===- CommonDims.h - dims that are sharded together ------------*- C++ -*-===//
//
// If an axis shards one dim of a value, it shards all dims with the same factor of a sharding rule. This flow goes as
// far as the ops can be sharded along them. A dim with several factors is sharded along the outermost one.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_LIB_SHARDING_COMMONDIMS_H
#define BRAID_LIB_SHARDING_COMMONDIMS_H

#include "lib/Sharding/DimFlow.h"

namespace braid {

class CommonDims : public DimFlow {
public:
  /// Adds a dim, and all dims that are sharded with it.
  void add(mlir::Value value, unsigned dim);

protected:
  mlir::WalkResult enter(mlir::Operation *op, const ShardingRule *rule, DimParts &factors) override;
  mlir::WalkResult reach(mlir::Operation *op, mlir::Value value, DimPart part) override;
};

} // namespace braid

#endif // BRAID_LIB_SHARDING_COMMONDIMS_H
