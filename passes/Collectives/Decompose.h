//===- Decompose.h - collectives as transfers -------------------*- C++ -*-===//
//
// An `Algorithm` says how a collective is made of transfers between the ranks of a
// group, which a `Group` builds.  Ranks are numbered in the group; all run the same
// program, so what a rank does differently depends on its number through comm.slice,
// comm.assemble and comm.axis_index alone.  A bucket of tensors stays one: each message
// carries a part of every tensor.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_PASSES_COLLECTIVES_DECOMPOSE_H
#define BRAID_PASSES_COLLECTIVES_DECOMPOSE_H

#include "dialects/Comm/Sharding.h"
#include "dialects/TG/TGBuilder.h"

namespace braid {

/// Something of each tensor of a bucket.
using Values = llvm::SmallVector<mlir::Value>;
using Types = llvm::ArrayRef<mlir::RankedTensorType>;
using Dims = llvm::ArrayRef<int64_t>;

/// The ranks of a collective, and builders of what they send and compute.
class Group {
public:
  using Value = mlir::Value;
  using ValueRange = mlir::ValueRange;
  using Type = mlir::RankedTensorType;

  /// For the ranks of `op`, whose names of tensors and unit the transfers get, too.
  Group(mlir::OpBuilder &builder, comm::CollectiveOpInterface op, const comm::Mesh &mesh)
      : Group(builder, op, mesh, op.getAxes()) {}
  /// The same for the ranks along other axes.
  Group along(comm::AxesAttr other) const { return Group(b.builder, op, mesh, other); }

  // Transfers.
  Values permute(ValueRange values, llvm::ArrayRef<int64_t> pairs);
  /// Every rank sends to the one `distance` after it.
  Values rotate(ValueRange values, int64_t distance);

  // This rank's part.
  Values slice(ValueRange values, Dims dims, int64_t shift = 0);
  /// Of one tensor.
  Value assemble(ValueRange blocks, int64_t dim, llvm::ArrayRef<int64_t> shifts, Type result);
  /// This rank's number as seen from `root`: tensor<i32>.
  Value number(int64_t root = 0);

  // Plain collectives.
  Values allReduce(comm::Reduction kind, ValueRange values);
  Values allGather(ValueRange values, Dims dims, Types results);
  Values reduceScatter(comm::Reduction kind, ValueRange values, Dims dims, Types results);
  Values allToAll(ValueRange values, Dims split, Dims concat);
  Values broadcast(ValueRange values, int64_t root);

  // Arithmetic.
  /// Two values combined, of each tensor; a mean is a sum until `finish` divides it.
  Values combine(comm::Reduction kind, ValueRange xs, ValueRange ys);
  Values finish(comm::Reduction kind, ValueRange totals);
  /// `xs` where the scalar `condition` holds, else `ys`.
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

/// How collectives are made of transfers.  A function builds the results, or
/// nothing and returns nothing where the algorithm has no way for it.
class Algorithm {
public:
  using Value = mlir::Value;
  using ValueRange = mlir::ValueRange;
  using Type = mlir::RankedTensorType;

  virtual ~Algorithm() = default;
  /// Whether a group has the form that the algorithm is for.
  virtual bool isFor(const Group &) const { return true; }
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

/// Where an all_reduce is split into blocks: dim 0 if they are equal, else the flat
/// order.
llvm::SmallVector<int64_t> dimsOfBlocks(Types types, int64_t ranks);
/// One of `ranks` blocks of each tensor, and that many blocks side by side.
llvm::SmallVector<mlir::RankedTensorType> blockTypes(Types types, Dims dims, int64_t ranks);
llvm::SmallVector<mlir::RankedTensorType> wholeTypes(Types types, Dims dims, int64_t ranks);

} // namespace braid

#endif // BRAID_PASSES_COLLECTIVES_DECOMPOSE_H
