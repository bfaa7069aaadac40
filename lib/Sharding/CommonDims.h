//===- CommonDims.h - dims that are sharded together ------------*- C++ -*-===//
//
// What an axis shards along one dim of a value it shards along others as well: those of the same
// factor of a sharding rule.  They are followed from op to op, with and against the order of the
// graph, as far as ops can be sharded there.
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

  /// Adds a dim, and all that are sharded with it.
  void add(mlir::Value value, unsigned dim);

  bool contains(mlir::Value value, unsigned dim) const { return dims.contains({value, dim}); }
  /// In the order in which they were found.
  llvm::ArrayRef<Dim> all() const { return dims.getArrayRef(); }

private:
  void visit(mlir::Operation *op, Dim from);

  llvm::SetVector<Dim> dims;
};

} // namespace braid

#endif // BRAID_LIB_SHARDING_COMMONDIMS_H
