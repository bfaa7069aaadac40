//===- Indexing.cpp - rows, elements and sums by index --------------------===//

#include "lib/Import/Torch/Indices.h"
#include "llvm/ADT/STLExtras.h"
#include <numeric>

using namespace llvm;
using namespace mlir;
using namespace braid;
using namespace braid::torch;

static bool isInteger(Value a) { return tg::typeOf(a).getElementType().isInteger(32); }

//===----------------------------------------------------------------------===//
// Rows
//===----------------------------------------------------------------------===//

/// Parts of a tensor along `dim` at indices; the dims of the indices take the place of `dim`.
static Value partsAt(CallBuilder &call, Value a, int64_t dim, BoundedIndex index) {
  int64_t rank = tg::typeOf(a).getRank(), added = tg::typeOf(index.index).getRank();
  Value rows = rowsAt(call, moveDim(call, a, dim, 0), index);
  if (!rows || dim == 0)
    return rows;
  SmallVector<int64_t> order = tg::dimRange(added, added + dim);
  append_range(order, tg::dimRange(0, added));
  append_range(order, tg::dimRange(added + dim, added + rank - 1));
  return call.transpose(rows, order);
}

static Value partsAt(CallBuilder &call, Value a, int64_t dim, Value indices, bool allowsNegative) {
  return partsAt(call, a, dim, bounded(call, indices, shapeOf(a)[dim], allowsNegative));
}

static Values indexSelect(CallBuilder &call) {
  Value a = call.tensor("self"), index = call.tensor("index");
  int64_t dim = call.dim("dim", tg::typeOf(a).getRank());
  if (dim < 0 || !isInteger(index) || tg::typeOf(index).getRank() != 1)
    return {call.fail("takes a vector of integers")};
  return {partsAt(call, a, dim, index, /*allowsNegative=*/false)};
}

/// Joins indices of neighboring dims to one; the first moves by the most elements.
static BoundedIndex joinIndices(CallBuilder &call, ArrayRef<Value> indices, ArrayRef<int64_t> sizes) {
  BoundedIndex joined;
  for (auto [index, size] : zip_equal(indices, sizes)) {
    // Data are not checked against a size that is a part of a product.
    BoundedIndex next = bounded(call, index, size, /*allowsNegative=*/true, /*trustsInputs=*/false);
    if (!joined.index) {
      joined = {next.index, next.isInside};
      continue;
    }
    Value moved = call.make<arith::MulIOp>(joined.index, call.constantLike(joined.index, size));
    joined.index = call.make<arith::AddIOp>(moved, next.index);
    joined.isInside = joined.isInside && next.isInside ? call.make<arith::AndIOp>(joined.isInside, next.isInside)
                      : next.isInside                  ? next.isInside
                                                       : joined.isInside;
  }
  return joined;
}

/// a[..., i, j, ...] with tensors of integers for neighboring dims.
static Values indexBy(CallBuilder &call) {
  Value a = call.tensor("self");
  SmallVector<Value> indices;
  int64_t first = -1, last = -1;
  for (auto [dim, name] : enumerate(call.tensors("indices"))) {
    if (name.name.empty())
      continue;
    Value each = call.tensorNamed(name.name);
    if (!isInteger(each))
      return {call.fail("by conditions is not supported: the result's size depends on values; take torch.where")};
    first = first < 0 ? dim : first;
    if (last >= 0 && last != static_cast<int64_t>(dim) - 1)
      return {call.fail("indices of dims that are no neighbors are not supported")};
    last = dim;
    indices.push_back(each);
  }
  if (indices.empty() || last >= tg::typeOf(a).getRank())
    return {call.fail("takes an index for a dim of the tensor")};
  if (indices.size() == 1)
    return {partsAt(call, a, first, indices.front(), /*allowsNegative=*/true)};
  int64_t count = indices.size(), rest = tg::typeOf(a).getRank() - count;
  ArrayRef<int64_t> result = call.resultType().shape;
  if (static_cast<int64_t>(result.size()) < rest)
    return {call.fail("the result has fewer dims than the tensor besides the indices")};
  SmallVector<int64_t> shape(result.slice(first, result.size() - rest));
  for (Value &each : indices)
    if (each = call.expand(each, shape); !each)
      return {};
  SmallVector<int64_t> joinedShape(shapeOf(a).take_front(first)), sizes(shapeOf(a).slice(first, count));
  joinedShape.push_back(std::accumulate(sizes.begin(), sizes.end(), int64_t(1), std::multiplies<>()));
  append_range(joinedShape, shapeOf(a).drop_front(last + 1));
  return {partsAt(call, call.reshape(a, joinedShape), first, joinIndices(call, indices, sizes))};
}

