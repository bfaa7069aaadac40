//===- Adam.cpp - Adam (Kingma & Ba 2015), AdamW (Loshchilov & Hutter 2019) ===//
//
//   m = beta1 m + (1-beta1) g;  v = beta2 v + (1-beta2) g²
//   p -= lr (m / (1-beta1^t) / (sqrt(v / (1-beta2^t)) + eps) + weight_decay p)
//
// at step t.  Adam adds the decay to g instead.
//
//===----------------------------------------------------------------------===//

#include "dialects/TG/Optimizer.h"
#include "dialects/TG/ValueNames.h"
#include <cmath>

using namespace mlir;
using namespace braid::tg;

namespace {
constexpr Hyperparameter kHyperparameters[] = {
    {"beta1", 0.9, kFraction}, {"beta2", 0.999, kFraction}, {"eps", 1e-8, kNotNegative}, kWeightDecay};
constexpr StringLiteral kStates[] = {"exp_avg", "exp_avg_sq"};

/// Returns 1 - beta^step.
Value biasCorrection(TensorBuilder &t, double beta, Value step) {
  return t.sub(t.constantLike(step, 1.0), t.pow(t.constantLike(step, beta), step));
}

template <bool isDecoupled> SmallVector<Value> update(TensorBuilder &t, const UpdateValues &u) {
  double beta1 = u["beta1"], beta2 = u["beta2"], decay = u["weight_decay"];
  Value gradient = u.gradient;
  if (decay != 0.0 && !isDecoupled)
    gradient = t.add(gradient, t.mul(u.param, decay));
  Value mean = t.add(t.mul(u.states[0], beta1), t.mul(gradient, 1.0 - beta1));
  Value variance = t.add(t.mul(u.states[1], beta2), t.mul(t.square(gradient), 1.0 - beta2));

  // The scalars lr / (1 - beta1^t) and 1 / sqrt(1 - beta2^t) are computed once for all elements.
  Value step = t.convert(u.step, typeOf(u.lr).getElementType());
  Value stepSize = named("step_size", t.div(u.lr, biasCorrection(t, beta1, step)));
  Value rootScale = named("root_scale", t.rsqrt(biasCorrection(t, beta2, step)));

  Value divisor = t.add(t.mul(t.sqrt(variance), t.broadcastScalar(rootScale, u.param)), u["eps"]);
  Value kept = u.param;
  if (decay != 0.0 && isDecoupled)
    kept = t.sub(kept, t.mul(kept, t.broadcastScalar(t.mul(u.lr, decay), kept)));
  return {t.sub(kept, t.div(t.mul(mean, t.broadcastScalar(stepSize, kept)), divisor)), mean, variance};
}

template <bool isDecoupled> void updateElement(UpdateNumbers &u) {
  double beta1 = u["beta1"], beta2 = u["beta2"], decay = u["weight_decay"], &mean = u.states[0], &square = u.states[1];
  double gradient = u.gradient + (isDecoupled ? 0 : decay * u.param);
  mean = beta1 * mean + (1 - beta1) * gradient;
  square = beta2 * square + (1 - beta2) * gradient * gradient;
  double correction1 = 1 - std::pow(beta1, u.step), correction2 = 1 - std::pow(beta2, u.step);
  double direction = mean / correction1 / (std::sqrt(square / correction2) + u["eps"]);
  u.param -= u.lr * (direction + (isDecoupled ? decay * u.param : 0));
}

constexpr Optimizer kOptimizers[] = {
    {"adam", kStates, kHyperparameters, true, 15, update<false>, updateElement<false>},
    {"adamw", kStates, kHyperparameters, true, 15, update<true>, updateElement<true>},
};
} // namespace

ArrayRef<Optimizer> optimizers::Adam() { return kOptimizers; }
