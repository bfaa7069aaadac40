//===- Activations.cpp - GELU, SiLU, ReLU, dropout, softmax, rope ---------===//

#include "dialects/TG/TG.h"
#include "lib/Reference/OpTable.h"
#include "lib/Reference/Rows.h"
#include <cmath>
#include <numbers>

using namespace mlir;
using namespace braid;
using namespace braid::reference;

//===----------------------------------------------------------------------===//
// GELU, SiLU and ReLU
//===----------------------------------------------------------------------===//

static constexpr double kTanhScale = 0.79788456080286535588; // sqrt(2 / pi)
static constexpr double kTanhCubic = 0.044715;

double braid::reference::gelu(bool tanhForm, double x) {
  if (tanhForm)
    return 0.5 * x * (1 + std::tanh(kTanhScale * (x + kTanhCubic * x * x * x)));
  return 0.5 * x * std::erfc(-x / std::numbers::sqrt2);
}

double braid::reference::geluDerivative(bool tanhForm, double x) {
  if (tanhForm) {
    double t = std::tanh(kTanhScale * (x + kTanhCubic * x * x * x));
    return 0.5 * (1 + t) + 0.5 * x * (1 - t * t) * kTanhScale * (1 + 3 * kTanhCubic * x * x);
  }
  double density = std::exp(-0.5 * x * x) / std::sqrt(2 * std::numbers::pi);
  return 0.5 * std::erfc(-x / std::numbers::sqrt2) + x * density;
}

double braid::reference::silu(double x) { return x / (1 + std::exp(-x)); }

static double siluDerivative(double x) {
  double s = 1 / (1 + std::exp(-x));
  return s * (1 + x * (1 - s));
}

/// Applies `function` to each element of `x`.
static Tensor mapped(Tensor x, function_ref<double(double)> function) {
  for (Element &e : x.elements)
    e.f = function(e.f);
  return x;
}

/// Multiplies each element of `gradient` by the derivative at the element of `x`.
static Tensor chained(Tensor gradient, const Tensor &x, function_ref<double(double)> derivative) {
  for (int64_t i = 0; i < x.size(); ++i)
    gradient.f(i) *= derivative(x.f(i));
  return gradient;
}

static Tensor evaluateGelu(tg::GeluOp op, const Operands &in) {
  return mapped(in(op.getInput()), [&](double x) { return gelu(op.getKind() == tg::GeluKind::Tanh, x); });
}

static Tensor evaluateGeluGrad(tg::GeluGradOp op, const Operands &in) {
  return chained(in(op.getGradient()), in(op.getInput()),
                 [&](double x) { return geluDerivative(op.getKind() == tg::GeluKind::Tanh, x); });
}

static Tensor evaluateSilu(tg::SiluOp op, const Operands &in) { return mapped(in(op.getInput()), silu); }

static Tensor evaluateSiluGrad(tg::SiluGradOp op, const Operands &in) {
  return chained(in(op.getGradient()), in(op.getInput()), siluDerivative);
}

static Tensor evaluateRelu(tg::ReluOp op, const Operands &in) {
  return mapped(in(op.getInput()), [](double x) { return x <= 0 ? 0 : x; });
}

//===----------------------------------------------------------------------===//
// Dropout
//===----------------------------------------------------------------------===//

static Tensor evaluateDropout(tg::DropoutOp op, const Operands &in) {
  Tensor y = in(op.getInput());
  double rate = op.getRate().convertToDouble();
  Tensor uniform(y.shape, y.elementType);
  fillUniform(in(op.getKey()), op.getStream(), uniform);
  // The comparison is done in the element type, to which the rate is rounded, too.
  double threshold = roundTo(y.elementType, rate);
  uniform.round();
  for (int64_t i = 0; i < y.size(); ++i)
    y.f(i) = uniform.f(i) >= threshold ? y.f(i) / (1 - rate) : 0;
  return y;
}

//===----------------------------------------------------------------------===//
// Softmax
//===----------------------------------------------------------------------===//

static Tensor evaluateSoftmax(tg::SoftmaxOp op, const Operands &in) {
  Tensor y = in(op.getInput());
  int64_t width = y.shape.back();
  for (int64_t row = 0; row < y.size(); row += width) {
    double largest = -INFINITY, sum = 0;
    for (int64_t j = 0; j < width; ++j)
      largest = std::max(largest, y.f(row + j));
    for (int64_t j = 0; j < width; ++j)
      sum += y.f(row + j) = std::exp(y.f(row + j) - largest);
    for (int64_t j = 0; j < width; ++j)
      y.f(row + j) /= sum;
  }
  return y;
}

static Tensor evaluateSoftmaxGrad(tg::SoftmaxGradOp op, const Operands &in) {
  const Tensor &y = in(op.getOutput());
  Tensor dx = in(op.getGradient());
  int64_t width = y.shape.back();
  for (int64_t row = 0; row < y.size(); row += width) {
    double sum = 0;
    for (int64_t j = 0; j < width; ++j)
      sum += y.f(row + j) * dx.f(row + j);
    for (int64_t j = 0; j < width; ++j)
      dx.f(row + j) = y.f(row + j) * (dx.f(row + j) - sum);
  }
  return dx;
}

//===----------------------------------------------------------------------===//
// Rotary embedding
//===----------------------------------------------------------------------===//

/// Returns a frequency scaled as in Llama 3.1: by wavelength, with two thresholds.
static double scaledFrequency(double frequency, tg::RopeScalingAttr scaling) {
  double factor = scaling.getFactor().convertToDouble();
  if (scaling.isLinear())
    return frequency / factor;
  double low = scaling.getLow().convertToDouble(), high = scaling.getHigh().convertToDouble();
  double wavelength = 2 * M_PI / frequency, positions = scaling.getPositions();
  if (wavelength < positions / high)
    return frequency;
  if (wavelength > positions / low)
    return frequency / factor;
  double smooth = (positions / wavelength - low) / (high - low);
  return (1 - smooth) * frequency / factor + smooth * frequency;
}

static Tensor evaluateRope(tg::RopeOp op, const Operands &in) {
  const Tensor &x = in(op.getInput());
  Tensor y = x;
  int64_t sequence = x.shape[1], heads = x.shape[2], size = x.shape[3], half = op.getTurned() / 2;
  double theta = op.getTheta().convertToDouble();
  for (int64_t row = 0; row < x.size() / size; ++row) {
    int64_t position = row / heads % sequence;
    for (int64_t i = 0; i < half; ++i) {
      double frequency = std::pow(theta, -static_cast<double>(i) / half);
      double angle = position * (op.getScaling() ? scaledFrequency(frequency, *op.getScaling()) : frequency);
      if (op.getInverse())
        angle = -angle;
      double first = x.f(row * size + i), second = x.f(row * size + half + i);
      y.f(row * size + i) = first * std::cos(angle) - second * std::sin(angle);
      y.f(row * size + half + i) = second * std::cos(angle) + first * std::sin(angle);
    }
  }
  return y;
}

void braid::reference::addActivations(OpTable &table) {
  table.addAll(evaluateGelu, evaluateGeluGrad, evaluateSilu, evaluateSiluGrad, evaluateRelu, evaluateDropout,
               evaluateSoftmax, evaluateSoftmaxGrad, evaluateRope);
}
