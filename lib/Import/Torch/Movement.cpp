//===- Movement.cpp - views, slices, joins, gathers -----------------------===//

#include "lib/Import/Torch/Indices.h"
#include "llvm/ADT/STLExtras.h"

using namespace llvm;
using namespace mlir;
using namespace braid;
using namespace braid::torch;

static ArrayRef<int64_t> resultShape(CallBuilder &call) { return call.resultType().shape; }
static int64_t rankOf(CallBuilder &call, StringRef name) { return call.typeOfArgument(name).shape.size(); }
static int64_t countOf(ArrayRef<int64_t> shape) {
  int64_t elements = 1;
  for (int64_t size : shape)
    elements *= size;
  return elements;
}

//===----------------------------------------------------------------------===//
// Shapes
//===----------------------------------------------------------------------===//

/// Views: the program states the shape of the result.
static Values reshape(CallBuilder &call) {
  if (countOf(call.typeOfArgument("self").shape) != countOf(resultShape(call)))
    return {call.fail("the result has another number of elements")};
  return {call.reshape(call.tensor("self"), resultShape(call))};
}
static MaybeKnown evaluateReshape(CallBuilder &call) {
  const MaybeKnown &a = call.known("self");
  return a ? known::reshape(*a, resultShape(call)) : std::nullopt;
}

static Values expand(CallBuilder &call) {
  Value result = call.expand(call.tensor("self"), resultShape(call));
  return result ? Values{result} : Values{};
}
static MaybeKnown evaluateExpand(CallBuilder &call) {
  const MaybeKnown &a = call.known("self");
  return a ? known::broadcast(*a, resultShape(call)) : std::nullopt;
}

/// Each of several tensors, repeated to the shape of its result.
static Values expandEach(CallBuilder &call) {
  const TensorNames &names = call.tensors("tensors");
  Values results;
  for (unsigned i = 0; i < call.numResults() && i < names.size(); ++i)
    results.push_back(call.expand(call.tensorNamed(names[i].name), call.resultType(i).shape));
  return results;
}

/// Each of several vectors along a dim of its own. Indexing 'xy' exchanges the first two dims.
static Values meshgrid(CallBuilder &call) {
  Values results;
  bool exchanges = call.string("indexing") == "xy";
  for (auto [number, name] : enumerate(call.tensors("tensors"))) {
    SmallVector<int64_t> shape(resultShape(call).size(), 1);
    size_t dim = exchanges && number < 2 ? 1 - number : number;
    if (dim >= shape.size() || call.numResults() != shape.size())
      return {call.fail("has a result and a dim for each tensor")};
    Value a = call.tensorNamed(name.name);
    shape[dim] = tg::typeOf(a).getNumElements();
    results.push_back(call.expand(call.reshape(a, shape), resultShape(call)));
  }
  return results;
}

/// Each index of a dim `repeats` times, one behind the other.
static Values repeatEach(CallBuilder &call) {
  Value a = call.tensor("self");
  int64_t rank = tg::typeOf(a).getRank(), dim = call.has("dim") ? call.dim("dim", rank) : -1;
  int64_t repeats = call.integer("repeats");
  if (dim < 0 || repeats < 1 || repeats > countOf(resultShape(call)) ||
      countOf(resultShape(call)) / repeats != tg::typeOf(a).getNumElements() || countOf(resultShape(call)) % repeats)
    return {call.fail("takes a dim, and a number of repeats of at least 1")};
  SmallVector<int64_t> wide(tg::typeOf(a).getShape()), dims = tg::dimRange(0, rank + 1);
  wide.insert(wide.begin() + dim + 1, repeats);
  dims.erase(dims.begin() + dim + 1);
  return {call.reshape(call.broadcast(a, tg::withShape(tg::typeOf(a), wide), dims), resultShape(call))};
}

