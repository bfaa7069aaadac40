//===- DecomposeHierarchical.cpp - one mesh axis after the other ----------===//
//
// A group over {a, b} is na groups over the inner axis b, whose ranks are near
// each other (the GPUs of a node), and nb groups over the outer axes a (the same
// GPU of every node).  Only a part, 1/nb of the whole, goes over the outer axes:
// reductions go over b first, gathers and all_to_all over a first.
//
// That order is not the order of the blocks, which are numbered with a as major
// axis.  So the blocks of a dim get a dim for a and one for b, and each step works
// along its own: for an all_gather of tensor<8xf32>,
//
//   [1, 8] --over a, dim 0--> [na, 8] --over b, dim 1--> [na, nb * 8] = [na * nb * 8]
//
// and the reshapes move nothing.  With three axes or more, a is a list and is split
// again in the same way.
//
//===----------------------------------------------------------------------===//

#include "lib/Sharding/AxisLists.h"
#include "passes/Collectives/Decompose.h"

using namespace mlir;
using namespace braid;
using namespace braid::comm;

/// The shape with `sizes` in the place of `dim`.
static SmallVector<int64_t> replaceDim(ArrayRef<int64_t> shape, int64_t dim, ArrayRef<int64_t> sizes) {
  auto result = llvm::to_vector(shape.take_front(dim));
  llvm::append_range(result, sizes);
  llvm::append_range(result, shape.drop_front(dim + 1));
  return result;
}

namespace {
struct Hierarchical final : Algorithm {
  bool isFor(const Group &group) const final { return group.axes.size() > 1; }

  Value allReduce(Group &group, Reduction kind, Value value) const final {
    if (!isFor(group))
      return group.allReduce(kind, value);
    auto [outer, inner] = splitGroup(group);
    Type type = tg::typeOf(value);
    int64_t dim = dimOfBlocks(type, inner.n);
    Value block = inner.reduceScatter(kind, value, dim, blockType(type, dim, inner.n));
    return inner.allGather(allReduce(outer, kind, block), dim, type);
  }

  Value allGather(Group &group, Value value, int64_t dim, Type result) const final {
    if (!isFor(group))
      return group.allGather(value, dim, result);
    if (dim == kFlat)
      return gatherFlat(group, value, result);
    auto [outer, inner] = splitGroup(group);
    Type type = tg::typeOf(value);
    value = group.b.reshape(value, replaceDim(type.getShape(), dim, {1, type.getDimSize(dim)}));
    value = allGather(outer, value, dim, wholeType(tg::typeOf(value), dim, outer.n));
    value = inner.allGather(value, dim + 1, wholeType(tg::typeOf(value), dim + 1, inner.n));
    return group.b.reshape(value, result.getShape());
  }

  Value reduceScatter(Group &group, Reduction kind, Value value, int64_t dim, Type result) const final {
    if (!isFor(group))
      return group.reduceScatter(kind, value, dim, result);
    if (dim == kFlat)
      return scatterFlat(group, kind, value, result);
    auto [outer, inner] = splitGroup(group);
    Type type = tg::typeOf(value);
    value = group.b.reshape(value, replaceDim(type.getShape(), dim, {outer.n, type.getDimSize(dim) / outer.n}));
    value = inner.reduceScatter(kind, value, dim + 1, blockType(tg::typeOf(value), dim + 1, inner.n));
    value = reduceScatter(outer, kind, value, dim, blockType(tg::typeOf(value), dim, outer.n));
    return group.b.reshape(value, result.getShape());
  }

  Value allToAll(Group &group, Value value, int64_t split, int64_t concat) const final {
    if (!isFor(group))
      return group.allToAll(value, split, concat);
    auto [outer, inner] = splitGroup(group);
    // The dim that is split becomes [na, nb, block], the other [1, 1, size].
    Type type = tg::typeOf(value);
    int64_t block = type.getDimSize(split) / group.n;
    SmallVector<int64_t> shape, result;
    int64_t from = 0, to = 0;
    for (auto [dim, size] : llvm::enumerate(type.getShape())) {
      bool isSplit = int64_t(dim) == split, isConcat = int64_t(dim) == concat;
      if (isConcat) {
        to = shape.size();
        shape.append({1, 1});
      }
      if (isSplit) {
        from = shape.size();
        shape.append({outer.n, inner.n});
      }
      shape.push_back(isSplit ? block : size);
      result.push_back((isSplit ? block : size) * (isConcat ? group.n : 1));
    }
    value = allToAll(outer, group.b.reshape(value, shape), from, to);
    value = inner.allToAll(value, from + 1, to + 1);
    return group.b.reshape(value, result);
  }

  Value broadcast(Group &group, Value value, int64_t root) const final {
    if (!isFor(group))
      return group.broadcast(value, root);
    // First to the ranks with the root's number along the inner axis; what the
    // others send each other meanwhile is not used.
    auto [outer, inner] = splitGroup(group);
    return inner.broadcast(broadcast(outer, value, root / inner.n), root % inner.n);
  }

private:
  /// The groups over all axes but the last, and over the last.
  static std::pair<Group, Group> splitGroup(const Group &group) {
    size_t last = group.axes.size() - 1;
    return {group.along(sliceAxes(group.axes, 0, last)), group.along(sliceAxes(group.axes, last))};
  }

  /// Flat ranges are blocks of a tensor of one dim, whose padding is at its end.
  Value gatherFlat(Group &group, Value value, Type result) const {
    Value whole = allGather(group, value, /*dim=*/0, wholeType(tg::typeOf(value), 0, group.n));
    return group.b.reshape(group.b.slice(whole, 0, 0, result.getNumElements()), result.getShape());
  }
  Value scatterFlat(Group &group, Reduction kind, Value value, Type result) const {
    int64_t elements = tg::typeOf(value).getNumElements();
    Value flat = group.b.reshape(value, {elements});
    flat = group.b.padZeros(flat, 0, 0, result.getNumElements() * group.n - elements);
    return reduceScatter(group, kind, flat, /*dim=*/0, result);
  }
};
} // namespace

std::unique_ptr<Algorithm> braid::makeHierarchical() { return std::make_unique<Hierarchical>(); }
