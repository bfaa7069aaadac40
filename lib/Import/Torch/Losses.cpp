//===- Losses.cpp - losses ------------------------------------------------===//

#include "lib/Import/Torch/Losses.h"
#include "lib/Import/Torch/Indices.h"

using namespace llvm;
using namespace mlir;
using namespace braid;
using namespace braid::torch;

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

/// Reduces the terms of a loss as the call says.
static Value reduced(CallBuilder &call, Value terms) {
  int64_t reduction = call.integer("reduction", Mean);
  if (reduction == None)
    return terms;
  SmallVector<int64_t> dims = tg::dimRange(0, tg::typeOf(terms).getRank());
  return call.reduce(reduction == Sum ? tg::ReduceKind::Sum : tg::ReduceKind::Mean, terms, dims);
}

/// Rows x classes, with rows that a reshape joined taken apart again.
static void takeApart(Value &logits, Value &targets) {
  auto reshape = logits.getDefiningOp<tg::ReshapeOp>();
  if (!reshape)
    return;
  ArrayRef<int64_t> before = shapeOf(reshape.getInput());
  Value rows = before.empty() ? targets : beforeJoin(targets, before.drop_back());
  if (!before.empty() && before.back() == shapeOf(logits).back() && shapeOf(rows) == before.drop_back()) {
    logits = reshape.getInput();
    targets = rows;
  }
}

/// Classes last: dim 1 of a tensor with more than one dim.
static Value classesLast(CallBuilder &call, Value a) {
  int64_t rank = tg::typeOf(a).getRank();
  return rank <= 2 ? a : moveDim(call, a, 1, rank - 1);
}

/// -log_probabilities[target] of each row, times the weight of the class. Rows whose target is ignored are 0, and have
/// no weight in a mean. `smoothing` spreads a share of a row's weight over all classes.
static Value negativeLogs(CallBuilder &call, Value logs, Value targets, double smoothing) {
  int64_t classes = shapeOf(logs).back(), ignored = call.integer("ignore_index", -100);
  RankedTensorType lanes = tg::withShape(tg::typeOf(logs), {classes});
  Value weight = call.has("weight") ? call.tensor("weight") : call.constant(lanes, 1);
  if (weight.getType() != lanes)
    return call.fail("there must be a weight for each class");
  Value counts = call.compare(arith::CmpIPredicate::ne, targets, call.constantLike(targets, ignored));
  Value isTarget = lanesOf(call, targets, classes);
  Value zeros = call.zeros(tg::typeOf(logs)), wide = call.broadcastLanes(weight, logs);
  Value rowWeight = call.reduceLanes(tg::ReduceKind::Sum, call.select(isTarget, wide, zeros));
  Value none = call.zeros(tg::typeOf(rowWeight));
  rowWeight = call.select(counts, rowWeight, none);
  Value weighted = call.mul(wide, logs);
  Value loss = call.neg(call.reduceLanes(tg::ReduceKind::Sum, call.select(isTarget, weighted, zeros)));
  loss = call.select(counts, loss, none);
  if (Value isClass = areInside(call, targets, classes)) // another target makes the loss NaN
    loss = orNan(call, loss, call.make<arith::OrIOp>(isClass, negated(call, counts)));
  if (smoothing != 0) {
    Value even = call.mul(call.neg(call.reduceLanes(tg::ReduceKind::Sum, weighted)), smoothing / classes);
    loss = call.add(call.mul(loss, 1 - smoothing), call.select(counts, even, none));
  }
  int64_t reduction = call.integer("reduction", Mean);
  if (reduction == None)
    return loss;
  Value sum = call.sumAll(loss);
  return reduction == Sum ? sum : call.div(sum, call.sumAll(rowWeight));
}

/// Cross entropy with a probability for each class.
static Value crossEntropyOfProbabilities(CallBuilder &call, Value logs, Value targets, double smoothing) {
  int64_t classes = shapeOf(logs).back(), reduction = call.integer("reduction", Mean);
  if (targets.getType() != logs.getType())
    return call.fail("targets that are probabilities must have the type of the logits");
  if (smoothing != 0)
    targets = call.add(call.mul(targets, 1 - smoothing), smoothing / classes);
  Value terms = call.mul(logs, targets);
  if (call.has("weight")) {
    Value weight = call.tensor("weight");
    if (weight.getType() != tg::withShape(tg::typeOf(logs), {classes}))
      return call.fail("there must be a weight for each class");
    terms = call.mul(terms, call.broadcastLanes(weight, logs));
  }
  Value rows = call.neg(call.reduceLanes(tg::ReduceKind::Sum, terms));
  return reduction == None ? rows : reduced(call, rows);
}