static MaybeKnown evaluateRepeatEach(CallBuilder &call) {
  const MaybeKnown &a = call.known("self");
  int64_t dim = a && call.has("dim") ? call.dim("dim", a->shape.size()) : -1, repeats = call.integer("repeats");
  if (dim < 0 || repeats < 1 || countOf(resultShape(call)) / repeats != countOf(a->shape))
    return std::nullopt;
  SmallVector<int64_t> narrow(a->shape);
  narrow.insert(narrow.begin() + dim + 1, 1);
  MaybeKnown wide = known::reshape(*a, narrow);
  narrow[dim + 1] = repeats;
  wide = wide ? known::broadcast(*wide, narrow) : std::nullopt;
  return wide ? known::reshape(*wide, resultShape(call)) : std::nullopt;
}

/// Returns the permutation of a transpose or a permute, or nothing after an error.
static std::optional<SmallVector<int64_t>> permutationOf(CallBuilder &call) {
  int64_t rank = rankOf(call, "self");
  SmallVector<int64_t> permutation = tg::dimRange(0, rank);
  if (call.has("dims")) {
    Integers given = call.integers("dims");
    for (auto [i, dim] : enumerate(given))
      if (i < permutation.size())
        permutation[i] = dim < 0 ? dim + rank : dim;
    SmallVector<int64_t> sorted(permutation);
    llvm::sort(sorted);
    if (static_cast<int64_t>(given.size()) == rank && sorted == tg::dimRange(0, rank))
      return permutation;
    call.fail("the dims are no permutation of the tensor's");
    return std::nullopt;
  }
  if (call.call.op == "aten.mT.default" && rank >= 2) {
    std::swap(permutation[rank - 2], permutation[rank - 1]);
    return permutation;
  }
  if (call.call.op == "aten.movedim.int") {
    int64_t from = call.dim("source", rank), to = call.dim("destination", rank);
    if (from < 0 || to < 0)
      return std::nullopt;
    permutation.erase(permutation.begin() + from);
    permutation.insert(permutation.begin() + to, from);
    return permutation;
  }
  if (call.call.op == "aten.t.default" || call.call.op == "aten.numpy_T.default") {
    std::reverse(permutation.begin(), permutation.end());
    return permutation;
  }
  int64_t first = call.dim("dim0", rank), second = call.dim("dim1", rank);
  if (first < 0 || second < 0)
    return std::nullopt;
  std::swap(permutation[first], permutation[second]);
  return permutation;
}
static Values transpose(CallBuilder &call) {
  std::optional<SmallVector<int64_t>> permutation = permutationOf(call);
  return permutation ? Values{call.transpose(call.tensor("self"), *permutation)} : Values{};
}
static MaybeKnown evaluateTranspose(CallBuilder &call) {
  const MaybeKnown &a = call.known("self");
  std::optional<SmallVector<int64_t>> permutation = a ? permutationOf(call) : std::nullopt;
  return permutation ? MaybeKnown(known::transpose(*a, *permutation)) : std::nullopt;
}

//===----------------------------------------------------------------------===//
// Parts
//===----------------------------------------------------------------------===//

