//===- Optimizers.cpp - parameter updates ---------------------------------===//

#include "dialects/TG/Optimizer.h"
#include "lib/Reference/OpTable.h"
#include <cmath>

using namespace mlir;
using namespace braid;
using namespace braid::reference;

/// Updates element by element, with the optimizer's definition on numbers.
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

//===----------------------------------------------------------------------===//
// 8-bit numbers
//===----------------------------------------------------------------------===//

/// Returns the number of a code, as a fraction of the largest number of its block.
static double numberOfCode(int64_t code) { return std::copysign(std::pow(code / 127.0, 4), code); }

/// Returns the code of a number above 0 and up to 1: the last code that is not above it, or the next one.
static int64_t codeOf(double part, double threshold) {
  int64_t code = 0;
  while (code < 126 && numberOfCode(code + 1) <= part)
    ++code;
  double fraction = (part - numberOfCode(code)) / (numberOfCode(code + 1) - numberOfCode(code));
  return std::max<int64_t>(threshold < fraction ? code + 1 : code, 1);
}

static Results evaluateQuantize(tg::QuantizeOp op, const Operands &in) {
  const Tensor &x = in(op.getInput()), &threshold = in(op.getThreshold());
  Tensor codes(op.getCodes().getType()), scales(op.getScales().getType());
  int64_t block = op.getBlock();
  for (int64_t first = 0, number = 0; first < x.size(); first += block, ++number) {
    double largest = 0;
    for (int64_t i = first; i < first + block; ++i)
      if (double size = std::abs(x.f(i)); size > largest || std::isnan(size))
        largest = size;
    scales.f(number) = largest / std::pow(127.0, 4);
    for (int64_t i = first; i < first + block; ++i)
      if (double size = std::abs(x.f(i)); size > 0)
        codes.n(i) =
            std::signbit(x.f(i)) ? -codeOf(size / largest, threshold.f(i)) : codeOf(size / largest, threshold.f(i));
  }
  return results(std::move(codes), std::move(scales));
}

static Tensor evaluateDequantize(tg::DequantizeOp op, const Operands &in) {
  const Tensor &codes = in(op.getCodes()), &scales = in(op.getScales());
  Tensor x(op.getResult().getType());
  int64_t block = codes.size() / scales.size();
  for (int64_t i = 0; i < codes.size(); ++i)
    x.f(i) = std::copysign(std::pow(codes.n(i), 4), codes.n(i)) * scales.f(i / block);
  return x;
}

void braid::reference::addOptimizers(OpTable &table) {
  table.addAll(evaluateQuantize, evaluateDequantize, evaluateUpdate, evaluateGlobalNorm);
}
