//===- RecognizeIndices.cpp - rows by an input, and cross entropy ---------===//
//
// JAX counts an index below 0 from the end, and may give NaN where an index is out of bounds. Neither happens to an
// input that indexes a table or the classes of a loss: data are checked against the size when they are read. So these
// cases are left out, exactly where the input itself is the index.
//
//===----------------------------------------------------------------------===//

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

/// Returns the input that an index is, perhaps with `size` added where it is below 0; null if it is no input.
static BlockArgument inputOf(Value index, int64_t size) {
  Value value = beforeReshapes(index);
  if (auto select = value.getDefiningOp<arith::SelectOp>()) {
    auto isBelow = select.getCondition().getDefiningOp<arith::CmpIOp>();
    auto sum = select.getTrueValue().getDefiningOp<arith::AddIOp>();
    value = select.getFalseValue();
    bool addsSize = sum && sum.getLhs() == value && match::integerSplat(sum.getRhs()) == size;
    if (!addsSize || !isBelow || isBelow.getPredicate() != arith::CmpIPredicate::slt || isBelow.getLhs() != value ||
        match::integerSplat(isBelow.getRhs()) != 0)
      return {};
    value = beforeReshapes(value);
  }
  return dyn_cast<BlockArgument>(value);
}

/// Whether a condition says that this input, as an index, lies between 0 and size - 1.
static bool isInBounds(Value condition, BlockArgument input, int64_t size) {
  while (isa_and_present<tg::BroadcastOp, tg::ReshapeOp>(condition.getDefiningOp()))
    condition = condition.getDefiningOp()->getOperand(0);
  auto both = condition.getDefiningOp<arith::AndIOp>();
  auto low = both ? both.getLhs().getDefiningOp<arith::CmpIOp>() : nullptr;
  auto high = both ? both.getRhs().getDefiningOp<arith::CmpIOp>() : nullptr;
  return low && high && low.getPredicate() == arith::CmpIPredicate::sge &&
         high.getPredicate() == arith::CmpIPredicate::sle && match::integerSplat(low.getRhs()) == 0 &&
         match::integerSplat(high.getRhs()) == size - 1 && inputOf(low.getLhs(), size) == input &&
         inputOf(high.getLhs(), size) == input;
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
    found = x && match::isRowMaximum(maximum, x) ? x : Value();
    return found != Value();
  });
  return found ? found : withoutMaximum(value);
}

/// Whether a condition is that the lane equals an input, the same for each lane of a row; returns the input.
static BlockArgument laneIs(Value condition, int64_t lanes) {
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
    return isLast ? inputOf(row, lanes) : BlockArgument();
  };
  BlockArgument found = look(equal.getLhs(), equal.getRhs());
  return found ? found : look(equal.getRhs(), equal.getLhs());
}

/// Returns the tensor and the index if a value, or a sum of them over all rows, picks the element at an input.
static std::optional<Picked> pickedIn(Value terms) {
  int64_t lanes = tg::typeOf(terms).getRank() ? tg::typeOf(terms).getShape().back() : 0;
  if (auto select = terms.getDefiningOp<arith::SelectOp>(); select && match::isSplat(select.getFalseValue(), 0))
    if (BlockArgument index = laneIs(select.getCondition(), lanes))
      return Picked{select.getTrueValue(), index};
  std::optional<Picked> found;
  match::either<arith::MulFOp>(terms, [&](Value from, Value row) {
    auto convert = row.getDefiningOp<tg::ConvertOp>();
    BlockArgument index = convert ? laneIs(convert.getInput(), lanes) : BlockArgument();
    if (index)
      found = Picked{from, index};
    return found.has_value();
  });
  return found;
}

/// Returns the element of each row that a value is, which may be NaN where the index is out of bounds.
static std::optional<Picked> pickedOf(Value row) {
  auto [value, condition] = orNan(match::beforeOnes(row));
  Value terms = match::reducedLanes(value, tg::ReduceKind::Sum);
  std::optional<Picked> found = terms ? pickedIn(terms) : std::nullopt;
  if (found && condition && !isInBounds(condition, found->index, tg::typeOf(terms).getShape().back()))
    return std::nullopt;
  return found;
}

/// Reads the loss of each row.
static std::optional<RowLoss> rowLoss(Value row) {
  Value value = match::beforeOnes(row);
  if (auto negated = value.getDefiningOp<arith::NegFOp>()) {
    std::optional<RowLoss> inner = rowLoss(negated.getOperand());
    if (inner)
      inner->isNegated = !inner->isNegated;
    return inner;
  }
  if (auto difference = value.getDefiningOp<arith::SubFOp>()) {
    auto read = [&](Value sum, Value element, bool isNegated) -> std::optional<RowLoss> {
      std::optional<Picked> picked = pickedOf(element);
      Value x = picked ? logSumExpOf(sum) : Value();
      if (!x || x != picked->from)
        return std::nullopt;
      Value logits = match::minusRowMaximum(x);
      return RowLoss{logits ? logits : x, picked->index, isNegated};
    };
    std::optional<RowLoss> found = read(difference.getLhs(), difference.getRhs(), false);
    return found ? found : read(difference.getRhs(), difference.getLhs(), true);
  }
  std::optional<Picked> picked = pickedOf(value);
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

/// The sum or mean of all rows' losses.
Value patterns::crossEntropy(Operation *op) {
  auto reduce = dyn_cast<tg::ReduceOp>(op);
  if (!reduce || reduce.getKind() == tg::ReduceKind::Max || tg::typeOf(reduce).getRank() != 0)
    return {};
  std::optional<RowLoss> loss = rowLoss(reduce.getInput());
  if (std::optional<Picked> all =
          loss || reduce.getKind() == tg::ReduceKind::Mean ? std::nullopt : pickedIn(reduce.getInput()))
    if (Value logits = logSoftmaxOf(all->from))
      loss = RowLoss{logits, all->index, true};
  if (!loss)
    return {};
  Value logits = withRowsOf(loss->logits, tg::typeOf(loss->targets).getShape());
  ArrayRef<int64_t> rows = tg::typeOf(logits).getShape().drop_back();
  OpBuilder builder(op);
  tg::TensorBuilder b(builder, op->getLoc());
  if (tg::withShape(tg::typeOf(logits), rows).getNumElements() != tg::typeOf(loss->targets).getNumElements())
    return {};
  auto kind = reduce.getKind() == tg::ReduceKind::Sum ? tg::LossReduction::Sum : tg::LossReduction::Mean;
  Value result = b.make<tg::CrossEntropyOp>(kind, logits, b.reshape(loss->targets, rows), kNoIgnoredTarget);
  return loss->isNegated ? b.neg(result) : result;
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
