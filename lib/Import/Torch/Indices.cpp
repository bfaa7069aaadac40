//===- Indices.cpp - elements at computed positions -----------------------===//

#include "lib/Import/Torch/Indices.h"
#include "dialects/TG/ProgramSignature.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/TypeSwitch.h"
#include <cmath>
#include <numeric>

using namespace llvm;
using namespace mlir;
using namespace braid;
using namespace braid::torch;

//===----------------------------------------------------------------------===//
// Ranges of integers
//===----------------------------------------------------------------------===//

static Interval hull(Interval a, Interval b) { return {std::min(a.low, b.low), std::max(a.high, b.high)}; }

static bool wraps(Interval all) { return all.low < INT32_MIN || all.high > INT32_MAX; }

static Interval intervalOfConstant(Value value) {
  DenseIntElementsAttr elements;
  if (!matchPattern(value, m_Constant(&elements)) || elements.empty())
    return {};
  Interval all{INT32_MAX, INT32_MIN};
  auto add = [&](const APInt &number) { all = hull(all, {number.getSExtValue(), number.getSExtValue()}); };
  if (elements.isSplat())
    add(elements.getSplatValue<APInt>());
  else
    llvm::for_each(elements.getValues<APInt>(), add);
  return all;
}

/// Whether an op only moves or repeats elements of its operands.
static bool isMovement(Operation *op) {
  return isa<tg::ReshapeOp, tg::TransposeOp, tg::SliceOp, tg::BroadcastOp, tg::ReorderOp, tg::ConcatOp,
             tg::StopGradientOp>(op);
}

/// Returns the interval of a sum, difference or product as if it had 64 bits, or nothing for other ops.
static std::optional<Interval> wideInterval(Operation *op, Interval a, Interval b) {
  if (isa<arith::AddIOp>(op))
    return Interval{a.low + b.low, a.high + b.high};
  if (isa<arith::SubIOp>(op))
    return Interval{a.low - b.high, a.high - b.low};
  if (!isa<arith::MulIOp>(op))
    return std::nullopt;
  int64_t products[] = {a.low * b.low, a.low * b.high, a.high * b.low, a.high * b.high};
  return Interval{*llvm::min_element(products), *llvm::max_element(products)};
}

/// The interval of a remainder by numbers above 0.
static Interval intervalOfRemainder(Interval a, Interval b) {
  return {a.low >= 0 ? 0 : 1 - b.high, std::min(std::max<int64_t>(a.high, 0), b.high - 1)};
}

/// Returns the interval of what countedFromEnd returns, or that of all integers. `in` has those of a select's operands.
static Interval intervalOfSelect(arith::SelectOp select, ArrayRef<Interval> in) {
  auto isBelow = select.getCondition().getDefiningOp<arith::CmpIOp>();
  auto sum = select.getTrueValue().getDefiningOp<arith::AddIOp>();
  Value index = select.getFalseValue();
  if (!isBelow || !sum || isBelow.getPredicate() != arith::CmpIPredicate::slt || isBelow.getLhs() != index ||
      sum.getLhs() != index || !matchPattern(isBelow.getRhs(), m_Zero()))
    return hull(in[1], in[2]);
  // The sum is taken only of indices below 0.
  Interval size = intervalOfConstant(sum.getRhs()), below{in[2].low, -1},
           rest{std::max<int64_t>(in[2].low, 0), in[2].high};
  if (size.low != size.high || rest.high < 0)
    return hull(in[1], in[2]);
  return in[2].low < 0 ? hull({below.low + size.low, below.high + size.low}, rest) : rest;
}

