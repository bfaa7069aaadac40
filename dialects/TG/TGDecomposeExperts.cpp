//===- TGDecomposeExperts.cpp - definitions of mixtures of experts --------===//
//
// Routing is built from comparisons and counts. The rank of an expert for a token is the
// number of experts before it; a slot is the number of earlier choices of the same expert. So
// nothing is sorted or scattered, no result depends on the order of threads, and every op is a
// kernel over rows. The number of comparisons grows with the square of a row's choices, like
// attention, but each pair costs one comparison instead of head-size multiplications.
//
//===----------------------------------------------------------------------===//

#include "dialects/TG/TGBuilder.h"
#include "dialects/TG/ValueNames.h"

using namespace mlir;
using namespace braid::tg;

/// Returns 1 where `condition` holds, and 0 elsewhere.
static Value oneWhere(TensorBuilder &t, Value condition, Type element) {
  RankedTensorType type = withElement(typeOf(condition), element);
  return t.select(condition, t.constant(type, 1), t.constant(type, 0));
}

static Value addInts(TensorBuilder &t, Value a, Value b) { return t.make<arith::AddIOp>(a, b); }
static Value timesInt(TensorBuilder &t, Value a, int64_t b) { return t.make<arith::MulIOp>(a, t.constantLike(a, b)); }
static Value dividedBy(TensorBuilder &t, Value a, int64_t b) {
  return b == 1 ? a : t.make<arith::DivSIOp>(a, t.constantLike(a, b));
}

//===----------------------------------------------------------------------===//
// Routing
//===----------------------------------------------------------------------===//

SmallVector<Value> TopKOp::decompose(OpBuilder &builder) {
  TensorBuilder t(builder, originOf(*this));
  Type integer = builder.getI32Type();
  Value x = t.widen(getInput());
  RankedTensorType type = typeOf(x);
  int64_t lane = type.getRank() - 1, lanes = type.getShape().back(), k = getK();
  SmallVector<int64_t> leading = dimRange(0, lane), last = leading;
  last.push_back(lane + 1);

  // Rank of each lane: the number of lanes with a larger value, or with an equal value and a lower index.
  SmallVector<int64_t> shape(type.getShape());
  shape.push_back(lanes);
  RankedTensorType pairs = withShape(type, shape);
  Value mine = t.broadcast(x, pairs, dimRange(0, lane + 1)), other = t.broadcast(x, pairs, last);
  Value isLower = t.compare(arith::CmpIPredicate::slt, t.iota(mine, lane + 1, integer), t.iota(mine, lane, integer));
  Value isTie = t.make<arith::AndIOp>(t.compare(arith::CmpFPredicate::OEQ, other, mine), isLower);
  Value isBefore = t.make<arith::OrIOp>(t.compare(arith::CmpFPredicate::OGT, other, mine), isTie);
  Value rank = named("rank", t.reduceLanes(ReduceKind::Sum, oneWhere(t, isBefore, integer)));

  // For each rank: the index and the value of its lane.
  shape[lane] = k;
  RankedTensorType found = withShape(type, shape);
  Value ranks = t.broadcast(rank, withElement(found, integer), last);
  Value isHere = t.compare(arith::CmpIPredicate::eq, ranks, t.iota(ranks, lane, integer));
  Value index = t.select(isHere, t.iota(ranks, lane + 1, integer), t.constantLike(ranks, 0));
  Value value = t.select(isHere, t.broadcast(x, found, last), t.zeros(found));
  Value values = t.convert(t.reduceLanes(ReduceKind::Sum, value), getInput().getType().getElementType());
  // A maximum, so that the result is a valid lane even if NaNs give several lanes the same rank.
  Value indices = t.reduceLanes(ReduceKind::Max, index);
  return {named("largest", values), named("lanes", t.convert(indices, getIndices().getType().getElementType()))};
}

/// Returns whether each token is present, in a shape whose first two dims are rows and tokens.
static Value isPresent(TensorBuilder &t, Value present, RankedTensorType shape) {
  Value there = t.compare(arith::CmpIPredicate::sge, present, t.constantLike(present, 0));
  return t.broadcast(there, withElement(shape, t.builder.getI1Type()), dimRange(0, typeOf(present).getRank()));
}

