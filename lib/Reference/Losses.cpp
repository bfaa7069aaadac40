//===- Losses.cpp - cross entropy and the target count --------------------===//

#include "dialects/TG/TG.h"
#include "lib/Reference/Rows.h"
#include <cmath>

using namespace mlir;
using namespace braid;
using namespace braid::reference;

static int64_t countTargets(const Tensor &targets, int64_t ignored) {
  return llvm::count_if(targets.elements, [&](Element e) { return e.i != ignored; });
}

/// Returns the divisor of a mean loss, at least 1: the mean of no losses is 0.
static int64_t divisorOfMean(const Tensor &targets, int64_t ignored) {
  return std::max<int64_t>(countTargets(targets, ignored), 1);
}

static Tensor evaluateCount(tg::CountOp op, const Operands &in) {
  Tensor n(op.getResult().getType());
  const Tensor &targets = in(op.getTargets());
  int64_t count = countTargets(targets, op.getIgnoreIndex());
  n.f(0) = count + (targets.size() - count) * op.getIgnoredWeight().convertToDouble();
  return n;
}

/// Fails unless all targets are classes or `ignored`.
static LogicalResult checkTargets(Operation *op, const Tensor &targets, int64_t classes, int64_t ignored) {
  for (int64_t i = 0; i < targets.size(); ++i)
    if (targets.n(i) != ignored && (targets.n(i) < 0 || targets.n(i) >= classes))
      return op->emitError() << "target " << targets.n(i) << " at place " << i << " is neither one of the " << classes
                             << " classes nor the ignored index " << ignored;
  return success();
}

static Results evaluateCrossEntropy(tg::CrossEntropyOp op, const Operands &in) {
  const Tensor &logits = in(op.getLogits()), &targets = in(op.getTargets());
  Tensor loss(op.getLoss().getType()), lse(op.getLse().getType());
  int64_t classes = logits.shape.back(), ignored = op.getIgnoreIndex();
  if (failed(checkTargets(op, targets, classes, ignored)))
    return failure();
  for (int64_t row = 0; row < targets.size(); ++row) {
    lse.f(row) = logSumExp(classes, [&](int64_t c) { return logits.f(row * classes + c); });
    if (targets.n(row) != ignored)
      loss.f(0) += lse.f(row) - logits.f(row * classes + targets.n(row));
  }
  if (op.getReduction() == tg::LossReduction::Mean)
    loss.f(0) /= divisorOfMean(targets, ignored);
  return results(std::move(loss), std::move(lse));
}

static Results evaluateCrossEntropyGrad(tg::CrossEntropyGradOp op, const Operands &in) {
  const Tensor &logits = in(op.getLogits()), &targets = in(op.getTargets()), &lse = in(op.getLse());
  Tensor dlogits(op.getResult().getType());
  int64_t classes = logits.shape.back(), ignored = op.getIgnoreIndex();
  if (failed(checkTargets(op, targets, classes, ignored)))
    return failure();
  double scale = in(op.getGradient()).f(0);
  if (op.getReduction() == tg::LossReduction::Mean)
    scale /= divisorOfMean(targets, ignored);
  for (int64_t row = 0; row < targets.size(); ++row) {
    if (targets.n(row) == ignored)
      continue;
    for (int64_t c = 0; c < classes; ++c) {
      double probability = std::exp(logits.f(row * classes + c) - lse.f(row));
      dlogits.f(row * classes + c) = scale * (probability - (c == targets.n(row)));
    }
  }
  return results(std::move(dlogits));
}

void braid::reference::addLosses(OpTable &table) {
  table.addAll(evaluateCount, evaluateCrossEntropy, evaluateCrossEntropyGrad);
}
