//===- DecomposeHierarchical.cpp - one mesh axis after the other ----------===//
//
// A group over {a, b} splits into na groups over the inner axis b and nb groups over the outer axes a. The
// ranks of a group over b are near each other (the GPUs of a node); those of a group over a are the same GPU of
// every node. Only 1/nb of the data crosses the outer axes: reductions go over b first, gathers and all_to_all
// over a first.
//
// That order differs from the order of the blocks, whose major axis is a. So the blocks of a dim get one dim
// for a and one for b, and each step works along its own dim. For an all_gather of tensor<8xf32>:
//
//   [1, 8] --over a, dim 0--> [na, 8] --over b, dim 1--> [na, nb * 8] = [na * nb * 8]
//
// The reshapes move no data. With three axes or more, a is a list and is split again in the same way.
//
//===----------------------------------------------------------------------===//

#include "lib/Sharding/AxisLists.h"
#include "passes/Collectives/Decompose.h"

using namespace mlir;
using namespace braid;
using namespace braid::comm;

/// Returns the shape with `dim` replaced by `sizes`.
static SmallVector<int64_t> replaceDim(ArrayRef<int64_t> shape, int64_t dim, ArrayRef<int64_t> sizes) {
  auto result = llvm::to_vector(shape.take_front(dim));
  llvm::append_range(result, sizes);
  llvm::append_range(result, shape.drop_front(dim + 1));
  return result;
}

/// Returns the dims with flat ranges as dim 0: they are blocks of a tensor of one dim.
static SmallVector<int64_t> plainDims(Dims dims) {
  return llvm::map_to_vector(dims, [](int64_t dim) { return dim == kFlat ? 0 : dim; });
}

static SmallVector<int64_t> nextDims(Dims dims) {
  return llvm::map_to_vector(dims, [](int64_t dim) { return dim + 1; });
}

namespace {
struct Hierarchical final : Algorithm {
  bool supports(const Group &group) const final { return group.axes.size() > 1; }

  Values allReduce(Group &group, Reduction kind, ValueRange values) const final {
    if (!supports(group))
      return group.allReduce(kind, values);
    auto [outer, inner] = splitGroup(group);
    SmallVector<Type> types = typesOf(values);
    SmallVector<int64_t> dims = dimsOfBlocks(types, inner.n);
    Values blocks = inner.reduceScatter(kind, values, dims, blockTypes(types, dims, inner.n));
    return inner.allGather(allReduce(outer, kind, blocks), dims, types);
  }

  Values allGather(Group &group, ValueRange values, Dims dims, Types results) const final {
    if (!supports(group))
      return group.allGather(values, dims, results);
    auto [outer, inner] = splitGroup(group);
    SmallVector<int64_t> outerDims = plainDims(dims), innerDims = nextDims(outerDims);
    Values parts;
    for (auto [value, dim] : llvm::zip_equal(values, outerDims)) {
      Type type = tg::typeOf(value);
      parts.push_back(group.b.reshape(value, replaceDim(type.getShape(), dim, {1, type.getDimSize(dim)})));
    }
    parts = allGather(outer, parts, outerDims, wholeTypes(typesOf(parts), outerDims, outer.n));
    parts = inner.allGather(parts, innerDims, wholeTypes(typesOf(parts), innerDims, inner.n));
    for (auto [part, dim, result] : llvm::zip_equal(parts, dims, results)) {
      // The padding of flat ranges lies at the end.
      if (dim == kFlat) {
        part = group.b.reshape(part, {tg::typeOf(part).getNumElements()});
        part = group.b.slice(part, 0, 0, result.getNumElements());
      }
      part = group.b.reshape(part, result.getShape());
    }
    return parts;
  }