static MaybeKnown evaluateIndex(CallBuilder &call) {
  const MaybeKnown &a = call.known("self");
  SmallVector<Known> positions;
  for (const TensorName &name : call.tensors("indices")) {
    if (name.name.empty() || !call.knownNamed(name.name))
      return std::nullopt;
    positions.push_back(*call.knownNamed(name.name));
  }
  return a ? known::index(*a, positions, call.resultType().shape) : std::nullopt;
}

/// Each of some dims in the opposite order.
static Values flip(CallBuilder &call) {
  Value a = call.tensor("self");
  int64_t rank = tg::typeOf(a).getRank();
  for (int64_t given : call.integers("dims")) {
    int64_t dim = given < 0 ? given + rank : given;
    if (dim < 0 || dim >= rank)
      return {call.fail("dim " + Twine(given) + " is none of the tensor's")};
    int64_t size = shapeOf(a)[dim];
    Value forth = call.make<tg::IotaOp>(RankedTensorType::get({size}, call.builder.getI32Type()), 0);
    Value back = call.make<arith::SubIOp>(call.constantLike(forth, size - 1), forth);
    a = partsAt(call, a, dim, back, /*allowsNegative=*/false);
  }
  return {a};
}

/// The elements whose indices along two dims differ by `offset`; they come last.
static Values diagonal(CallBuilder &call) {
  Value a = call.tensor("self");
  int64_t rank = tg::typeOf(a).getRank(), offset = call.integer("offset");
  int64_t first = call.dim("dim1", rank, 0), second = call.dim("dim2", rank, 1);
  int64_t count = call.resultType().shape.empty() ? 0 : call.resultType().shape.back();
  if (first < 0 || second < 0 || first == second || count < 1)
    return {call.fail("takes two dims")};
  a = moveDim(call, moveDim(call, a, first, rank - 1), second < first ? second : second - 1, rank - 1);
  SmallVector<int64_t> shape(shapeOf(a).drop_back(2));
  int64_t columns = shapeOf(a).back(), start = offset < 0 ? -offset * columns : offset;
  shape.push_back(shapeOf(a)[rank - 2] * columns);
  Value number = call.make<tg::IotaOp>(RankedTensorType::get({count}, call.builder.getI32Type()), 0);
  Value at = call.make<arith::MulIOp>(number, call.constantLike(number, columns + 1));
  at = call.make<arith::AddIOp>(at, call.constantLike(number, start));
  return {partsAt(call, call.reshape(a, shape), rank - 2, at, /*allowsNegative=*/false)};
}

/// Windows of a dim; the elements of a window come last.
static Values unfold(CallBuilder &call) {
  Value a = call.tensor("self");
  int64_t dim = call.dim("dimension", tg::typeOf(a).getRank()), size = call.integer("size"),
          step = call.integer("step");
  if (dim < 0 || size < 1 || step < 1 || size > shapeOf(a)[dim])
    return {call.fail("takes windows of at least 1 element, at least 1 apart, inside of the tensor")};
  int64_t count = (shapeOf(a)[dim] - size) / step + 1;
  RankedTensorType type = RankedTensorType::get({count, size}, call.builder.getI32Type());
  Value start = call.make<tg::IotaOp>(type, 0);
  Value at = call.make<arith::AddIOp>(call.make<arith::MulIOp>(start, call.constant(type, step)),
                                      call.make<tg::IotaOp>(type, 1));
  Value windows = partsAt(call, a, dim, at, /*allowsNegative=*/false);
  return {moveDim(call, windows, dim + 1, tg::typeOf(windows).getRank() - 1)};
}

//===----------------------------------------------------------------------===//
// An element of each row
//===----------------------------------------------------------------------===//

/// Cuts the dims of `a` other than `dim` to the sizes of an index.
static Value cutTo(CallBuilder &call, Value a, Value index, int64_t dim) {
  for (int64_t each = 0; each < tg::typeOf(a).getRank(); ++each)
    if (each != dim && shapeOf(index)[each] < shapeOf(a)[each])
      a = call.slice(a, each, 0, shapeOf(index)[each]);
  return a;
}

