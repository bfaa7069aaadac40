//===- Decompose.h - collectives as transfers -------------------*- C++ -*-===//
//
// An `Algorithm` builds a collective from transfers between the ranks of a group, through a `Group`. Ranks are
// numbered within the group. All ranks run the same program, so their differences come only from their numbers:
// through comm.slice, comm.assemble and comm.axis_index. A bucket of tensors stays one message: each message
// carries a part of every tensor.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_PASSES_COLLECTIVES_DECOMPOSE_H
#define BRAID_PASSES_COLLECTIVES_DECOMPOSE_H

#include "dialects/Comm/Sharding.h"
#include "dialects/TG/TGBuilder.h"

namespace braid {

/// One value, type or dim per tensor of a bucket.
using Values = llvm::SmallVector<mlir::Value>;
using Types = llvm::ArrayRef<mlir::RankedTensorType>;
using Dims = llvm::ArrayRef<int64_t>;

/// The ranks of a collective, and builders of their transfers and arithmetic.
class Group {
public:
  using Value = mlir::Value;
  using ValueRange = mlir::ValueRange;
  using Type = mlir::RankedTensorType;

  /// Builds for the ranks of `op`. The transfers get the tensor names and the unit of `op`.
  Group(mlir::OpBuilder &builder, comm::CollectiveOpInterface op, const comm::Mesh &mesh)
      : Group(builder, op, mesh, op.getAxes()) {}
  /// Returns the group of the ranks along other axes.
  Group along(comm::AxesAttr other) const { return Group(b.builder, op, mesh, other); }

  // Transfers.
  Values permute(ValueRange values, llvm::ArrayRef<int64_t> pairs);
  /// Each rank sends to the rank whose number is `distance` higher.
  Values rotate(ValueRange values, int64_t distance);

  // Parts of this rank.
  Values slice(ValueRange values, Dims dims, int64_t shift = 0);
  /// Joins the blocks of one tensor.
  Value assemble(ValueRange blocks, int64_t dim, llvm::ArrayRef<int64_t> shifts, Type result);
  /// Returns the number of this rank relative to `root`, as tensor<i32>.
  Value number(int64_t root = 0);

  // Plain collectives.
  Values allReduce(comm::Reduction kind, ValueRange values);
  Values allGather(ValueRange values, Dims dims, Types results);
  Values reduceScatter(comm::Reduction kind, ValueRange values, Dims dims, Types results);
  Values allToAll(ValueRange values, Dims split, Dims concat);
  Values broadcast(ValueRange values, int64_t root);

  // Arithmetic.
  /// Combines two values of each tensor. A mean is kept as a sum until `finish` divides it.
  Values combine(comm::Reduction kind, ValueRange xs, ValueRange ys);
  Values finish(comm::Reduction kind, ValueRange totals);
  /// Returns `xs` if the scalar `condition` holds, else `ys`.
  Values select(Value condition, ValueRange xs, ValueRange ys);

  tg::TensorBuilder b;
  const comm::AxesAttr axes;
  const comm::Mesh &mesh;
  const int64_t n;

private:
  Group(mlir::OpBuilder &builder, comm::CollectiveOpInterface op, const comm::Mesh &mesh, comm::AxesAttr axes)
      : b(builder, op->getLoc()), axes(axes), mesh(mesh), n(mesh.sizeOf(axes)), op(op), symbol(op.getMeshAttr()) {}

  template <typename OpTy, typename... Args> Values communicate(Args &&...args);
  Value combine(comm::Reduction kind, Value x, Value y);

  comm::CollectiveOpInterface op;
  const mlir::FlatSymbolRefAttr symbol;
};

/// A decomposition of collectives into transfers. Each function builds and returns the results; it builds and
/// returns nothing if the algorithm does not support the collective.
class Algorithm {
public:
  using Value = mlir::Value;
  using ValueRange = mlir::ValueRange;
  using Type = mlir::RankedTensorType;

  virtual ~Algorithm() = default;
  /// Whether the algorithm supports the axes of a group.
  virtual bool supports(const Group &) const { return true; }
  virtual Values allReduce(Group &, comm::Reduction, ValueRange) const { return {}; }
  virtual Values allGather(Group &, ValueRange, Dims, Types /*results*/) const { return {}; }
  virtual Values reduceScatter(Group &, comm::Reduction, ValueRange, Dims, Types /*results*/) const { return {}; }
  virtual Values allToAll(Group &, ValueRange, Dims /*split*/, Dims /*concat*/) const { return {}; }
  virtual Values broadcast(Group &, ValueRange, int64_t /*root*/) const { return {}; }
};

std::unique_ptr<Algorithm> makeRing();
std::unique_ptr<Algorithm> makeDirect();
std::unique_ptr<Algorithm> makeTree();
std::unique_ptr<Algorithm> makeHierarchical();

llvm::SmallVector<mlir::RankedTensorType> typesOf(mlir::ValueRange values);

/// Returns the dim along which an all_reduce splits each tensor into blocks: dim 0 if it divides evenly, else
/// the flat order.
llvm::SmallVector<int64_t> dimsOfBlocks(Types types, int64_t ranks);
/// `blockTypes` returns the types of one of `ranks` blocks of each tensor, `wholeTypes` those of all blocks
/// joined.
llvm::SmallVector<mlir::RankedTensorType> blockTypes(Types types, Dims dims, int64_t ranks);
llvm::SmallVector<mlir::RankedTensorType> wholeTypes(Types types, Dims dims, int64_t ranks);

} // namespace braid

#endif // BRAID_PASSES_COLLECTIVES_DECOMPOSE_H