/// Returns for each choice how many earlier choices of the row are equal in all of `keys`.
static Value countPrecedingEqual(TensorBuilder &t, ArrayRef<Value> keys) {
  Type integer = t.builder.getI32Type();
  ArrayRef<int64_t> shape = typeOf(keys.front()).getShape();
  auto pairs = RankedTensorType::get({shape[0], shape[1], shape[1]}, integer);
  Value counts;
  for (Value key : keys) {
    Value mine = t.broadcast(key, pairs, {0, 1}), other = t.broadcast(key, pairs, {0, 2});
    if (!counts)
      counts = t.compare(arith::CmpIPredicate::slt, t.iota(mine, 2, integer), t.iota(mine, 1, integer));
    counts = t.make<arith::AndIOp>(counts, t.compare(arith::CmpIPredicate::eq, mine, other));
  }
  return t.reduceLanes(ReduceKind::Sum, oneWhere(t, counts, integer));
}

SmallVector<Value> ExpertSlotsOp::decompose(OpBuilder &builder) {
  TensorBuilder t(builder, originOf(*this));
  Type integer = builder.getI32Type();
  RankedTensorType shape = getChosen().getType();
  int64_t rows = shape.getDimSize(0), number = shape.getDimSize(1) * shape.getDimSize(2), capacity = getCapacity();
  Value chosen = t.reshape(t.convert(getChosen(), integer), {rows, number}), document;
  auto below = [&](Value count, int64_t limit) {
    return t.compare(arith::CmpIPredicate::slt, count, t.constantLike(count, limit));
  };
  if (getPresent()) {
    Value present = t.convert(getPresent(), integer);
    document = t.reshape(t.broadcast(present, withElement(shape, integer), {0, 1}), {rows, number});
    Value isThere = t.compare(arith::CmpIPredicate::sge, document, t.constantLike(document, 0));
    chosen = t.select(isThere, chosen, t.constantLike(chosen, -1)); // -1: no expert
  }

  Value place = named("place", countPrecedingEqual(t, chosen));
  Value hasSlot = below(place, capacity);
  if (getBound() && getBound() < getCapacity()) {
    Value ofDocument = named("place_in_document", countPrecedingEqual(t, {chosen, document}));
    hasSlot = t.make<arith::AndIOp>(hasSlot, below(ofDocument, *getBound()));
  }
  if (getPresent())
    hasSlot = t.make<arith::AndIOp>(hasSlot, t.compare(arith::CmpIPredicate::sge, chosen, t.constantLike(chosen, 0)));
  Value slots = t.select(hasSlot, addInts(t, timesInt(t, chosen, capacity), place), t.constantLike(place, -1));
  slots = named("slots", slots);

  // Selects the choice of each slot.
  auto all = RankedTensorType::get({static_cast<int64_t>(getExperts()), rows, capacity, number}, integer);
  Value theirs = t.broadcast(slots, all, {1, 3});
  Value slot = addInts(t, timesInt(t, t.iota(theirs, 0, integer), capacity), t.iota(theirs, 2, integer));
  Value isHere = t.compare(arith::CmpIPredicate::eq, theirs, slot);
  Value choice = t.select(isHere, t.iota(theirs, 3, integer), t.constantLike(theirs, -1));
  Value choices = named("choices", t.reduceLanes(ReduceKind::Max, choice));
  auto narrow = [&](Value value, Value result) { return t.convert(value, typeOf(result).getElementType()); };
  return {narrow(t.reshape(slots, shape.getShape()), getSlots()), narrow(choices, getChoices())};
}

//===----------------------------------------------------------------------===//
// Dispatch and collect
//===----------------------------------------------------------------------===//

/// Returns the rows of `table` whose numbers are `numbers`, after `rowOf` maps those to row
/// indices; zeros where a number is negative.
static Value rowsAt(TensorBuilder &t, Value table, Value numbers, function_ref<Value(Value)> rowOf) {
  Value isThere = t.compare(arith::CmpIPredicate::sge, numbers, t.constantLike(numbers, 0));
  Value row = named("row", rowOf(t.select(isThere, numbers, t.constantLike(numbers, 0))));
  int64_t width = typeOf(table).getShape().back();
  Value rows = t.make<GatherOp>(t.reshape(table, {typeOf(table).getNumElements() / width, width}), row);
  return t.select(t.broadcastRows(isThere, rows), rows, t.constantLike(rows, 0.0));
}

SmallVector<Value> DispatchOp::decompose(OpBuilder &builder) {
  TensorBuilder t(builder, originOf(*this));
  Type integer = builder.getI32Type();
  int64_t tokens = getInput().getType().getDimSize(1), ofToken = getSlots().getType().getDimSize(2);
  return {rowsAt(t, getInput(), t.convert(getChoices(), integer), [&](Value choice) {
    return addInts(t, dividedBy(t, choice, ofToken), timesInt(t, t.iota(choice, /*dim=*/1, integer), tokens));
  })};
}