  Values reduceScatter(Group &group, Reduction kind, ValueRange values, Dims dims, Types results) const final {
    if (!supports(group))
      return group.reduceScatter(kind, values, dims, results);
    auto [outer, inner] = splitGroup(group);
    SmallVector<int64_t> outerDims = plainDims(dims), innerDims = nextDims(outerDims);
    Values parts;
    for (auto [value, dim, plain, result] : llvm::zip_equal(values, dims, outerDims, results)) {
      Value part = value;
      if (dim == kFlat) {
        int64_t elements = tg::typeOf(value).getNumElements();
        part = group.b.reshape(value, {elements});
        part = group.b.padZeros(part, 0, 0, result.getNumElements() * group.n - elements);
      }
      Type type = tg::typeOf(part);
      parts.push_back(
          group.b.reshape(part, replaceDim(type.getShape(), plain, {outer.n, type.getDimSize(plain) / outer.n})));
    }
    parts = inner.reduceScatter(kind, parts, innerDims, blockTypes(typesOf(parts), innerDims, inner.n));
    parts = reduceScatter(outer, kind, parts, outerDims, blockTypes(typesOf(parts), outerDims, outer.n));
    for (auto [part, result] : llvm::zip_equal(parts, results))
      part = group.b.reshape(part, result.getShape());
    return parts;
  }

  Values allToAll(Group &group, ValueRange values, Dims split, Dims concat) const final {
    if (!supports(group))
      return group.allToAll(values, split, concat);
    auto [outer, inner] = splitGroup(group);
    Values parts;
    SmallVector<int64_t> from, to;
    SmallVector<Exchange> exchanges;
    for (auto [value, splitDim, concatDim] : llvm::zip_equal(values, split, concat)) {
      const Exchange &exchange =
          exchanges.emplace_back(tg::typeOf(value).getShape(), splitDim, concatDim, outer.n, inner.n);
      parts.push_back(group.b.reshape(value, exchange.shape));
      from.push_back(exchange.from);
      to.push_back(exchange.to);
    }
    parts = allToAll(outer, parts, from, to);
    parts = inner.allToAll(parts, nextDims(from), nextDims(to));
    for (auto [part, exchange] : llvm::zip_equal(parts, exchanges))
      part = group.b.reshape(part, exchange.result);
    return parts;
  }

  Values broadcast(Group &group, ValueRange values, int64_t root) const final {
    if (!supports(group))
      return group.broadcast(values, root);
    // Broadcast over the outer axes first. Only ranks with the root's inner number hold valid data; the other
    // ranks' results are overwritten by the inner broadcast.
    auto [outer, inner] = splitGroup(group);
    return inner.broadcast(broadcast(outer, values, root / inner.n), root % inner.n);
  }

private:
  /// Returns the group over all axes but the last, and the group over the last axis.
  static std::pair<Group, Group> splitGroup(const Group &group) {
    size_t last = group.axes.size() - 1;
    return {group.along(sliceAxes(group.axes, 0, last)), group.along(sliceAxes(group.axes, last))};
  }

  /// The dims of one tensor of an all_to_all: the split dim becomes [na, nb, block], and the concat dim becomes
  /// [1, 1, size].
  struct Exchange {
    Exchange(ArrayRef<int64_t> whole, int64_t split, int64_t concat, int64_t na, int64_t nb) {
      for (auto [dim, size] : llvm::enumerate(whole)) {
        bool isSplit = int64_t(dim) == split, isConcat = int64_t(dim) == concat;
        if (isConcat) {
          to = shape.size();
          shape.append({1, 1});
        }
        if (isSplit) {
          from = shape.size();
          shape.append({na, nb});
        }
        int64_t block = isSplit ? size / (na * nb) : size;
        shape.push_back(block);
        result.push_back(block * (isConcat ? na * nb : 1));
      }
    }
    SmallVector<int64_t> shape, result;
    int64_t from = 0, to = 0;
  };
};
} // namespace

std::unique_ptr<Algorithm> braid::makeHierarchical() { return std::make_unique<Hierarchical>(); }
