//===- Optimizers.cpp - parameter updates ---------------------------------===//

#include "dialects/TG/TG.h"
#include "lib/Reference/OpTable.h"
#include <cmath>

using namespace mlir;
using namespace braid;
using namespace braid::reference;

static Results evaluateSgd(tg::SgdOp op, const Operands &in) {
  Tensor p = in(op.getParam());
  const Tensor &gradient = in(op.getGradient());
  const Tensor *velocity = in.optional(op.getVelocity());
  double lr = in(op.getLr()).f(0), momentum = op.getMomentum().convertToDouble();
  double decay = op.getWeightDecay().convertToDouble();
  Tensor m = velocity ? *velocity : Tensor();
  for (int64_t i = 0; i < p.size(); ++i) {
    double g = gradient.f(i) + decay * p.f(i);
    double direction = g;
    if (velocity) {
      m.f(i) = momentum * m.f(i) + g;
      direction = op.getNesterov() ? g + momentum * m.f(i) : m.f(i);
    }
    p.f(i) -= lr * direction;
  }
  return velocity ? results(std::move(p), std::move(m)) : results(std::move(p));
}

static Results evaluateAdam(tg::AdamOp op, const Operands &in) {
  Tensor p = in(op.getParam()), m = in(op.getMean()), v = in(op.getVariance());
  const Tensor &gradient = in(op.getGradient());
  double lr = in(op.getLr()).f(0), beta1 = op.getBeta1().convertToDouble(), beta2 = op.getBeta2().convertToDouble();
  double eps = op.getEps().convertToDouble(), decay = op.getWeightDecay().convertToDouble();
  int64_t step = in(op.getStep()).n(0);
  double correction1 = 1 - std::pow(beta1, step), correction2 = 1 - std::pow(beta2, step);
  for (int64_t i = 0; i < p.size(); ++i) {
    double g = gradient.f(i) + (op.getDecoupled() ? 0 : decay * p.f(i));
    m.f(i) = beta1 * m.f(i) + (1 - beta1) * g;
    v.f(i) = beta2 * v.f(i) + (1 - beta2) * g * g;
    double direction = m.f(i) / correction1 / (std::sqrt(v.f(i) / correction2) + eps);
    p.f(i) -= lr * (direction + (op.getDecoupled() ? decay * p.f(i) : 0));
  }
  return results(std::move(p), std::move(m), std::move(v));
}

static Tensor evaluateGlobalNorm(tg::GlobalNormOp op, const Operands &in) {
  double squares = 0;
  for (unsigned k = 0; k < in.size(); ++k)
    for (Element e : in[k].elements)
      squares += e.f * e.f;
  Tensor norm(cast<RankedTensorType>(op.getResult().getType()));
  norm.f(0) = std::sqrt(squares);
  return norm;
}

void braid::reference::addOptimizers(OpTable &table) {
  table.add(evaluateSgd);
  table.add(evaluateAdam);
  table.add(evaluateGlobalNorm);
}