/// Slots of an expert are numbered within a batch row, but stored after the slots of earlier rows.
SmallVector<Value> CollectOp::decompose(OpBuilder &builder) {
  TensorBuilder t(builder, originOf(*this));
  Type integer = builder.getI32Type();
  int64_t rows = getInput().getType().getDimSize(1), capacity = getInput().getType().getDimSize(2);
  return {rowsAt(t, getInput(), t.convert(getSlots(), integer), [&](Value slot) {
    Value before = timesInt(t, dividedBy(t, slot, capacity), (rows - 1) * capacity);
    Value ofRow = timesInt(t, t.iota(slot, /*dim=*/0, integer), capacity);
    return addInts(t, addInts(t, slot, before), ofRow);
  })};
}

//===----------------------------------------------------------------------===//
// Losses of routers
//===----------------------------------------------------------------------===//

namespace {
/// Means over tokens, or over the present tokens if the op says which are present.
class TokenMeans {
public:
  TokenMeans(TensorBuilder &t, Value present, Type element) : t(t), present(present) {
    if (!present)
      return;
    Value ones = oneWhere(t, isPresent(t, present, typeOf(present)), element);
    number = named("present", t.max(t.sumAll(ones), 1.0));
  }

  /// Returns the mean over all dims but the last `kept`.
  Value operator()(Value a, int64_t kept) const {
    RankedTensorType type = typeOf(a);
    SmallVector<int64_t> dims = dimRange(0, type.getRank() - kept);
    if (!present)
      return t.reduce(ReduceKind::Mean, a, dims);
    // Number of elements per token, from the dims after those of tokens.
    double ofToken = 1;
    for (int64_t dim : llvm::drop_begin(dims, typeOf(present).getRank()))
      ofToken *= static_cast<double>(type.getDimSize(dim));
    Value sum = t.sum(t.select(isPresent(t, present, type), a, t.zeros(type)), dims);
    return t.div(sum, t.broadcastScalar(t.mul(number, ofToken), sum));
  }

private:
  TensorBuilder &t;
  Value present, number;
};
} // namespace

static Value sumOf(TensorBuilder &t, Value sum, Value term) { return sum ? t.add(sum, term) : term; }

SmallVector<Value> LoadBalanceOp::decompose(OpBuilder &builder) {
  TensorBuilder t(builder, originOf(*this));
  Type integer = builder.getI32Type();
  TokenMeans mean(t, getPresent(), typeOf(t.widen(getProbabilities().front())).getElementType());
  Value share, probability;
  for (auto [p, chosen] : llvm::zip_equal(getProbabilities(), getChosen())) {
    Value wide = t.widen(p), experts = t.convert(chosen, integer);
    SmallVector<int64_t> shape(typeOf(chosen).getShape());
    int64_t last = shape.size();
    shape.push_back(typeOf(p).getShape().back());
    Value each = t.broadcastRows(experts, t.constant(RankedTensorType::get(shape, integer), 0));
    Value isChosen = t.compare(arith::CmpIPredicate::eq, each, t.iota(each, last, integer));
    share = sumOf(t, share, mean(oneWhere(t, isChosen, typeOf(wide).getElementType()), /*kept=*/1));
    probability = sumOf(t, probability, mean(wide, /*kept=*/1));
  }
  RankedTensorType first = typeOf(getProbabilities().front());
  double layers = getChosen().size(), k = typeOf(getChosen().front()).getShape().back();
  Value sum = t.sumAll(t.mul(named("share", share), named("probability", probability)));
  Value loss = t.mul(sum, first.getShape().back() * k / (layers * layers));
  return {t.convert(loss, first.getElementType())};
}

SmallVector<Value> RouterZOp::decompose(OpBuilder &builder) {
  TensorBuilder t(builder, originOf(*this));
  TokenMeans meanOf(t, getPresent(), typeOf(t.widen(getLogits().front())).getElementType());
  Value mean;
  for (Value logits : getLogits()) {
    Value x = t.widen(logits);
    Value largest = named("largest", t.reduceLanes(ReduceKind::Max, x));
    Value sum = t.reduceLanes(ReduceKind::Sum, t.exp(t.sub(x, t.broadcastRows(largest, x))));
    Value square = t.square(named("lse", t.add(t.log(sum), largest)));
    mean = sumOf(t, mean, meanOf(square, /*kept=*/0));
  }
  return {t.convert(t.mul(mean, 1.0 / getLogits().size()), getType().getElementType())};
}