/// Logits have classes in dim 1, or in the only dim. Targets are class numbers or probabilities.
static Values crossEntropy(CallBuilder &call) {
  Value logits = call.tensor("self"), targets = call.tensor("target");
  int64_t reduction = call.integer("reduction", Mean), rank = tg::typeOf(logits).getRank();
  double smoothing = call.number("label_smoothing");
  if (!(smoothing >= 0 && smoothing <= 1))
    return {call.fail("label_smoothing is " + std::to_string(smoothing) + ", and must be from 0 to 1")};
  if (!tg::isFloat(logits) || rank < 1 || reduction < None || reduction > Sum)
    return {call.fail("logits must be floats with classes")};
  auto logs = [&] { return call.sub(logits, call.broadcastRows(logSumExp(call, logits), logits)); };
  logits = classesLast(call, logits);
  if (tg::isFloat(targets))
    return {crossEntropyOfProbabilities(call, logs(), classesLast(call, targets), smoothing)};
  if (shapeOf(targets) != shapeOf(logits).drop_back())
    return {call.fail("targets have another number of rows than the logits, or dims in another order")};
  if (call.has("weight") || reduction == None || rank == 1)
    return {negativeLogs(call, logs(), targets, smoothing)};
  if (rank == 2)
    takeApart(logits, targets);
  int64_t classes = shapeOf(logits).back(), ignored = call.integer("ignore_index", -100);
  tg::LossReduction kind = reduction == Sum ? tg::LossReduction::Sum : tg::LossReduction::Mean;
  // A computed target that is no class makes the loss NaN.
  Value isClass;
  if (!isWithin(targets, classes, ignored)) {
    Value isIgnored = call.compare(arith::CmpIPredicate::eq, targets, call.constantLike(targets, ignored));
    BoundedIndex inside = bounded(call, targets, classes, /*allowsNegative=*/false);
    isClass = call.make<arith::OrIOp>(inside.isInside, isIgnored);
    targets = call.select(isIgnored, targets, inside.index);
  }
  Value loss = crossEntropyOf(call, logits, targets, kind, ignored, smoothing);
  if (!isClass)
    return {loss};
  return {orNan(call, loss,
                negated(call, anyOf(call, negated(call, isClass), tg::dimRange(0, tg::typeOf(isClass).getRank()))))};
}

