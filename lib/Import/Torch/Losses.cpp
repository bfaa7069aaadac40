//===- Losses.cpp - losses ------------------------------------------------===//

#include "lib/Import/Torch/Losses.h"
#include "lib/Import/Torch/Translator.h"

using namespace llvm;
using namespace mlir;
using namespace braid;
using namespace braid::torch;

using Values = SmallVector<Value>;

/// Reductions, numbered as in PyTorch.
enum Reduction { None, Mean, Sum };

/// Returns what a reshape joined, if it left the last dim alone or, for targets, all dims were joined.
static Value beforeJoin(Value a, ArrayRef<int64_t> rows) {
  auto reshape = a.getDefiningOp<tg::ReshapeOp>();
  return reshape && tg::typeOf(reshape.getInput()).getShape() == rows ? reshape.getInput() : a;
}

/// (1 - smoothing) * (lse - x_target) + smoothing * (lse - mean(x)) of each row, with the log-sum-exp lse.
Value braid::torch::crossEntropyOf(tg::TensorBuilder &b, Value logits, Value targets, tg::LossReduction reduction,
                                   int64_t ignoreIndex, double smoothing) {
  Value loss = b.make<tg::CrossEntropyOp>(reduction, logits, targets, ignoreIndex);
  if (smoothing == 0)
    return loss;
  Value even = b.sub(logSumExp(b, logits), b.reduceLanes(tg::ReduceKind::Mean, logits));
  Value counts = b.compare(arith::CmpIPredicate::ne, targets, b.constantLike(targets, ignoreIndex));
  Value sum = b.sumAll(b.select(counts, even, b.zeros(tg::typeOf(even))));
  if (reduction == tg::LossReduction::Mean)
    sum = b.div(sum, b.sumAll(b.convert(counts, tg::typeOf(even).getElementType())));
  return b.add(b.mul(loss, 1 - smoothing), b.mul(sum, smoothing));
}

Value braid::torch::squaredErrors(tg::TensorBuilder &b, Value prediction, Value target) {
  return b.square(b.sub(prediction, target));
}

/// max(x, 0) - x y + log(1 + exp(-|x|)), which does not overflow.
Value braid::torch::binaryCrossEntropies(tg::TensorBuilder &b, Value x, Value y) {
  Value tail = b.log(b.add(b.exp(b.neg(b.make<math::AbsFOp>(x))), 1.0));
  return b.add(b.sub(b.max(x, 0), b.mul(x, y)), tail);
}

/// Targets are class numbers. Rows that a reshape joined are taken apart again.
static Values crossEntropy(CallBuilder &call) {
  Value logits = call.tensor("self"), targets = call.tensor("target");
  int64_t reduction = call.integer("reduction", Mean);
  if (tg::isFloat(targets))
    return {call.fail("targets that are probabilities are not supported; pass class numbers")};
  double smoothing = call.number("label_smoothing");
  if (!(smoothing >= 0 && smoothing <= 1))
    return {call.fail("label_smoothing is " + std::to_string(smoothing) + ", and must be from 0 to 1")};
  if (reduction != Mean && reduction != Sum)
    return {call.fail("reduction='none' is not supported; take 'mean' or 'sum'")};
  ArrayRef<int64_t> shape = tg::typeOf(logits).getShape();
  if (shape.size() != 2 || !tg::isFloat(logits) || tg::typeOf(targets).getShape() != shape.drop_back())
    return {call.fail("logits must be rows x classes, and targets have a number for each row")};
  if (auto reshape = logits.getDefiningOp<tg::ReshapeOp>()) {
    ArrayRef<int64_t> before = tg::typeOf(reshape.getInput()).getShape();
    Value rows = before.empty() ? targets : beforeJoin(targets, before.drop_back());
    if (!before.empty() && before.back() == shape.back() && tg::typeOf(rows).getShape() == before.drop_back()) {
      logits = reshape.getInput();
      targets = rows;
    }
  }
  tg::LossReduction kind = reduction == Sum ? tg::LossReduction::Sum : tg::LossReduction::Mean;
  return {crossEntropyOf(call, logits, targets, kind, call.integer("ignore_index", -100), smoothing)};
}

static Value reduced(CallBuilder &call, Value terms) {
  int64_t reduction = call.integer("reduction", Mean);
  if (reduction == None)
    return terms;
  SmallVector<int64_t> dims = tg::dimRange(0, tg::typeOf(terms).getRank());
  return call.reduce(reduction == Sum ? tg::ReduceKind::Sum : tg::ReduceKind::Mean, terms, dims);
}

static Values squaredError(CallBuilder &call) {
  Value a = call.tensor("self"), b = call.tensor("target");
  if (a.getType() != b.getType() || !tg::isFloat(a))
    return {call.fail("prediction and target have different shapes or types")};
  return {reduced(call, squaredErrors(call, a, b))};
}

static Values absoluteError(CallBuilder &call) {
  Value a = call.tensor("self"), b = call.tensor("target");
  if (a.getType() != b.getType() || !tg::isFloat(a))
    return {call.fail("prediction and target have different shapes or types")};
  return {reduced(call, call.make<math::AbsFOp>(call.sub(a, b)))};
}

/// A square up to a distance, and a line from there on; `smooth_l1` is divided by the distance.
template <bool isSmoothL1> static Values huber(CallBuilder &call) {
  Value a = call.tensor("self"), b = call.tensor("target");
  double bound = call.number(isSmoothL1 ? "beta" : "delta", 1);
  if (a.getType() != b.getType() || !tg::isFloat(a) || bound <= 0)
    return {call.fail("prediction and target have different shapes or types, or the distance is not above 0")};
  Value difference = call.sub(a, b), distance = call.make<math::AbsFOp>(difference);
  Value isNear = call.compare(arith::CmpFPredicate::OLT, distance, call.constantLike(distance, bound));
  double factor = isSmoothL1 ? 1 : bound;
  Value square = call.mul(call.square(difference), 0.5 * factor / bound);
  Value line = call.mul(call.add(distance, -0.5 * bound), factor);
  return {reduced(call, call.select(isNear, square, line))};
}

static Values binaryCrossEntropy(CallBuilder &call) {
  Value x = call.tensor("self"), y = call.tensor("target");
  if (x.getType() != y.getType() || !tg::isFloat(x))
    return {call.fail("logits and target have different shapes or types")};
  return {reduced(call, binaryCrossEntropies(call, x, y))};
}

static constexpr OpRow kLossesRows[] = {
    {"aten.cross_entropy_loss.default", "self:T target:T reduction:I? ignore_index:I? label_smoothing:N?", crossEntropy,
     nullptr, "tg.cross_entropy"},
    {"aten.l1_loss.default", "self:T target:T reduction:I?", absoluteError, nullptr, "tg.reduce"},
    {"aten.smooth_l1_loss.default", "self:T target:T reduction:I? beta:N?", huber<true>, nullptr, "tg.reduce"},
    {"aten.huber_loss.default", "self:T target:T reduction:I? delta:N?", huber<false>, nullptr, "tg.reduce"},
    {"aten.mse_loss.default", "self:T target:T reduction:I?", squaredError, nullptr, "tg.reduce of squares"},
    {"aten.binary_cross_entropy_with_logits.default", "self:T target:T reduction:I?", binaryCrossEntropy, nullptr,
     "tg.reduce"},
};

ArrayRef<OpRow> braid::torch::lossRows() { return kLossesRows; }
