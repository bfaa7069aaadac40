//===- CommonDims.h - dims that are sharded together ------------*- C++ -*-===//
//
// If an axis shards one dim of a value, it shards all dims with the same factor of a sharding
// rule. This class follows them from op to op, forward and backward through the graph, as long
// as the ops can be sharded along them.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_LIB_SHARDING_COMMONDIMS_H
#define BRAID_LIB_SHARDING_COMMONDIMS_H

#include "mlir/IR/Value.h"
#include "llvm/ADT/SetVector.h"

namespace braid {

class CommonDims {
public:
  using Dim = std::pair<mlir::Value, unsigned>;

  /// Adds a dim, and all dims that are sharded with it.
  void add(mlir::Value value, unsigned dim);

  bool contains(mlir::Value value, unsigned dim) const { return dims.contains({value, dim}); }
  /// All dims, in the order in which they were found.
  llvm::ArrayRef<Dim> all() const { return dims.getArrayRef(); }

private:
  void visit(mlir::Operation *op, Dim from);

  llvm::SetVector<Dim> dims;
};

} // namespace braid

#endif // BRAID_LIB_SHARDING_COMMONDIMS_H