std::optional<SliceRange> braid::torch::sliceRangeOf(CallBuilder &call) {
  ArrayRef<int64_t> shape = call.typeOfArgument("self").shape;
  int64_t dim = call.dim("dim", shape.size());
  if (dim < 0)
    return std::nullopt;
  int64_t size = shape[dim];
  auto clamped = [&](int64_t index) { return std::clamp<int64_t>(index < 0 ? index + size : index, 0, size); };
  if (call.has("index")) {
    int64_t index = call.integer("index"), at = index < 0 ? index + size : index;
    if (at >= 0 && at < size)
      return SliceRange{dim, at, 1, 1};
    call.fail("index " + Twine(index) + " is outside of a dim of " + Twine(size));
    return std::nullopt;
  }
  int64_t start = clamped(call.integer("start", 0)), end = std::max(start, clamped(call.integer("end", INT64_MAX)));
  int64_t stride = call.integer("step", 1);
  if (call.has("length"))
    end = std::clamp<int64_t>(call.integer("length"), 1, size - start) + start;
  if (stride >= 1 && stride >= end - start)
    return SliceRange{dim, start, std::min<int64_t>(end - start, 1), 1};
  if (stride >= 1)
    return SliceRange{dim, start, (end - start - 1) / stride + 1, stride};
  call.fail("step " + Twine(stride) + " is not at least 1");
  return std::nullopt;
}
static Values slice(CallBuilder &call) {
  std::optional<SliceRange> range = sliceRangeOf(call);
  if (!range)
    return {};
  Value part = sliced(call, call.tensor("self"), range->dim, range->offset, range->size, range->stride);
  return {call.reshape(part, resultShape(call))};
}
static MaybeKnown evaluateSlice(CallBuilder &call) {
  const MaybeKnown &a = call.known("self");
  std::optional<SliceRange> range = a ? sliceRangeOf(call) : std::nullopt;
  if (!range)
    return std::nullopt;
  return known::reshape(known::slice(*a, range->dim, range->offset, range->size, range->stride), resultShape(call));
}

/// split, chunk and unbind: the program states the results.
static Values split(CallBuilder &call) {
  ArrayRef<int64_t> shape = call.typeOfArgument("self").shape;
  int64_t dim = call.dim("dim", shape.size());
  if (dim < 0)
    return {};
  bool isUnbind = call.call.op == "aten.unbind.int";
  Values parts;
  int64_t offset = 0;
  for (unsigned i = 0; i < call.numResults(); ++i) {
    ArrayRef<int64_t> part = call.resultType(i).shape;
    int64_t size = isUnbind ? 1 : (dim < static_cast<int64_t>(part.size()) ? part[dim] : shape[dim]);
    if (offset + size > shape[dim])
      return {call.fail("the results have more elements than the operand")};
    parts.push_back(call.reshape(sliced(call, call.tensor("self"), dim, offset, size), part));
    offset += size;
  }
  return parts;
}

static Values concat(CallBuilder &call) {
  const TensorNames &names = call.tensors("tensors");
  Values parts;
  for (const TensorName &name : names)
    parts.push_back(call.convert(call.tensorNamed(name.name), call.resultTensor().getElementType()));
  if (parts.empty())
    return {call.fail("of no tensors")};
  int64_t rank = resultShape(call).size(), dim = call.dim("dim", rank);
  if (dim < 0)
    return {};
  if (call.call.op == "aten.stack.default")
    for (Value &part : parts) {
      SmallVector<int64_t> shape(tg::typeOf(part).getShape());
      shape.insert(shape.begin() + std::min<size_t>(dim, shape.size()), 1);
      part = call.reshape(part, shape);
    }
  int64_t joined = 0;
  for (Value part : parts) {
    RankedTensorType type = tg::typeOf(part);
    for (int64_t i = 0; i < rank; ++i)
      if (type.getRank() != rank || (i != dim && type.getDimSize(i) != resultShape(call)[i]))
        return {call.fail("tensors have different shapes")};
    joined += type.getDimSize(dim);
  }
  if (joined != resultShape(call)[dim])
    return {call.fail("tensors do not add up to the result")};
  return {call.make<tg::ConcatOp>(parts, dim)};
}
static MaybeKnown evaluateConcat(CallBuilder &call) {
  SmallVector<Known> parts;
  for (const TensorName &name : call.tensors("tensors")) {
    const MaybeKnown &part = call.knownNamed(name.name);
    std::optional<std::vector<double>> numbers = part ? part->numbers() : std::nullopt;
    if (!numbers || part->shape.size() != resultShape(call).size())
      return std::nullopt;
    parts.push_back(*part);
  }
  int64_t dim = parts.empty() ? -1 : call.dim("dim", resultShape(call).size());
  return dim < 0 || call.call.op == "aten.stack.default" ? std::nullopt : known::concat(parts, dim);
}

