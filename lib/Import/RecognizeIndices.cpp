//===- RecognizeIndices.cpp - rows by an input, and cross entropy ---------===//
//
// JAX counts an index below 0 from the end, and may give NaN where an index is out of bounds. Neither happens to an
// input that indexes a table or the classes of a loss: data are checked against the size when they are read. So these
// cases are left out, exactly where the input itself is the index.
//
//===----------------------------------------------------------------------===//

#include "dialects/TG/ProgramSignature.h"
#include "lib/Import/MatchRows.h"
#include "lib/Import/Recognize.h"

using namespace llvm;
using namespace mlir;
using namespace braid;

/// No target is this number, so that no row is left out.
static constexpr int64_t kNoIgnoredTarget = INT32_MIN;

//===----------------------------------------------------------------------===//
// Indices
//===----------------------------------------------------------------------===//

static Value beforeReshapes(Value value) {
  while (auto reshape = value.getDefiningOp<tg::ReshapeOp>())
    value = reshape.getInput();
  return value;
}

namespace {
/// Where an input differs from a number.
struct Mask {
  BlockArgument input;
  int64_t ignored;
};
} // namespace

/// Returns the argument that a value is, if its indices are checked when data are read; null otherwise.
static BlockArgument dataOf(Value value) {
  auto argument = dyn_cast<BlockArgument>(value);
  return argument && !tg::parameterOf(argument) && !tg::stateOf(argument) ? argument : BlockArgument();
}

/// Returns the mask that a condition is, or a number that is 1 where it holds and 0 elsewhere.
static std::optional<Mask> maskOf(Value value) {
  while (isa_and_present<tg::ReshapeOp, tg::ConvertOp, tg::StopGradientOp>(value.getDefiningOp()))
    value = value.getDefiningOp()->getOperand(0);
  auto differs = value.getDefiningOp<arith::CmpIOp>();
  std::optional<int64_t> number = differs ? match::integerSplat(differs.getRhs()) : std::nullopt;
  BlockArgument input = number ? dataOf(beforeReshapes(differs.getLhs())) : BlockArgument();
  return input && differs.getPredicate() == arith::CmpIPredicate::ne ? std::optional(Mask{input, *number})
                                                                     : std::nullopt;
}

/// Returns x if a value is x moved into [0, size), and else the value.
static Value withoutLimits(Value value, int64_t size) {
  auto low = value.getDefiningOp<arith::MinSIOp>();
  auto high =
      low && match::integerSplat(low.getRhs()) == size - 1 ? low.getLhs().getDefiningOp<arith::MaxSIOp>() : nullptr;
  return high && match::integerSplat(high.getRhs()) == 0 ? high.getLhs() : value;
}

/// Returns the input that an index is, perhaps with `size` added where it is below 0; null if it is no input. Rows
/// whose target is `ignored` do not count, so any number may stand for this target.
static BlockArgument inputOf(Value index, int64_t size, std::optional<int64_t> ignored = std::nullopt) {
  Value value = beforeReshapes(withoutLimits(beforeReshapes(index), size));
  if (auto select = value.getDefiningOp<arith::SelectOp>()) {
    std::optional<Mask> mask = ignored ? maskOf(select.getCondition()) : std::nullopt;
    if (mask && mask->ignored == ignored && beforeReshapes(select.getTrueValue()) == mask->input &&
        match::integerSplat(select.getFalseValue()))
      return mask->input;
    auto isBelow = select.getCondition().getDefiningOp<arith::CmpIOp>();
    auto sum = select.getTrueValue().getDefiningOp<arith::AddIOp>();
    value = select.getFalseValue();
    bool addsSize = sum && sum.getLhs() == value && match::integerSplat(sum.getRhs()) == size;
    if (!addsSize || !isBelow || isBelow.getPredicate() != arith::CmpIPredicate::slt || isBelow.getLhs() != value ||
        match::integerSplat(isBelow.getRhs()) != 0)
      return {};
    return inputOf(value, size, ignored);
  }
  return dataOf(value);
}