/// Returns an index of lanes, with the dim last, or null after an error.
static Value indexOfLanes(CallBuilder &call, Value a, Value index, int64_t dim) {
  bool fits = isInteger(index) && tg::typeOf(index).getRank() == tg::typeOf(a).getRank();
  for (int64_t each = 0; fits && each < tg::typeOf(a).getRank(); ++each)
    fits = each == dim || shapeOf(index)[each] <= shapeOf(a)[each];
  return fits ? swapLast(call, index, dim) : call.fail("the index does not fit the tensor");
}

/// The elements of rows that an index names: the sum over lanes of those.
static Values gather(CallBuilder &call) {
  Value a = call.tensor("self"), index = call.tensor(call.has("index") ? "index" : "indices");
  int64_t dim = call.dim("dim", tg::typeOf(a).getRank());
  if (dim < 0 || !tg::isFloat(a))
    return {call.fail("only of floats")};
  Value picks = indexOfLanes(call, a, index, dim);
  if (!picks)
    return {};
  Value rows = swapLast(call, cutTo(call, a, index, dim), dim);
  int64_t lead = tg::typeOf(rows).getRank() - 1, lanes = shapeOf(rows).back();
  Value isPicked = lanesOf(call, picks, lanes);
  RankedTensorType wide = tg::withElement(tg::typeOf(isPicked), tg::typeOf(a).getElementType());
  SmallVector<int64_t> dims = tg::dimRange(0, lead);
  dims.push_back(lead + 1);
  Value picked = call.sum(call.select(isPicked, call.broadcast(rows, wide, dims), call.zeros(wide)), {lead + 1});
  return {swapLast(call, orNan(call, picked, areInside(call, picks, lanes)), dim)};
}

/// Elements of known tensors along a dim.
static MaybeKnown evaluateGather(CallBuilder &call) {
  const MaybeKnown &a = call.known("self"), &index = call.known("index");
  if (!a || !index)
    return std::nullopt;
  if (std::optional<double> all = a->splat())
    return known::map(*index, [&](double) { return *all; });
  std::optional<std::vector<double>> from = a->numbers(), positions = index->numbers();
  int64_t dim = call.dim("dim", a->shape.size());
  if (!from || !positions || dim < 0 || a->shape.size() != index->shape.size())
    return std::nullopt;
  std::vector<double> picked;
  SmallVector<int64_t> at(a->shape.size(), 0);
  for (double position : *positions) {
    int64_t offset = 0;
    for (auto [i, size] : enumerate(a->shape)) {
      int64_t along = static_cast<int64_t>(i) == dim ? static_cast<int64_t>(position) : at[i];
      if (along < 0 || along >= size)
        return std::nullopt;
      offset = offset * size + along;
    }
    picked.push_back((*from)[offset]);
    for (int64_t i = at.size() - 1; i >= 0 && ++at[i] == index->shape[i]; --i)
      at[i] = 0;
  }
  return known::dense(index->shape, std::move(picked));
}

//===----------------------------------------------------------------------===//
// Writes to an element of each row
//===----------------------------------------------------------------------===//

/// Whether no two indices of a row are equal.
static bool areDistinct(Value index) {
  if (shapeOf(index).back() == 1)
    return true;
  auto top = index.getDefiningOp<tg::TopKOp>();
  return top && index == top.getIndices();
}

