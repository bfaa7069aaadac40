//===- RankPlaces.h - where the part of a rank is ---------------*- C++ -*-===//
#ifndef BRAID_PASSES_SHARDING_RANKPLACES_H
#define BRAID_PASSES_SHARDING_RANKPLACES_H

#include "dialects/Comm/Mesh.h"
#include "lib/Sharding/Zigzag.h"
#include "llvm/ADT/DenseMap.h"

namespace braid {

/// Positional ops ask where the rank's part of a factor starts, and reductions of
/// flat ranges where the padding is.  Both follow from the rank's number in a group,
/// which is made once for each group of a function.
class RankPlaces {
public:
  using Value = mlir::Value;

  /// Ops are made where `builder` stands; what is made early dominates what is made
  /// late, because a function is one block, built from front to back.
  RankPlaces(mlir::OpBuilder &builder, mlir::FlatSymbolRefAttr symbol, const comm::Mesh &mesh)
      : builder(builder), symbol(symbol), mesh(mesh) {}

  /// The rank's number in its group times `size`: tensor<i32>.
  Value offset(mlir::Location loc, comm::AxesAttr axes, int64_t size);

  /// Where the rank's equal parts of `size` positions over `axes` start, which has no problem of the zigzag: two
  /// blocks, or a part of one of them.
  llvm::ArrayRef<Value> starts(mlir::Location loc, const Zigzag &zigzag, comm::AxesAttr axes, int64_t size);

  /// `range`, the rank's flat range of a tensor of `elements`, with `fill` in place
  /// of the padding.
  Value maskPadding(mlir::Location loc, Value range, double fill, comm::AxesAttr axes, int64_t elements);

private:
  Value number(mlir::Location loc, comm::AxesAttr axes);

  mlir::OpBuilder &builder;
  mlir::FlatSymbolRefAttr symbol;
  const comm::Mesh &mesh;
  llvm::DenseMap<comm::AxesAttr, Value> numbers;
  llvm::DenseMap<std::pair<comm::AxesAttr, int64_t>, Value> offsets;
  llvm::DenseMap<std::pair<comm::AxesAttr, int64_t>, llvm::SmallVector<Value, 2>> zigzagStarts;
};

} // namespace braid

#endif // BRAID_PASSES_SHARDING_RANKPLACES_H