/// Pads with copies of elements: those behind the edge, the edge itself, or those of the other end.
static Value padWithElements(CallBuilder &call, Value a, int64_t dim, int64_t low, int64_t high, StringRef mode) {
  int64_t size = tg::typeOf(a).getDimSize(dim), most = mode == "reflect" ? size - 1 : mode == "circular" ? size : 64;
  if (low < 0 || high < 0 || low > most || high > most)
    return call.fail("mode '" + mode + "' adds from 0 to " + Twine(most) + " elements here");
  SmallVector<Value> parts;
  auto add = [&](int64_t offset) { parts.push_back(call.slice(a, dim, offset, 1)); };
  for (int64_t i = low; i > 0; --i)
    add(mode == "reflect" ? i : mode == "circular" ? size - i : 0);
  parts.push_back(a);
  for (int64_t i = 1; i <= high; ++i)
    add(mode == "reflect" ? size - 1 - i : mode == "circular" ? i - 1 : size - 1);
  return parts.size() == 1 ? a : call.make<tg::ConcatOp>(parts, dim);
}

/// Pads from the last dim on: (low, high) of each.
static Values pad(CallBuilder &call) {
  Integers amounts = call.integers("pad");
  StringRef mode = call.string("mode");
  int64_t rank = rankOf(call, "self");
  bool isConstant = mode.empty() || mode == "constant";
  if ((!isConstant && mode != "reflect" && mode != "replicate" && mode != "circular") || amounts.size() % 2 ||
      static_cast<int64_t>(amounts.size()) > 2 * rank)
    return {call.fail("the mode or the number of amounts is not known")};
  Value a = call.tensor("self");
  for (size_t i = 0; i < amounts.size(); i += 2) {
    int64_t dim = rank - 1 - i / 2, low = amounts[i], high = amounts[i + 1], size = tg::typeOf(a).getDimSize(dim);
    if (!isConstant) {
      a = padWithElements(call, a, dim, low, high, mode);
      if (!a)
        return {};
      continue;
    }
    if (low < -size || high < -size || low + high < -size || low > INT32_MAX || high > INT32_MAX)
      return {call.fail("removes more than the tensor has")};
    a = padOrCut(call, a, dim, low, high, call.number("value", 0));
  }
  return {a};
}

//===----------------------------------------------------------------------===//
// Rows by index
//===----------------------------------------------------------------------===//

/// Rows by index, where the row `padding` gets no gradient.
static Values withoutGradientAt(CallBuilder &call, Value table, int64_t padding) {
  Value indices = call.tensor("indices"), rows = rowsAt(call, table, indices, /*allowsNegative=*/false);
  Value isPadding = call.compare(arith::CmpIPredicate::eq, indices, call.constantLike(indices, padding));
  RankedTensorType wide = tg::withElement(tg::typeOf(rows), call.builder.getI1Type());
  Value condition = call.broadcast(isPadding, wide, tg::dimRange(0, tg::typeOf(indices).getRank()));
  return {call.select(condition, call.make<tg::StopGradientOp>(rows), rows)};
}

