//===- Reductions.cpp - sums, maxima, the largest -------------------------===//

#include "lib/Import/StableHLO/Translator.h"
#include "llvm/ADT/STLExtras.h"
#include <cmath>

using namespace llvm;
using namespace mlir;
using namespace braid;
using namespace braid::stablehlo;

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

/// Returns the op that combines two elements; empty if the region does anything else.
static StringRef combiner(SourceOp &op) {
  if (op.op->getNumRegions() != 1 || !op.op->getRegion(0).hasOneBlock())
    return "";
  Block &body = op.op->getRegion(0).front();
  if (body.getNumArguments() != 2 || body.getOperations().size() != 2)
    return "";
  Operation &first = body.front(), &last = body.back();
  bool isCombiner = equal(first.getOperands(), body.getArguments()) && first.getNumResults() == 1 &&
                    equal(last.getOperands(), first.getResults());
  return isCombiner ? first.getName().getStringRef() : "";
}

/// Whether a first value changes nothing.
static bool isNeutral(std::optional<double> first, StringRef kind, Type element) {
  if (element.isInteger(1))
    return first == (kind == "stablehlo.and" || kind == "stablehlo.minimum" ? 1.0 : 0.0);
  return (kind == "stablehlo.add" && first == 0.0) || (kind == "stablehlo.maximum" && first == -HUGE_VAL) ||
         (kind == "stablehlo.minimum" && first == HUGE_VAL);
}

/// All or any of truth values: the largest of 0 and 1.
static Value reduceTruth(SourceOp &op, Value a, ArrayRef<int64_t> dims, bool isAll) {
  auto negated = [&](Value b) { return op.make<arith::XOrIOp>(b, op.constant(tg::typeOf(b), 1)); };
  Value numbers = op.convert(isAll ? negated(a) : a, op.builder.getF32Type());
  Value most = op.reduce(tg::ReduceKind::Max, numbers, dims);
  Value any = op.compare(arith::CmpFPredicate::OGT, most, op.zeros(tg::typeOf(most)));
  return isAll ? negated(any) : any;
}

/// The largest element and its position, which jnp.argmax spells as a reduction of pairs.
static Values largest(SourceOp &op) {
  std::optional<SmallVector<int64_t>> dims = reducedDims(op);
  static constexpr StringLiteral kBody[] = {
      "stablehlo.compare", "stablehlo.compare", "stablehlo.or",     "stablehlo.compare", "stablehlo.compare",
      "stablehlo.and",     "stablehlo.or",      "stablehlo.select", "stablehlo.select",  "stablehlo.return"};
  bool isArgmax = dims && dims->size() == 1 && op.op->getNumResults() == 2 && op.op->getNumRegions() == 1 &&
                  op.op->getRegion(0).hasOneBlock() && isa<FloatType>(op.operandType(0).getElementType());
  SmallVector<StringRef> body;
  if (isArgmax)
    for (Operation &each : op.op->getRegion(0).front())
      body.push_back(each.getName().getStringRef());
  isArgmax =
      isArgmax && equal(body, kBody) &&
      wordOf(op.op->getRegion(0).front().front().getAttr("comparison_direction"), "comparison_direction") == "GT";
  const MaybeKnown &positions = op.known(1);
  const Affine *affine = positions ? positions->affine() : nullptr;
  for (auto [dim, factor] : enumerate(affine && isArgmax ? ArrayRef(affine->factors) : ArrayRef<int64_t>()))
    isArgmax &= factor == (static_cast<int64_t>(dim) == dims->front() && positions->shape[dim] != 1);
  if (!isArgmax || !affine || affine->constant != 0 || op.shape(0) != op.shape(1))
    return {op.fail("of several operands is supported only as jnp.argmax spells it")};
  SmallVector<int64_t> order = tg::otherDims(*dims, op.shape(0).size());
  order.push_back(dims->front());
  auto top = op.builder.create<tg::TopKOp>(op.loc, op.transposed(op.tensor(0), order), 1);
  return {op.reshape(top.getValues(), op.resultType(0).getShape()),
          op.reshape(top.getIndices(), op.resultType(1).getShape())};
}

static Values reduce(SourceOp &op) {
  if (op.numOperands() == 4)
    return largest(op);
  std::optional<SmallVector<int64_t>> dims = op.numOperands() == 2 ? reducedDims(op) : std::nullopt;
  StringRef kind = combiner(op);
  Type element = op.element();
  if (!dims || op.operandType(0).getElementType() != element || op.operandType(1).getElementType() != element ||
      op.operandType(1).getRank() != 0)
    return {op.fail("the dims do not fit operand and result")};
  if (!isNeutral(op.known(1) ? op.known(1)->splat() : std::nullopt, kind, element))
    return {op.fail("only sums from 0, maxima from -inf, minima from inf, and all or any of truth values are "
                    "supported")};
  Value a = op.tensor(0);
  if (op.operandType(0).getNumElements() == op.resultType().getNumElements())
    return {op.reshape(a, op.resultShape())};
  if (element.isInteger(1))
    return {reduceTruth(op, a, *dims, kind == "stablehlo.and" || kind == "stablehlo.minimum")};
  if (!op.isFloatResult())
    return {op.fail("of integers is supported only of values that do not depend on inputs")};
  if (kind == "stablehlo.minimum")
    return {op.neg(op.reduce(tg::ReduceKind::Max, op.neg(a), *dims))};
  return {op.reduce(kind == "stablehlo.add" ? tg::ReduceKind::Sum : tg::ReduceKind::Max, a, *dims)};
}

/// A reduction of a tensor with one known number.
static MaybeKnown evaluateReduce(SourceOp &op) {
  std::optional<SmallVector<int64_t>> dims = op.numOperands() == 2 ? reducedDims(op) : std::nullopt;
  const MaybeKnown &a = op.known(0), &first = op.known(1);
  if (!dims || !a || !first || !isNeutral(first->splat(), combiner(op), op.element()))
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
    {"stablehlo.reduce", -1, "dimensions:L", reduce, evaluateReduce, "tg.reduce; tg.top_k for jnp.argmax"},
    {"chlo.top_k", 1, "k:I", topK, nullptr, "tg.top_k"},
};

ArrayRef<OpRow> braid::stablehlo::reductionRows() { return kReductionRows; }