/// Whether a condition says that this input, as an index, lies between 0 and size - 1.
static bool isInBounds(Value condition, BlockArgument input, int64_t size,
                       std::optional<int64_t> ignored = std::nullopt) {
  while (isa_and_present<tg::BroadcastOp, tg::ReshapeOp>(condition.getDefiningOp()))
    condition = condition.getDefiningOp()->getOperand(0);
  auto both = condition.getDefiningOp<arith::AndIOp>();
  auto low = both ? both.getLhs().getDefiningOp<arith::CmpIOp>() : nullptr;
  auto high = both ? both.getRhs().getDefiningOp<arith::CmpIOp>() : nullptr;
  return low && high && low.getPredicate() == arith::CmpIPredicate::sge &&
         high.getPredicate() == arith::CmpIPredicate::sle && match::integerSplat(low.getRhs()) == 0 &&
         match::integerSplat(high.getRhs()) == size - 1 && inputOf(low.getLhs(), size, ignored) == input &&
         inputOf(high.getLhs(), size, ignored) == input;
}

/// Returns a value that is NaN where a condition is false; looks through broadcasts of the condition.
static std::pair<Value, Value> orNan(Value value) {
  auto select = value.getDefiningOp<arith::SelectOp>();
  std::optional<double> other = select ? match::splat(select.getFalseValue()) : std::nullopt;
  return other && std::isnan(*other) ? std::pair(select.getTrueValue(), select.getCondition())
                                     : std::pair(value, Value());
}

Value patterns::rowsByInput(Operation *op) {
  if (!isa<tg::GatherOp, arith::SelectOp>(op))
    return {};
  auto [value, condition] = orNan(op->getResult(0));
  auto gather = value.getDefiningOp<tg::GatherOp>();
  if (!gather || (isa<arith::SelectOp>(op) && !condition))
    return {};
  int64_t rows = tg::typeOf(gather.getTable()).getDimSize(0);
  BlockArgument input = inputOf(gather.getIndices(), rows);
  if (!input || (condition && !isInBounds(condition, input, rows)))
    return {};
  if (!condition && beforeReshapes(gather.getIndices()) == input)
    return {};
  OpBuilder builder(op);
  tg::TensorBuilder b(builder, op->getLoc());
  return b.make<tg::GatherOp>(gather.getTable(), b.reshape(input, tg::typeOf(gather.getIndices()).getShape()));
}

//===----------------------------------------------------------------------===//
// Cross entropy
//===----------------------------------------------------------------------===//

namespace {
/// Logits and targets of -log(softmax(logits)[targets]), or of its negation.
struct RowLoss {
  Value logits;
  BlockArgument targets;
  bool isNegated = false;
};
/// An element of each row of a tensor.
struct Picked {
  Value from;
  BlockArgument index;
};
} // namespace

/// Returns x if a value is the log-softmax of x: s - log(sum(exp(s))), where s is x minus its row's maximum.
static Value logSoftmaxOf(Value value) {
  auto difference = value.getDefiningOp<arith::SubFOp>();
  Value row = difference ? match::perRow(difference.getRhs()) : Value();
  auto log = row ? match::beforeOnes(row).getDefiningOp<math::LogOp>() : nullptr;
  Value input = log ? match::reducedLanes(log.getOperand(), tg::ReduceKind::Sum) : Value();
  auto exp = input ? input.getDefiningOp<math::ExpOp>() : nullptr;
  return exp && exp.getOperand() == difference.getLhs() ? match::minusRowMaximum(difference.getLhs()) : Value();
}

