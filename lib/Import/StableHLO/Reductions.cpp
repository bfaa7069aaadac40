//===- Reductions.cpp - sums, maxima, the largest -------------------------===//

#include "lib/Import/StableHLO/Combiners.h"
#include "lib/Import/StableHLO/Placement.h"
#include "llvm/ADT/STLExtras.h"
#include <cmath>

using namespace llvm;
using namespace mlir;
using namespace braid;
using namespace braid::stablehlo;

/// Integers up to this one are exact in a float of 32 bits.
static constexpr int64_t kMaxCount = int64_t(1) << 24;

/// Returns the reduced dims, sorted; nothing if the result has other dims than the operand without them.
static std::optional<SmallVector<int64_t>> reducedDims(SourceOp &op) {
  SmallVector<int64_t> dims = op.integers("dimensions"), kept;
  llvm::sort(dims);
  int64_t rank = op.shape(0).size();
  for (auto [number, dim] : enumerate(dims))
    if (dim < 0 || dim >= rank || (number > 0 && dim == dims[number - 1]))
      return std::nullopt;
  for (int64_t dim : tg::otherDims(dims, rank))
    kept.push_back(op.shape(0)[dim]);
  return ArrayRef<int64_t>(kept) == op.resultShape() ? std::optional(dims) : std::nullopt;
}

/// All or any of truth values: the largest of 0 and 1.
static Value reduceTruth(SourceOp &op, Value a, ArrayRef<int64_t> dims, bool isAll) {
  auto negated = [&](Value b) { return op.make<arith::XOrIOp>(b, op.constant(tg::typeOf(b), 1)); };
  Value numbers = op.convert(isAll ? negated(a) : a, op.builder.getF32Type());
  Value most = op.reduce(tg::ReduceKind::Max, numbers, dims);
  Value any = op.compare(arith::CmpFPredicate::OGT, most, op.zeros(tg::typeOf(most)));
  return isAll ? negated(any) : any;
}

/// A sum of integers. One of truth values that were converted is exact in a float.
static Value sumOfIntegers(SourceOp &op, ArrayRef<int64_t> dims) {
  Operation *convert = op.definition(0, "stablehlo.convert");
  bool isTruth = convert && typeHere(convert->getOperand(0).getType()).getElementType().isInteger(1);
  if (!isTruth || op.operandType(0).getNumElements() > kMaxCount)
    return op.reduce(tg::ReduceKind::Sum, op.tensor(0), dims);
  Value numbers = op.convert(op.tensorOf(convert->getOperand(0)), op.builder.getF32Type());
  return op.convert(op.make<tg::StopGradientOp>(op.reduce(tg::ReduceKind::Sum, numbers, dims)), op.element());
}

/// A product, by products of both halves of each dim.
static Value product(SourceOp &op, Value a, ArrayRef<int64_t> dims) {
  for (int64_t dim : dims)
    for (int64_t size = tg::typeOf(a).getDimSize(dim); size > 1; size = tg::typeOf(a).getDimSize(dim)) {
      int64_t half = size / 2;
      Value first = sliced(op, a, dim, 0, half), second = sliced(op, a, dim, half, half);
      Value halves = combined(op, Combiner::Multiply, first, second);
      a = size % 2 == 0 ? halves : op.make<tg::ConcatOp>(Values{halves, sliced(op, a, dim, size - 1, 1)}, dim);
    }
  return op.reshape(a, op.resultShape());
}

/// Whether a region is that of jnp.argmax or jnp.argmin: of equal elements it takes the first, and NaN before others.
static bool isOfLargest(Region &region, bool isSmallest) {
  static constexpr StringLiteral kBody[] = {
      "stablehlo.compare", "stablehlo.compare", "stablehlo.or",     "stablehlo.compare", "stablehlo.compare",
      "stablehlo.and",     "stablehlo.or",      "stablehlo.select", "stablehlo.select",  "stablehlo.return"};
  if (!region.hasOneBlock())
    return false;
  SmallVector<StringRef> body;
  for (Operation &each : region.front())
    body.push_back(each.getName().getStringRef());
  return equal(body, kBody) && wordOf(region.front().front().getAttr("comparison_direction"), "comparison_direction") ==
                                   (isSmallest ? "LT" : "GT");
}

/// Reduces floats or integers. The smallest is found as the largest of the negated, or of the complements of integers.
static Value reduced(SourceOp &op, Combiner kind, Value a, ArrayRef<int64_t> dims) {
  auto turned = [&](Value b) {
    return op.isFloatResult() ? op.neg(b) : op.make<arith::XOrIOp>(b, op.constant(tg::typeOf(b), -1));
  };
  switch (kind) {
  case Combiner::Add:
    return op.isFloatResult() ? op.reduce(tg::ReduceKind::Sum, a, dims) : sumOfIntegers(op, dims);
  case Combiner::Multiply:
    return product(op, a, dims);
  case Combiner::Maximum:
    return op.reduce(tg::ReduceKind::Max, a, dims);
  default:
    return turned(op.reduce(tg::ReduceKind::Max, turned(a), dims));
  }
}

