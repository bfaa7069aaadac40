//===- RankPlaces.h - positions of a rank's parts ---------------*- C++ -*-===//
#ifndef BRAID_PASSES_SHARDING_RANKPLACES_H
#define BRAID_PASSES_SHARDING_RANKPLACES_H

#include "dialects/Comm/Mesh.h"
#include "lib/Sharding/Zigzag.h"
#include "llvm/ADT/DenseMap.h"

namespace braid {

/// Positional ops need the start of the rank's part of a factor, and reductions of flat ranges need the start of the
/// padding. Both follow from the rank's number in a group, which is computed once for each group of a function.
class RankPlaces {
public:
  using Value = mlir::Value;

  /// Builds ops at the position of `builder`. Ops built early dominate later ones, because a function is one block
  /// that is built from front to back.
  RankPlaces(mlir::OpBuilder &builder, mlir::FlatSymbolRefAttr symbol, const comm::Mesh &mesh)
      : builder(builder), symbol(symbol), mesh(mesh) {}

  /// Returns the rank's number in its group times `size`, as tensor<i32>.
  Value offset(mlir::Location loc, comm::AxesAttr axes, int64_t size);

  /// Returns the starts of the rank's equal parts of `size` positions over `axes`: two blocks, or a part of one. The
  /// zigzag must be valid for these axes.
  llvm::ArrayRef<Value> starts(mlir::Location loc, const Zigzag &zigzag, comm::AxesAttr axes, int64_t size);

  /// Returns `range`, the rank's flat range of a tensor of `elements`, with `fill` in place of the padding.
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