/// Returns x if a value of each row is log(sum(exp(x))), or the same of x minus its row's maximum with this added.
static Value logSumExpOf(Value row) {
  Value value = match::beforeOnes(row), found;
  auto withoutMaximum = [](Value value) -> Value {
    auto log = match::beforeOnes(value).getDefiningOp<math::LogOp>();
    Value sum = log ? log.getOperand() : Value();
    if (auto abs = sum ? match::beforeOnes(sum).getDefiningOp<math::AbsFOp>() : nullptr)
      sum = abs.getOperand();
    Value input = sum ? match::reducedLanes(sum, tg::ReduceKind::Sum) : Value();
    auto exp = input ? input.getDefiningOp<math::ExpOp>() : nullptr;
    return exp ? exp.getOperand() : Value();
  };
  match::either<arith::AddFOp>(value, [&](Value log, Value maximum) {
    Value shifted = withoutMaximum(log), x = shifted ? match::minusRowMaximum(shifted) : Value();
    Value subtracted = x ? match::perRow(shifted.getDefiningOp<arith::SubFOp>().getRhs()) : Value();
    found = x && match::beforeOnes(subtracted) == match::beforeOnes(maximum) ? x : Value();
    return found != Value();
  });
  return found ? found : withoutMaximum(value);
}

/// Whether a condition is that the lane equals an input, the same for each lane of a row; returns the input.
static BlockArgument laneIs(Value condition, int64_t lanes, std::optional<int64_t> ignored) {
  auto equal = condition.getDefiningOp<arith::CmpIOp>();
  if (!equal || equal.getPredicate() != arith::CmpIPredicate::eq)
    return {};
  auto look = [&](Value lane, Value index) -> BlockArgument {
    while (isa_and_present<tg::BroadcastOp>(lane.getDefiningOp()))
      lane = lane.getDefiningOp()->getOperand(0);
    auto iota = lane.getDefiningOp<tg::IotaOp>();
    Value row = iota ? match::perRow(index) : Value();
    bool isLast = row && static_cast<int64_t>(iota.getDim()) == tg::typeOf(iota).getRank() - 1 &&
                  tg::typeOf(iota).getShape().back() == lanes;
    return isLast ? inputOf(row, lanes, ignored) : BlockArgument();
  };
  BlockArgument found = look(equal.getLhs(), equal.getRhs());
  return found ? found : look(equal.getRhs(), equal.getLhs());
}

/// Returns the tensor and the index if a value, or a sum of them over all rows, picks the element at an input.
static std::optional<Picked> pickedIn(Value terms, std::optional<int64_t> ignored) {
  int64_t lanes = tg::typeOf(terms).getRank() ? tg::typeOf(terms).getShape().back() : 0;
  if (auto select = terms.getDefiningOp<arith::SelectOp>(); select && match::isSplat(select.getFalseValue(), 0))
    if (BlockArgument index = laneIs(select.getCondition(), lanes, ignored))
      return Picked{select.getTrueValue(), index};
  std::optional<Picked> found;
  match::either<arith::MulFOp>(terms, [&](Value from, Value row) {
    if (auto stop = row.getDefiningOp<tg::StopGradientOp>())
      row = stop.getInput();
    auto convert = row.getDefiningOp<tg::ConvertOp>();
    BlockArgument index = convert ? laneIs(convert.getInput(), lanes, ignored) : BlockArgument();
    if (index)
      found = Picked{from, index};
    return found.has_value();
  });
  return found;
}

/// Reads an element of each row, picked at an input. The element may be NaN where the index is out of bounds.
static std::optional<Picked> pickedOf(Value row, std::optional<int64_t> ignored) {
  auto [value, condition] = orNan(match::beforeOnes(row));
  Value terms = match::reducedLanes(value, tg::ReduceKind::Sum);
  std::optional<Picked> found = terms ? pickedIn(terms, ignored) : std::nullopt;
  if (found && condition && !isInBounds(condition, found->index, tg::typeOf(terms).getShape().back(), ignored))
    return std::nullopt;
  return found;
}