/// Adds numbers to the lanes that an index names, or replaces these lanes.
template <bool adds> static Values scatter(CallBuilder &call) {
  Value a = call.tensor("self"), index = call.tensor("index");
  int64_t dim = call.dim("dim", tg::typeOf(a).getRank());
  if (dim < 0 || !tg::isFloat(a))
    return {call.fail("only of floats")};
  Value places = indexOfLanes(call, a, index, dim);
  if (!places || cutTo(call, a, index, dim) != a)
    return {call.fail("the index must have the tensor's sizes, besides the dim")};
  Value rows = swapLast(call, a, dim);
  int64_t lead = tg::typeOf(rows).getRank() - 1, lanes = shapeOf(rows).back();
  Value source;
  if (call.has("src")) {
    source = call.tensor("src");
    if (tg::typeOf(source).getRank() != tg::typeOf(index).getRank())
      return {call.fail("the source has another number of dims than the index")};
    source = swapLast(call, cutTo(call, source, index, -1), dim);
    if (tg::typeOf(source) != tg::withElement(tg::typeOf(places), tg::typeOf(a).getElementType()))
      return {call.fail("the source has other sizes than the index")};
    if (!adds && !areDistinct(places))
      return {call.fail("replaces an element more than once, in no order; take scatter_add, or one index for a row")};
  }
  Value isPlace = lanesOf(call, places, lanes);
  RankedTensorType wide = tg::withElement(tg::typeOf(isPlace), tg::typeOf(a).getElementType());
  Value result;
  if (source) {
    Value repeated = call.broadcast(source, wide, tg::dimRange(0, lead + 1));
    result = call.sum(call.select(isPlace, repeated, call.zeros(wide)), {lead});
  } else {
    result = call.constantLike(rows, call.number("value"));
  }
  if (adds) {
    result = call.add(rows, result);
  } else {
    result = call.select(anyOf(call, isPlace, {lead}), result, rows);
  }
  if (Value isInside = areInside(call, places, lanes))
    result = orNan(call, result, negated(call, anyOf(call, negated(call, isInside), {lead})));
  return {swapLast(call, result, dim)};
}

/// self + alpha * source, whose parts along a dim are added at the indices.
static Values indexAdd(CallBuilder &call) {
  Value a = call.tensor("self"), index = call.tensor("index"), source = call.tensor("source");
  int64_t dim = call.dim("dim", tg::typeOf(a).getRank());
  if (dim < 0 || !tg::isFloat(a) || !isInteger(index) || tg::typeOf(index).getRank() != 1 ||
      tg::typeOf(source).getRank() != tg::typeOf(a).getRank())
    return {call.fail("takes floats, a vector of integers and a source with as many dims")};
  Value rows = moveDim(call, source, dim, 0), table = moveDim(call, a, dim, 0);
  if (shapeOf(rows).front() != shapeOf(index).front() || shapeOf(rows).drop_front() != shapeOf(table).drop_front() ||
      tg::typeOf(rows).getElementType() != tg::typeOf(table).getElementType())
    return {call.fail("the source has other sizes or another type than the tensor at the indices")};
  if (double alpha = call.number("alpha", 1); alpha != 1)
    rows = call.mul(rows, alpha);
  BoundedIndex place = bounded(call, index, shapeOf(table).front(), /*allowsNegative=*/false);
  rows = orNan(call, rows, place.isInside);
  int64_t count = shapeOf(table).front(), width = tg::typeOf(table).getNumElements() / count;
  Value sums = call.make<tg::ScatterAddOp>(tg::withShape(tg::typeOf(table), {count, width}), place.index,
                                           call.reshape(rows, {shapeOf(rows).front(), width}));
  return {moveDim(call, call.add(table, call.reshape(sums, shapeOf(table))), 0, dim)};
}

static constexpr OpRow kIndexingRows[] = {
    {"aten.index.Tensor", "self:T indices:OL", indexBy, evaluateIndex, "tg.gather"},
    {"aten.index_select.default", "self:T dim:I index:T", indexSelect, nullptr, "tg.gather"},
    {"aten.flip.default", "self:T dims:IL", flip, nullptr, "tg.gather"},
    {"aten.unfold.default", "self:T dimension:I size:I step:I", unfold, nullptr, "tg.gather", "", /*isView=*/true},
    {"aten.diagonal.default", "self:T offset:I? dim1:I? dim2:I?", diagonal, nullptr, "tg.gather", "", /*isView=*/true},
    {"aten.diagonal_copy.default", "self:T offset:I? dim1:I? dim2:I?", diagonal, nullptr, "tg.gather"},
    {"aten.gather.default", "self:T dim:I index:T", gather, evaluateGather, "a sum over lanes", "sparse_grad"},
    {"aten.take_along_dim.default", "self:T indices:T dim:I", gather, nullptr, "a sum over lanes"},
    {"aten.scatter.src", "self:T dim:I index:T src:T", scatter<false>, nullptr, "arith.select"},
    {"aten.scatter.value", "self:T dim:I index:T value:N", scatter<false>, nullptr, "arith.select"},
    {"aten.scatter_add.default", "self:T dim:I index:T src:T", scatter<true>, nullptr, "a sum over lanes"},
    {"aten.index_add.default", "self:T dim:I index:T source:T alpha:N?", indexAdd, nullptr, "tg.scatter_add"},
};

ArrayRef<OpRow> braid::torch::indexingRows() { return kIndexingRows; }