/// Returns the interval of integers. Follows at most `depth` ops. Inputs and what is not known have the interval
/// `small`; sums and products then have all bits that they need. Without it they wrap around at 32 bits.
static Interval intervalOf(Value value, std::optional<Interval> small, unsigned depth = 12) {
  const Interval unknown = small.value_or(Interval());
  Operation *op = value.getDefiningOp();
  if (!op || depth == 0 || !tg::typeOf(value).getElementType().isInteger(32))
    return unknown;
  SmallVector<Interval> in =
      map_to_vector(op->getOperands(), [&](Value each) { return intervalOf(each, small, depth - 1); });
  auto bits = [&](Interval wide) {
    if (!small)
      return wraps(wide) ? unknown : wide;
    constexpr int64_t kMost = int64_t(1) << 31; // still more than 32 bits, and its square fits
    return Interval{std::max(wide.low, -kMost - 1), std::min(wide.high, kMost)};
  };
  if (isMovement(op))
    return std::accumulate(in.begin() + 1, in.end(), in.front(), hull);
  return llvm::TypeSwitch<Operation *, Interval>(op)
      .Case<arith::ConstantOp>([&](auto) { return intervalOfConstant(value); })
      .Case<tg::IotaOp>([&](tg::IotaOp iota) { return Interval{0, tg::typeOf(value).getDimSize(iota.getDim()) - 1}; })
      .Case<tg::TopKOp>(
          [](tg::TopKOp top) { return Interval{0, tg::typeOf(top->getOperand(0)).getShape().back() - 1}; })
      .Case<tg::ConvertOp>([&](tg::ConvertOp convert) {
        return tg::typeOf(convert.getInput()).getElementType().isInteger(1) ? Interval{0, 1} : unknown;
      })
      .Case<arith::SelectOp>([&](arith::SelectOp select) { return intervalOfSelect(select, in); })
      .Case<arith::AddIOp, arith::SubIOp, arith::MulIOp>(
          [&](Operation *op) { return bits(*wideInterval(op, in[0], in[1])); })
      .Case<arith::RemSIOp>([&](auto) { return in[1].low < 1 ? unknown : intervalOfRemainder(in[0], in[1]); })
      .Case<arith::MaxSIOp>(
          [&](auto) { return Interval{std::max(in[0].low, in[1].low), std::max(in[0].high, in[1].high)}; })
      .Case<arith::MinSIOp>(
          [&](auto) { return Interval{std::min(in[0].low, in[1].low), std::min(in[0].high, in[1].high)}; })
      .Default([&](Operation *) { return unknown; });
}

Interval braid::torch::intervalOf(Value integers) { return ::intervalOf(integers, /*small=*/std::nullopt); }

bool braid::torch::mayWrap(Value result) {
  constexpr int64_t kMostOfInput = int64_t(1) << 21;
  const Interval small{-kMostOfInput, kMostOfInput};
  Operation *op = result.getDefiningOp();
  if (!op || op->getNumOperands() != 2 || !tg::typeOf(result).getElementType().isInteger(32))
    return false;
  auto operand = [&](unsigned number) { return ::intervalOf(op->getOperand(number), small); };
  std::optional<Interval> wide = wideInterval(op, operand(0), operand(1));
  return wide && wraps(*wide);
}

/// Whether indices are provably in [0, size).
static bool isProvablyInside(Value indices, int64_t size) {
  Interval all = intervalOf(indices);
  return all.low >= 0 && all.high < size;
}

bool braid::torch::isWithin(Value indices, int64_t size, std::optional<int64_t> ignored) {
  if (auto argument = dyn_cast<BlockArgument>(indices))
    return !tg::parameterOf(argument);
  if (isProvablyInside(indices, size))
    return true;
  if (ignored && intervalOf(indices).low == *ignored && intervalOf(indices).high == *ignored)
    return true;
  Operation *op = indices.getDefiningOp();
  if (auto pad = dyn_cast_or_null<tg::PadOp>(op)) {
    double value = pad.getValue().convertToDouble();
    if (value != ignored && !(value >= 0 && value < size))
      return false;
  } else if (!op || !isMovement(op)) {
    return false;
  }
  return all_of(op->getOperands(), [&](Value each) { return isWithin(each, size, ignored); });
}

//===----------------------------------------------------------------------===//
// Bounds
//===----------------------------------------------------------------------===//

BoundedIndex braid::torch::bounded(tg::TensorBuilder &b, Value indices, int64_t size, bool allowsNegative,
                                   bool trustsInputs) {
  auto number = [&](int64_t value) { return b.constantLike(indices, static_cast<double>(value)); };
  if (trustsInputs ? isWithin(indices, size) : isProvablyInside(indices, size))
    return {indices, {}};
  if (allowsNegative && intervalOf(indices).low < 0) {
    indices = countedFromEnd(b, indices, number(size));
    if (isProvablyInside(indices, size))
      return {indices, {}};
  }
  Value inside = b.make<arith::MinSIOp>(b.make<arith::MaxSIOp>(indices, number(0)), number(size - 1));
  return {inside, b.compare(arith::CmpIPredicate::eq, indices, inside)};
}