/// Reads the loss of each row.
static std::optional<RowLoss> rowLoss(Value row, std::optional<int64_t> ignored = std::nullopt) {
  Value value = match::beforeOnes(row);
  if (auto negated = value.getDefiningOp<arith::NegFOp>()) {
    std::optional<RowLoss> inner = rowLoss(negated.getOperand(), ignored);
    if (inner)
      inner->isNegated = !inner->isNegated;
    return inner;
  }
  if (auto difference = value.getDefiningOp<arith::SubFOp>()) {
    auto read = [&](Value sum, Value element, bool isNegated) -> std::optional<RowLoss> {
      std::optional<Picked> picked = pickedOf(element, ignored);
      Value x = picked ? logSumExpOf(sum) : Value();
      if (!x || x != picked->from)
        return std::nullopt;
      Value logits = match::minusRowMaximum(x);
      return RowLoss{logits ? logits : x, picked->index, isNegated};
    };
    std::optional<RowLoss> found = read(difference.getLhs(), difference.getRhs(), false);
    return found ? found : read(difference.getRhs(), difference.getLhs(), true);
  }
  std::optional<Picked> picked = pickedOf(value, ignored);
  Value logits = picked ? logSoftmaxOf(picked->from) : Value();
  return logits ? std::optional(RowLoss{logits, picked->index, true}) : std::nullopt;
}

/// Returns what a reshape joined into rows, if its rows have the shape of the targets.
static Value withRowsOf(Value logits, ArrayRef<int64_t> rows) {
  auto reshape = logits.getDefiningOp<tg::ReshapeOp>();
  if (tg::typeOf(logits).getShape().drop_back() == rows || !reshape)
    return logits;
  RankedTensorType before = tg::typeOf(reshape.getInput());
  bool fits = before.getRank() > 0 && before.getShape().drop_back() == rows &&
              before.getShape().back() == tg::typeOf(logits).getShape().back();
  return fits ? reshape.getInput() : logits;
}

/// Returns the loss of all rows in place of `op`, or null if there is another number of targets.
static Value lossOf(Operation *op, const RowLoss &loss, tg::LossReduction kind, int64_t ignored) {
  Value logits = withRowsOf(loss.logits, tg::typeOf(loss.targets).getShape());
  ArrayRef<int64_t> rows = tg::typeOf(logits).getShape().drop_back();
  OpBuilder builder(op);
  tg::TensorBuilder b(builder, op->getLoc());
  if (tg::withShape(tg::typeOf(logits), rows).getNumElements() != tg::typeOf(loss.targets).getNumElements())
    return {};
  Value result = b.make<tg::CrossEntropyOp>(kind, logits, b.reshape(loss.targets, rows), ignored);
  return loss.isNegated ? b.neg(result) : result;
}

/// The sum or mean of all rows' losses.
Value patterns::crossEntropy(Operation *op) {
  auto reduce = dyn_cast<tg::ReduceOp>(op);
  if (!reduce || reduce.getKind() == tg::ReduceKind::Max || tg::typeOf(reduce).getRank() != 0)
    return {};
  std::optional<RowLoss> loss = rowLoss(reduce.getInput());
  if (std::optional<Picked> all =
          loss || reduce.getKind() == tg::ReduceKind::Mean ? std::nullopt : pickedIn(reduce.getInput(), std::nullopt))
    if (Value logits = logSoftmaxOf(all->from))
      loss = RowLoss{logits, all->index, true};
  if (!loss)
    return {};
  auto kind = reduce.getKind() == tg::ReduceKind::Sum ? tg::LossReduction::Sum : tg::LossReduction::Mean;
  return lossOf(op, *loss, kind, kNoIgnoredTarget);
}

/// The operand of a sum of all elements, or null.
static Value summedBy(Value value) {
  auto reduce = value.getDefiningOp<tg::ReduceOp>();
  bool isSum = reduce && reduce.getKind() == tg::ReduceKind::Sum && tg::typeOf(reduce).getRank() == 0;
  return isSum ? reduce.getInput() : Value();
}

