//===- Optimizers.cpp - parameter updates ---------------------------------===//

#include "dialects/TG/Optimizer.h"
#include "lib/Reference/OpTable.h"
#include <cmath>

using namespace mlir;
using namespace braid;
using namespace braid::reference;

/// Element by element, as the optimizer defines it on numbers.
static Results evaluateUpdate(tg::UpdateOp op, const Operands &in) {
  const tg::Optimizer &optimizer = tg::optimizerOf(op);
  SmallVector<Tensor> made{in(op.getParam())};
  for (Value state : op.getStates())
    made.push_back(in(state));
  const Tensor &gradient = in(op.getGradient());
  tg::UpdateNumbers u{{op.getHyperparameters()}};
  u.lr = in(op.getLr()).f(0);
  u.step = op.getStep() ? in(op.getStep()).n(0) : 0;
  for (int64_t i = 0; i < gradient.size(); ++i) {
    u.param = made[0].f(i);
    u.gradient = gradient.f(i);
    u.states.clear();
    for (const Tensor &state : ArrayRef(made).drop_front())
      u.states.push_back(state.f(i));
    optimizer.updateElement(u);
    made[0].f(i) = u.param;
    for (auto [state, number] : llvm::zip(MutableArrayRef(made).drop_front(), u.states))
      state.f(i) = number;
  }
  return made;
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
  table.add(evaluateUpdate);
  table.add(evaluateGlobalNorm);
}
