//===- Lion.cpp - EvoLved Sign Momentum (Chen et al. 2023, Algorithm 2) ---===//
//
//   p -= lr (sign(beta1 m + (1-beta1) g) + weight_decay p);  m = beta2 m + (1-beta2) g
//
// The sign step moves each element by lr, whatever the size of its gradient. The paper uses
// an lr 3 to 10 times smaller than AdamW's, and a weight decay larger by the same factor.
//
//===----------------------------------------------------------------------===//

#include "dialects/TG/Optimizer.h"

using namespace mlir;
using namespace braid::tg;

namespace {
constexpr Hyperparameter kHyperparameters[] = {{"beta1", 0.9, kFraction}, {"beta2", 0.99, kFraction}, kWeightDecay};
constexpr StringLiteral kStates[] = {"exp_avg"};

/// Returns 1 or -1. The sign of 0 and of NaN is the value itself.
Value signOf(TensorBuilder &t, Value x) {
  Value zero = t.constantLike(x, 0.0);
  Value orNegative = t.select(t.compare(arith::CmpFPredicate::OLT, x, zero), t.constantLike(x, -1.0), x);
  return t.select(t.compare(arith::CmpFPredicate::OGT, x, zero), t.constantLike(x, 1.0), orNegative);
}

Value interpolate(TensorBuilder &t, Value mean, Value gradient, double beta) {
  return t.add(t.mul(mean, beta), t.mul(gradient, 1.0 - beta));
}

SmallVector<Value> update(TensorBuilder &t, const UpdateValues &u) {
  Value direction = signOf(t, interpolate(t, u.states[0], u.gradient, u["beta1"]));
  if (double decay = u["weight_decay"])
    direction = t.add(direction, t.mul(u.param, decay));
  Value param = t.sub(u.param, t.mul(t.broadcastScalar(u.lr, u.param), direction));
  return {param, interpolate(t, u.states[0], u.gradient, u["beta2"])};
}

void updateElement(UpdateNumbers &u) {
  double beta1 = u["beta1"], beta2 = u["beta2"], &mean = u.states[0];
  double mixed = beta1 * mean + (1 - beta1) * u.gradient;
  double sign = mixed > 0 ? 1 : mixed < 0 ? -1 : mixed;
  u.param -= u.lr * (sign + u["weight_decay"] * u.param);
  mean = beta2 * mean + (1 - beta2) * u.gradient;
}

constexpr Optimizer kOptimizers[] = {{"lion", kStates, kHyperparameters, false, 12, update, updateElement}};
} // namespace

ArrayRef<Optimizer> optimizers::Lion() { return kOptimizers; }