/// Returns a number before it was converted, and before 1 took its place if it is less.
static Value beforeAtLeastOne(Value count) {
  auto beforeOne = [&](Value rest, Value one) {
    bool isOne = tg::isFloat(one) ? match::isSplat(one, 1) : match::integerSplat(one) == 1;
    count = isOne ? rest : count;
    return isOne;
  };
  while (isa_and_present<tg::ConvertOp, tg::StopGradientOp>(count.getDefiningOp()) ||
         match::either<arith::MaximumFOp>(count, beforeOne) || match::either<arith::MaxSIOp>(count, beforeOne))
    if (isa_and_present<tg::ConvertOp, tg::StopGradientOp>(count.getDefiningOp()))
      count = count.getDefiningOp()->getOperand(0);
  return count;
}

/// sum(rows' losses where a mask holds) / sum(mask), perhaps divided by at least 1.
Value patterns::maskedCrossEntropy(Operation *op) {
  auto quotient = dyn_cast<arith::DivFOp>(op);
  if (!quotient || tg::typeOf(quotient).getRank() != 0)
    return {};
  Value count = beforeAtLeastOne(quotient.getRhs()), terms = quotient.getLhs();
  auto negated = terms.getDefiningOp<arith::NegFOp>();
  terms = summedBy(negated ? negated.getOperand() : terms);
  Value counted = summedBy(count);
  std::optional<Mask> mask = counted ? maskOf(counted) : std::nullopt;
  if (!terms || !mask)
    return {};
  auto isMask = [&](Value value) {
    std::optional<Mask> other = maskOf(value);
    return other && other->input == mask->input && other->ignored == mask->ignored;
  };
  std::optional<RowLoss> loss;
  if (auto select = match::beforeOnes(terms).getDefiningOp<arith::SelectOp>();
      select && match::isSplat(select.getFalseValue(), 0) && isMask(select.getCondition()))
    loss = rowLoss(select.getTrueValue(), mask->ignored);
  match::either<arith::MulFOp>(match::beforeOnes(terms), [&](Value row, Value factor) {
    loss = isMask(factor) ? rowLoss(row, mask->ignored) : loss;
    return loss.has_value();
  });
  if (!loss || loss->targets != mask->input)
    return {};
  loss->isNegated ^= negated != nullptr;
  return lossOf(op, *loss, tg::LossReduction::Mean, mask->ignored);
}

/// The sum of rows' losses over their number is their mean; what is negated twice is not negated.
Value patterns::meanLoss(Operation *op) {
  if (auto outer = dyn_cast<arith::NegFOp>(op)) {
    auto inner = outer.getOperand().getDefiningOp<arith::NegFOp>();
    return inner ? inner.getOperand() : Value();
  }
  auto divide = dyn_cast<arith::DivFOp>(op);
  auto negated = divide ? divide.getLhs().getDefiningOp<arith::NegFOp>() : nullptr;
  auto loss = divide ? (negated ? negated.getOperand() : divide.getLhs()).getDefiningOp<tg::CrossEntropyOp>() : nullptr;
  std::optional<double> count = loss ? match::splat(divide.getRhs()) : std::nullopt;
  if (!loss || loss.getReduction() != tg::LossReduction::Sum || loss.getIgnoreIndex() != uint64_t(kNoIgnoredTarget) ||
      count != static_cast<double>(tg::typeOf(loss.getTargets()).getNumElements()))
    return {};
  OpBuilder builder(op);
  tg::TensorBuilder b(builder, op->getLoc());
  Value result =
      b.make<tg::CrossEntropyOp>(tg::LossReduction::Mean, loss.getLogits(), loss.getTargets(), kNoIgnoredTarget);
  return negated ? b.neg(result) : result;
}
