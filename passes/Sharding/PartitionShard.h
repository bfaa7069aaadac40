//===- PartitionShard.h - where the part of a rank is -----------*- C++ -*-===//
//
// Positional ops ask where the rank's part of a factor starts, and reductions of
// flat ranges where the padding is.  Both follow from the rank's number in a group,
// which is made once for each group of a function.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_PASSES_SHARDING_PARTITIONSHARD_H
#define BRAID_PASSES_SHARDING_PARTITIONSHARD_H

#include "dialects/Comm/Sharding.h"
#include "llvm/ADT/DenseMap.h"

namespace braid {

class RankPlaces {
public:
  /// Ops are made where `builder` stands; what is made early dominates what is made
  /// late, because a function is one block, built from front to back.
  RankPlaces(mlir::OpBuilder &builder, mlir::FlatSymbolRefAttr symbol, const comm::Mesh &mesh)
      : builder(builder), symbol(symbol), mesh(mesh) {}

  /// The rank's number in its group times `size`: tensor<i32>.
  mlir::Value offset(mlir::Location loc, comm::AxesAttr axes, int64_t size);

  /// `range`, the rank's flat range of a tensor of `elements`, with `fill` in place
  /// of the padding.
  mlir::Value maskPadding(mlir::Location loc, mlir::Value range, double fill, comm::AxesAttr axes, int64_t elements);

private:
  mlir::Value number(mlir::Location loc, comm::AxesAttr axes);

  mlir::OpBuilder &builder;
  mlir::FlatSymbolRefAttr symbol;
  const comm::Mesh &mesh;
  llvm::DenseMap<comm::AxesAttr, mlir::Value> numbers;
  llvm::DenseMap<std::pair<comm::AxesAttr, int64_t>, mlir::Value> offsets;
};

} // namespace braid

#endif // BRAID_PASSES_SHARDING_PARTITIONSHARD_H