/// Rows at positions that count up, 0, 1, ..., are a slice of the table.
static Values embedding(CallBuilder &call) {
  Value table = call.tensor("weight");
  if (tg::typeOf(table).getRank() != 2 ||
      tg::typeOf(call.tensor("indices")).getElementType() != call.builder.getI32Type())
    return {call.fail("takes a matrix, and integers")};
  const MaybeKnown &positions = call.known("indices");
  if (call.boolean("sparse") || call.boolean("scale_grad_by_freq"))
    return {call.fail("sparse and scale_grad_by_freq are not supported")};
  if (int64_t padding = call.integer("padding_idx", -1); padding >= 0 && padding < tg::typeOf(table).getDimSize(0))
    return withoutGradientAt(call, table, padding);
  const Affine *affine = positions ? positions->affine() : nullptr;
  if (!affine || affine->isConstant())
    return {rowsAt(call, table, call.tensor("indices"), /*allowsNegative=*/false)};
  SmallVector<int64_t> moving;
  for (auto [dim, factor] : enumerate(affine->factors))
    if (factor != 0)
      moving.push_back(dim);
  int64_t size = positions->shape[moving.front()];
  if (moving.size() != 1 || affine->factors[moving.front()] != 1)
    return {rowsAt(call, table, call.tensor("indices"), /*allowsNegative=*/false)};
  if (affine->constant < 0 || affine->constant + size > tg::typeOf(table).getDimSize(0))
    return {call.fail("positions end at " + Twine(affine->constant + size) + ", and the table has " +
                      Twine(tg::typeOf(table).getDimSize(0)) + " rows")};
  Value rows = sliced(call, table, 0, affine->constant, size);
  int64_t rank = resultShape(call).size();
  SmallVector<int64_t> between(rank, 1);
  between[moving.front()] = size;
  between[rank - 1] = resultShape(call).back();
  return {call.expand(call.reshape(rows, between), resultShape(call))};
}

//===----------------------------------------------------------------------===//
// Running differences
//===----------------------------------------------------------------------===//

static Values difference(CallBuilder &call) {
  Value a = call.tensor("self");
  int64_t rank = tg::typeOf(a).getRank(), dim = call.dim("dim", rank, -1);
  if (dim < 0 || !tg::isFloat(a) || call.integer("n", 1) != 1)
    return {call.fail("only of floats, once")};
  for (StringRef name : {"prepend", "append"})
    if (call.has(name))
      a = call.make<tg::ConcatOp>(
          name == "append" ? ValueRange{a, call.tensor(name)} : ValueRange{call.tensor(name), a}, dim);
  int64_t size = tg::typeOf(a).getDimSize(dim);
  if (size < 2)
    return {call.fail("of fewer than two elements")};
  return {call.sub(call.slice(a, dim, 1, size - 1), call.slice(a, dim, 0, size - 1))};
}
static MaybeKnown evaluateDifference(CallBuilder &call) {
  const MaybeKnown &a = call.known("self");
  if (!a || call.integer("n", 1) != 1 || call.has("append") || (call.has("prepend") && !call.known("prepend")))
    return std::nullopt;
  int64_t dim = call.dim("dim", a->shape.size(), -1);
  return dim < 0 ? std::nullopt : known::difference(*a, call.has("prepend") ? &*call.known("prepend") : nullptr, dim);
}

