//===- Sgd.cpp - stochastic gradient descent, plain and with momentum -----===//
//
//   g += weight_decay p;  m = momentum m + g;  p -= lr d
//
// where d is g (sgd, which has no m), m (momentum) or g + momentum m (nesterov).
//
//===----------------------------------------------------------------------===//

#include "dialects/TG/Optimizer.h"

using namespace mlir;
using namespace braid::tg;

namespace {
constexpr Range kMomentumRange{"above 0 and below 1 (sgd has no momentum)", [](double x) { return x > 0 && x < 1; }};
constexpr Hyperparameter kPlain[] = {kWeightDecay};
constexpr Hyperparameter kWithMomentum[] = {{"momentum", 0.9, kMomentumRange}, kWeightDecay};
constexpr StringLiteral kBuffer[] = {"momentum_buffer"};

template <bool hasMomentum, bool isNesterov> SmallVector<Value> update(TensorBuilder &t, const UpdateValues &u) {
  Value lr = t.broadcastScalar(u.lr, u.param), gradient = u.gradient;
  if (double decay = u["weight_decay"])
    gradient = t.add(gradient, t.mul(u.param, decay));
  if constexpr (!hasMomentum)
    return {t.sub(u.param, t.mul(lr, gradient))};
  Value velocity = t.add(t.mul(u.states[0], u["momentum"]), gradient);
  Value direction = isNesterov ? t.add(gradient, t.mul(velocity, u["momentum"])) : velocity;
  return {t.sub(u.param, t.mul(lr, direction)), velocity};
}

template <bool hasMomentum, bool isNesterov> void updateElement(UpdateNumbers &u) {
  double gradient = u.gradient + u["weight_decay"] * u.param, direction = gradient;
  if constexpr (hasMomentum) {
    double &velocity = u.states[0];
    velocity = u["momentum"] * velocity + gradient;
    direction = isNesterov ? gradient + u["momentum"] * velocity : velocity;
  }
  u.param -= u.lr * direction;
}

constexpr Optimizer kOptimizers[] = {
    {"sgd", {}, kPlain, false, 4, update<false, false>, updateElement<false, false>},
    {"momentum", kBuffer, kWithMomentum, false, 6, update<true, false>, updateElement<true, false>},
    {"nesterov", kBuffer, kWithMomentum, false, 6, update<true, true>, updateElement<true, true>},
};
} // namespace

ArrayRef<Optimizer> optimizers::Sgd() { return kOptimizers; }
