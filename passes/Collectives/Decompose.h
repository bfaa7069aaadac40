//===- Decompose.h - collectives as transfers -------------------*- C++ -*-===//
//
// An `Algorithm` says how a collective of one tensor is made of transfers between
// the ranks of a group, which a `Group` builds.  Ranks are numbered in the group;
// all run the same program, so what a rank does differently depends on its number
// through comm.slice, comm.assemble and comm.axis_index alone.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_PASSES_COLLECTIVES_DECOMPOSE_H
#define BRAID_PASSES_COLLECTIVES_DECOMPOSE_H

#include "dialects/Comm/Sharding.h"
#include "dialects/TG/TGBuilder.h"

namespace braid {

/// The ranks of a collective, and builders of what they send and compute.
class Group {
public:
  using Value = mlir::Value;
  using Type = mlir::RankedTensorType;

  Group(mlir::OpBuilder &builder, mlir::Location loc, mlir::FlatSymbolRefAttr symbol, const comm::Mesh &mesh,
        comm::AxesAttr axes)
      : b(builder, loc), axes(axes), symbol(symbol), mesh(mesh), n(mesh.sizeOf(axes)) {}

  /// The same for the ranks along other axes.
  Group along(comm::AxesAttr other) const { return Group(b.builder, b.loc, symbol, mesh, other); }

  // Transfers.
  Value permute(Value value, llvm::ArrayRef<int64_t> pairs);
  /// Every rank sends to the one `distance` after it.
  Value rotate(Value value, int64_t distance);

  // This rank's part.
  Value slice(Value value, int64_t dim, int64_t shift = 0);
  Value assemble(mlir::ValueRange blocks, int64_t dim, llvm::ArrayRef<int64_t> shifts, Type result);
  /// This rank's number as seen from `root`: tensor<i32>.
  Value number(int64_t root = 0);

  // Plain collectives of one tensor.
  Value allReduce(comm::Reduction kind, Value value);
  Value allGather(Value value, int64_t dim, Type result);
  Value reduceScatter(comm::Reduction kind, Value value, int64_t dim, Type result);
  Value allToAll(Value value, int64_t split, int64_t concat);
  Value broadcast(Value value, int64_t root);

  // Arithmetic.
  /// Two values combined; a mean is a sum until `finish` divides it.
  Value combine(comm::Reduction kind, Value x, Value y);
  Value finish(comm::Reduction kind, Value total);
  /// `x` where the scalar `condition` holds, else `y`.
  Value select(Value condition, Value x, Value y);

  tg::TensorBuilder b;
  const comm::AxesAttr axes;
  const mlir::FlatSymbolRefAttr symbol;
  const comm::Mesh &mesh;
  const int64_t n;
};

/// How collectives are made of transfers.  A function builds the result, or
/// nothing and returns null where the algorithm has no way for it.
class Algorithm {
public:
  using Value = mlir::Value;
  using Type = mlir::RankedTensorType;

  virtual ~Algorithm() = default;
  /// Whether a group has the form that the algorithm is for.
  virtual bool isFor(const Group &) const { return true; }
  virtual Value allReduce(Group &, comm::Reduction, Value) const { return {}; }
  virtual Value allGather(Group &, Value, int64_t /*dim*/, Type /*result*/) const { return {}; }
  virtual Value reduceScatter(Group &, comm::Reduction, Value, int64_t /*dim*/, Type /*result*/) const { return {}; }
  virtual Value allToAll(Group &, Value, int64_t /*split*/, int64_t /*concat*/) const { return {}; }
  virtual Value broadcast(Group &, Value, int64_t /*root*/) const { return {}; }
};

std::unique_ptr<Algorithm> makeRing();
std::unique_ptr<Algorithm> makeDirect();
std::unique_ptr<Algorithm> makeTree();
std::unique_ptr<Algorithm> makeHierarchical();

/// Where an all_reduce is split into blocks: dim 0 if they are equal, else the flat
/// order.
int64_t dimOfBlocks(mlir::RankedTensorType type, int64_t ranks);

} // namespace braid

#endif // BRAID_PASSES_COLLECTIVES_DECOMPOSE_H