/// The largest element, or the smallest, and its position, which jnp.argmax spells as a reduction of pairs.
static Values largest(SourceOp &op) {
  std::optional<SmallVector<int64_t>> dims = reducedDims(op);
  bool isPair = dims && dims->size() == 1 && op.op->getNumResults() == 2 && op.op->getNumRegions() == 1 &&
                op.shape(0) == op.shape(1) && isIndexAlong(op.known(1), dims->front());
  bool isSmallest = isPair && isOfLargest(op.op->getRegion(0), /*isSmallest=*/true);
  if (!isSmallest && !(isPair && isOfLargest(op.op->getRegion(0), /*isSmallest=*/false)))
    return {op.fail("of several operands is supported only as jnp.argmax and jnp.argmin spell it")};
  int64_t dim = dims->front();
  bool isTruth = op.element().isInteger(1);
  RankedTensorType lanes = op.operandType(1);
  Value a = isTruth ? op.convert(op.tensor(0), lanes.getElementType()) : op.tensor(0);
  Value extreme = reduced(op, isSmallest ? Combiner::Minimum : Combiner::Maximum, a, dim);
  Value wide = op.broadcast(extreme, tg::typeOf(a), tg::otherDims({dim}, lanes.getRank()));
  // The extreme is NaN if an element is NaN, and then equal to none.
  Value isFound = op.isFloatResult() ? op.make<arith::OrIOp>(op.compare(arith::CmpFPredicate::OEQ, a, wide),
                                                             op.compare(arith::CmpFPredicate::UNO, a, a))
                                     : op.compare(arith::CmpIPredicate::eq, a, wide);
  auto fromBehind = [&](Value position) {
    return op.make<arith::SubIOp>(op.constantLike(position, static_cast<double>(op.shape(0)[dim] - 1)), position);
  };
  Value behind = op.select(isFound, fromBehind(op.make<tg::IotaOp>(lanes, dim)), op.zeros(lanes));
  Value index = fromBehind(op.reduce(tg::ReduceKind::Max, behind, dim));
  return {isTruth ? op.convert(extreme, op.element()) : extreme, index};
}

static Values reduce(SourceOp &op) {
  if (op.numOperands() == 4)
    return largest(op);
  std::optional<SmallVector<int64_t>> dims = op.numOperands() == 2 ? reducedDims(op) : std::nullopt;
  Type element = op.element();
  if (!dims || op.operandType(0).getElementType() != element || op.operandType(1).getElementType() != element ||
      op.operandType(1).getRank() != 0)
    return {op.fail("the dims do not fit operand and result")};
  std::optional<Combiner> kind = reducerOf(op);
  if (!kind)
    return {op.fail("only sums from 0, products from 1, maxima from -inf, minima from inf, and all or any of truth "
                    "values are supported")};
  Value a = op.tensor(0);
  if (op.operandType(0).getNumElements() == op.resultType().getNumElements())
    return {op.reshape(a, op.resultShape())};
  if (element.isInteger(1))
    return {reduceTruth(op, a, *dims, kind == Combiner::And || kind == Combiner::Minimum)};
  return {reduced(op, *kind, a, *dims)};
}

/// A reduction of a tensor with one known number.
static MaybeKnown evaluateReduce(SourceOp &op) {
  std::optional<SmallVector<int64_t>> dims = op.numOperands() == 2 ? reducedDims(op) : std::nullopt;
  const MaybeKnown &a = op.known(0);
  if (!dims || !a || !reducerOf(op))
    return std::nullopt;
  if (op.operandType(0).getNumElements() == op.resultType().getNumElements())
    return known::reshape(*a, op.resultShape());
  return std::nullopt;
}

/// The k largest of each row.
static Values topK(SourceOp &op) {
  int64_t k = op.integer("k");
  if (op.op->getNumResults() != 2 || op.shape(0).empty() || k < 1 || k > op.shape(0).back() ||
      !isa<FloatType>(op.operandType(0).getElementType()))
    return {op.fail("k is not between 1 and the size of the last dim, or the operand is none of floats")};
  auto top = op.builder.create<tg::TopKOp>(op.loc, op.tensor(0), k);
  return {top.getValues(), top.getIndices()};
}

static constexpr OpRow kReductionRows[] = {
    {"stablehlo.reduce", -2, "dimensions:L", reduce, evaluateReduce,
     "tg.reduce; products of halves; tg.reduce twice for jnp.argmax"},
    {"chlo.top_k", 1, "k:I", topK, nullptr, "tg.top_k"},
};

ArrayRef<OpRow> braid::stablehlo::reductionRows() { return kReductionRows; }