Value braid::torch::areInside(tg::TensorBuilder &b, Value indices, int64_t size) {
  if (isProvablyInside(indices, size))
    return {};
  Value isBelow = b.compare(arith::CmpIPredicate::sle, indices, b.constantLike(indices, size - 1));
  return b.make<arith::AndIOp>(b.compare(arith::CmpIPredicate::sge, indices, b.constantLike(indices, 0)), isBelow);
}

Value braid::torch::countedFromEnd(tg::TensorBuilder &b, Value indices, Value size) {
  Value isBelow = b.compare(arith::CmpIPredicate::slt, indices, b.constantLike(indices, 0));
  return b.select(isBelow, b.make<arith::AddIOp>(indices, size), indices);
}

Value braid::torch::negated(tg::TensorBuilder &b, Value condition) {
  return b.make<arith::XOrIOp>(condition, b.constantLike(condition, 1));
}

Value braid::torch::anyOf(tg::TensorBuilder &b, Value condition, ArrayRef<int64_t> dims) {
  Value most = b.reduce(tg::ReduceKind::Max, b.convert(condition, b.builder.getF32Type()), dims);
  return b.compare(arith::CmpFPredicate::OGT, most, b.zeros(tg::typeOf(most)));
}

Value braid::torch::orNan(tg::TensorBuilder &b, Value value, Value isInside) {
  if (!isInside)
    return value;
  RankedTensorType wide = tg::withElement(tg::typeOf(value), b.builder.getI1Type());
  if (isInside.getType() != wide)
    isInside = b.broadcast(isInside, wide, tg::dimRange(0, tg::typeOf(isInside).getRank()));
  return b.select(isInside, value, b.constantLike(value, NAN));
}

Value braid::torch::rowsAt(CallBuilder &call, Value table, BoundedIndex index) {
  if (index.isInside && !tg::isFloat(table))
    return call.fail("an index of integers is computed and may be outside of the tensor; clamp it");
  SmallVector<int64_t> shape(shapeOf(index.index));
  append_range(shape, shapeOf(table).drop_front());
  if (shapeOf(table).size() != 2)
    table = call.reshape(table, {shapeOf(table).front(), tg::typeOf(table).getNumElements() / shapeOf(table).front()});
  Value picked = call.reshape(call.make<tg::GatherOp>(table, index.index), shape);
  return orNan(call, picked, index.isInside);
}
Value braid::torch::rowsAt(CallBuilder &call, Value table, Value indices, bool allowsNegative) {
  return rowsAt(call, table, bounded(call, indices, shapeOf(table).front(), allowsNegative));
}

//===----------------------------------------------------------------------===//
// Dims and lanes
//===----------------------------------------------------------------------===//

Value braid::torch::swapLast(CallBuilder &call, Value a, int64_t dim) {
  int64_t rank = tg::typeOf(a).getRank();
  if (dim == rank - 1)
    return a;
  SmallVector<int64_t> permutation = tg::dimRange(0, rank);
  std::swap(permutation[dim], permutation[rank - 1]);
  return call.transpose(a, permutation);
}

Value braid::torch::moveDim(CallBuilder &call, Value a, int64_t from, int64_t to) {
  if (from == to)
    return a;
  SmallVector<int64_t> permutation = tg::otherDims({from}, tg::typeOf(a).getRank());
  permutation.insert(permutation.begin() + to, from);
  return call.transpose(a, permutation);
}

Value braid::torch::lanesOf(CallBuilder &call, Value indices, int64_t lanes) {
  SmallVector<int64_t> shape(tg::typeOf(indices).getShape());
  shape.push_back(lanes);
  RankedTensorType wide = tg::withShape(tg::typeOf(indices), shape);
  Value repeated = call.broadcast(indices, wide, tg::dimRange(0, shape.size() - 1));
  return call.compare(arith::CmpIPredicate::eq, repeated, call.make<tg::IotaOp>(wide, shape.size() - 1));
}