/// Operands are log-probabilities.
static Values negativeLogLikelihood(CallBuilder &call) {
  Value logs = call.tensor("self"), targets = call.tensor("target");
  if (!tg::isFloat(logs) || tg::typeOf(logs).getRank() < 1)
    return {call.fail("log-probabilities must be floats with classes")};
  logs = classesLast(call, logs);
  if (!tg::typeOf(targets).getElementType().isInteger(32) || shapeOf(targets) != shapeOf(logs).drop_back())
    return {call.fail("targets must have a class number for each row")};
  return {negativeLogs(call, logs, targets, 0)};
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

/// Multiplies the terms of a loss by the weights of its elements, where it has them.
static Value weighted(CallBuilder &call, Value terms) {
  if (!call.has("weight"))
    return terms;
  Value weight = call.expand(call.tensor("weight"), shapeOf(terms));
  return weight && weight.getType() == terms.getType() ? call.mul(terms, weight) : Value();
}

/// Cross entropy of logits. With a weight p of positives it is
/// (1 - y) x + (1 + (p - 1) y) (log(1 + exp(-|x|)) + max(-x, 0)).
static Values binaryCrossEntropy(CallBuilder &call) {
  Value x = call.tensor("self"), y = call.tensor("target"), terms;
  if (x.getType() != y.getType() || !tg::isFloat(x))
    return {call.fail("logits and target have different shapes or types")};
  if (call.has("pos_weight")) {
    Value positive = call.expand(call.convert(call.tensor("pos_weight"), call.resultElement()), shapeOf(x));
    if (!positive)
      return {};
    Value factor = call.add(call.mul(call.add(positive, -1.0), y), 1.0);
    Value tail = call.make<math::Log1pOp>(call.exp(call.neg(call.make<math::AbsFOp>(x))));
    terms = call.add(call.mul(call.sub(call.constantLike(y, 1), y), x),
                     call.mul(factor, call.add(tail, call.max(call.neg(x), 0))));
  } else {
    terms = binaryCrossEntropies(call, x, y);
  }
  terms = weighted(call, terms);
  return {terms ? reduced(call, terms) : call.fail("the weight has another shape or type")};
}

/// Cross entropy of probabilities. Logarithms are at least -100, as in PyTorch.
static Values binaryCrossEntropyOfProbabilities(CallBuilder &call) {
  Value x = call.tensor("self"), y = call.tensor("target");
  if (x.getType() != y.getType() || !tg::isFloat(x))
    return {call.fail("probabilities and target have different shapes or types")};
  auto log = [&](Value a) {
    Value isZero = call.compare(arith::CmpFPredicate::OLE, a, call.constantLike(a, 0));
    Value safe = call.log(call.select(isZero, call.constantLike(a, 1), a));
    return call.select(isZero, call.constantLike(a, -100), safe);
  };
  auto rest = [&](Value a) { return call.sub(call.constantLike(a, 1), a); };
  Value terms = call.add(call.mul(y, log(x)), call.mul(rest(y), log(rest(x))));
  terms = weighted(call, call.neg(terms));
  return {terms ? reduced(call, terms) : call.fail("the weight has another shape or type")};
}

/// y (log(y) - x), which is 0 where y is 0; or exp(y) (y - x) of log-probabilities y.
static Values divergence(CallBuilder &call) {
  Value x = call.tensor("self"), y = call.tensor("target");
  if (x.getType() != y.getType() || !tg::isFloat(x))
    return {call.fail("input and target have different shapes or types")};
  if (call.boolean("log_target"))
    return {reduced(call, call.mul(call.exp(y), call.sub(y, x)))};
  Value isZero = call.compare(arith::CmpFPredicate::OEQ, y, call.constantLike(y, 0));
  Value log = call.log(call.select(isZero, call.constantLike(y, 1), y));
  return {reduced(call, call.mul(y, call.sub(log, x)))};
}

static constexpr OpRow kLossesRows[] = {
    {"aten.cross_entropy_loss.default", "self:T target:T weight:T? reduction:I? ignore_index:I? label_smoothing:N?",
     crossEntropy, nullptr, "tg.cross_entropy, or a sum over lanes"},
    {"aten.nll_loss_nd.default", "self:T target:T weight:T? reduction:I? ignore_index:I?", negativeLogLikelihood,
     nullptr, "a sum over lanes"},
    {"aten.nll_loss.default", "self:T target:T weight:T? reduction:I? ignore_index:I?", negativeLogLikelihood, nullptr,
     "a sum over lanes"},
    {"aten.binary_cross_entropy.default", "self:T target:T weight:T? reduction:I?", binaryCrossEntropyOfProbabilities,
     nullptr, "math.log"},
    {"aten.kl_div.default", "self:T target:T reduction:I? log_target:B?", divergence, nullptr, "math.log"},
    {"aten.l1_loss.default", "self:T target:T reduction:I?", absoluteError, nullptr, "tg.reduce"},
    {"aten.smooth_l1_loss.default", "self:T target:T reduction:I? beta:N?", huber<true>, nullptr, "tg.reduce"},
    {"aten.huber_loss.default", "self:T target:T reduction:I? delta:N?", huber<false>, nullptr, "tg.reduce"},
    {"aten.mse_loss.default", "self:T target:T reduction:I?", squaredError, nullptr, "tg.reduce of squares"},
    {"aten.binary_cross_entropy_with_logits.default", "self:T target:T weight:T? pos_weight:T? reduction:I?",
     binaryCrossEntropy, nullptr, "tg.reduce"},
};

ArrayRef<OpRow> braid::torch::lossRows() { return kLossesRows; }