static constexpr OpRow kMovementRows[] = {
    {"aten.view.default", "self:T size:IL", reshape, evaluateReshape, "tg.reshape", "", /*isView=*/true},
    {"aten._unsafe_view.default", "self:T size:IL", reshape, evaluateReshape, "tg.reshape"},
    {"aten.reshape.default", "self:T shape:IL", reshape, evaluateReshape, "tg.reshape", "", /*isView=*/true},
    {"aten.flatten.using_ints", "self:T start_dim:I? end_dim:I?", reshape, evaluateReshape, "tg.reshape", "",
     /*isView=*/true},
    {"aten.unflatten.int", "self:T dim:I sizes:IL", reshape, evaluateReshape, "tg.reshape", "", /*isView=*/true},
    {"aten.unsqueeze.default", "self:T dim:I", reshape, evaluateReshape, "tg.reshape", "", /*isView=*/true},
    {"aten.squeeze.dim", "self:T dim:I", reshape, evaluateReshape, "tg.reshape", "", /*isView=*/true},
    {"aten.squeeze.dims", "self:T dim:IL", reshape, evaluateReshape, "tg.reshape", "", /*isView=*/true},
    {"aten.squeeze.default", "self:T", reshape, evaluateReshape, "tg.reshape", "", /*isView=*/true},
    {"aten.view_as.default", "self:T other:T", reshape, evaluateReshape, "tg.reshape", "", /*isView=*/true},
    {"aten.ravel.default", "self:T", reshape, evaluateReshape, "tg.reshape", "", /*isView=*/true},
    {"aten.expand.default", "self:T size:IL", expand, evaluateExpand, "tg.broadcast", "implicit", /*isView=*/true},
    {"aten.expand_as.default", "self:T other:T", expand, evaluateExpand, "tg.broadcast", "", /*isView=*/true},
    {"aten.broadcast_tensors.default", "tensors:TL", expandEach, nullptr, "tg.broadcast"},
    {"aten.meshgrid.default", "tensors:TL", meshgrid, nullptr, "tg.broadcast"},
    {"aten.meshgrid.indexing", "tensors:TL indexing:S", meshgrid, nullptr, "tg.broadcast"},
    {"aten.repeat_interleave.self_int", "self:T repeats:I dim:I?", repeatEach, evaluateRepeatEach, "tg.broadcast",
     "output_size"},
    {"aten.transpose.int", "self:T dim0:I dim1:I", transpose, evaluateTranspose, "tg.transpose", "", /*isView=*/true},
    {"aten.permute.default", "self:T dims:IL", transpose, evaluateTranspose, "tg.transpose", "", /*isView=*/true},
    {"aten.t.default", "self:T", transpose, evaluateTranspose, "tg.transpose", "", /*isView=*/true},
    {"aten.numpy_T.default", "self:T", transpose, evaluateTranspose, "tg.transpose", "", /*isView=*/true},
    {"aten.mT.default", "self:T", transpose, evaluateTranspose, "tg.transpose", "", /*isView=*/true},
    {"aten.movedim.int", "self:T source:I destination:I", transpose, evaluateTranspose, "tg.transpose", "",
     /*isView=*/true},
    {"aten.narrow.default", "self:T dim:I start:I length:I", slice, evaluateSlice, "tg.slice", "", /*isView=*/true},
    {"aten.slice.Tensor", "self:T dim:I? start:I? end:I? step:I?", slice, evaluateSlice, "tg.slice", "",
     /*isView=*/true},
    {"aten.select.int", "self:T dim:I index:I", slice, evaluateSlice, "tg.slice", "", /*isView=*/true},
    {"aten.split.Tensor", "self:T split_size:I dim:I?", split, nullptr, "tg.slice", "", /*isView=*/true},
    {"aten.unsafe_split.Tensor", "self:T split_size:I dim:I?", split, nullptr, "tg.slice"},
    {"aten.split_with_sizes.default", "self:T split_sizes:IL dim:I?", split, nullptr, "tg.slice", "", /*isView=*/true},
    {"aten.split.sizes", "self:T split_size:IL dim:I?", split, nullptr, "tg.slice", "", /*isView=*/true},
    {"aten.chunk.default", "self:T chunks:I dim:I?", split, nullptr, "tg.slice", "", /*isView=*/true},
    {"aten.unbind.int", "self:T dim:I?", split, nullptr, "tg.slice", "", /*isView=*/true},
    {"aten.cat.default", "tensors:TL dim:I?", concat, evaluateConcat, "tg.concat"},
    {"aten.stack.default", "tensors:TL dim:I?", concat, evaluateConcat, "tg.concat"},
    {"aten.pad.default", "self:T pad:IL mode:S? value:N?", pad, nullptr, "tg.pad"},
    {"aten.constant_pad_nd.default", "self:T pad:IL value:N?", pad, nullptr, "tg.pad"},
    {"aten.embedding.default", "weight:T indices:T padding_idx:I? scale_grad_by_freq:B? sparse:B?", embedding, nullptr,
     "tg.gather, or tg.slice for positions"},
    {"aten.diff.default", "self:T n:I? dim:I? prepend:T? append:T?", difference, evaluateDifference, "arith.subf"},
};

ArrayRef<OpRow> braid::torch::movementRows() { return kMovementRows; }
