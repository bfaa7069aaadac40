//===- TGDecompose.cpp - definitions of activations, norms and rope -------===//
//
// Defines composites by primitives. The formulas stay fusable: row statistics are
// reductions of the last dim, which are broadcast back to the rows, and a weight
// gradient is one sum over all rows.
//
//===----------------------------------------------------------------------===//

#include "dialects/TG/TGBuilder.h"
#include "dialects/TG/ValueNames.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace braid::tg;

namespace {
/// Narrows each value to the type of the op's result.
SmallVector<Value> narrow(TensorBuilder &t, Operation *op, ArrayRef<Value> values) {
  SmallVector<Value> narrowed;
  for (auto [value, type] : llvm::zip_equal(values, op->getResultTypes()))
    narrowed.push_back(t.convert(value, cast<RankedTensorType>(type).getElementType()));
  return narrowed;
}
} // namespace

//===----------------------------------------------------------------------===//
// Activations
//===----------------------------------------------------------------------===//

/// sqrt(2/pi) and the cubic coefficient of GELU's tanh approximation.
static constexpr double kGeluSlope = 0.79788456080286535588, kGeluCubic = 0.044715;
static constexpr double kInvSqrt2Pi = 0.39894228040143267794;

/// tanh(sqrt(2/pi) (x + 0.044715 x^3)).
static Value geluTanh(TensorBuilder &t, Value x) {
  Value inner = t.add(t.mul(t.square(x), kGeluCubic), 1.0);
  return t.tanh(t.mul(t.mul(x, inner), kGeluSlope));
}

/// Returns the cumulative normal distribution function of x.
static Value normalCdf(TensorBuilder &t, Value x) {
  return t.mul(t.add(t.erf(t.mul(x, llvm::numbers::inv_sqrt2)), 1.0), 0.5);
}

SmallVector<Value> GeluOp::decompose(OpBuilder &builder) {
  TensorBuilder t(builder, originOf(*this));
  Value x = t.widen(getInput());
  Value y = getKind() == GeluKind::Erf ? t.mul(x, normalCdf(t, x)) : t.mul(t.mul(x, 0.5), t.add(geluTanh(t, x), 1.0));
  return narrow(t, *this, y);
}

SmallVector<Value> GeluGradOp::decompose(OpBuilder &builder) {
  TensorBuilder t(builder, originOf(*this));
  Value x = t.widen(getInput()), dy = t.widen(getGradient()), slope;
  if (getKind() == GeluKind::Erf) {
    Value density = t.mul(t.exp(t.mul(t.square(x), -0.5)), kInvSqrt2Pi);
    slope = t.add(normalCdf(t, x), t.mul(x, density));
  } else {
    Value th = geluTanh(t, x);
    Value dinner = t.mul(t.add(t.mul(t.square(x), 3 * kGeluCubic), 1.0), kGeluSlope);
    Value sech2 = t.sub(t.constantLike(x, 1.0), t.square(th));
    slope = t.add(t.mul(t.add(th, 1.0), 0.5), t.mul(t.mul(t.mul(x, 0.5), sech2), dinner));
  }
  return narrow(t, *this, t.mul(dy, slope));
}

/// Returns 1 + exp(-x).
static Value siluDivisor(TensorBuilder &t, Value x) { return t.add(t.exp(t.neg(x)), 1.0); }

SmallVector<Value> SiluOp::decompose(OpBuilder &builder) {
  TensorBuilder t(builder, originOf(*this));
  Value x = t.widen(getInput());
  return narrow(t, *this, t.div(x, siluDivisor(t, x)));
}

SmallVector<Value> SiluGradOp::decompose(OpBuilder &builder) {
  TensorBuilder t(builder, originOf(*this));
  Value x = t.widen(getInput()), dy = t.widen(getGradient());
  Value one = t.constantLike(x, 1.0), sigmoid = t.div(one, siluDivisor(t, x));
  Value slope = t.mul(sigmoid, t.add(t.mul(x, t.sub(one, sigmoid)), 1.0));
  return narrow(t, *this, t.mul(dy, slope));
}

/// A select rather than a maximum, which would pass half of the gradient at 0.
SmallVector<Value> ReluOp::decompose(OpBuilder &builder) {
  TensorBuilder t(builder, originOf(*this));
  Value x = getInput(), zero = t.constantLike(x, 0.0);
  return {t.select(t.compare(arith::CmpFPredicate::OLE, x, zero), zero, x)};
}

SmallVector<Value> DropoutOp::buildInference(OpBuilder &) { return {getInput()}; }

SmallVector<Value> DropoutOp::decompose(OpBuilder &builder) {
  TensorBuilder t(builder, originOf(*this));
  Value x = t.widen(getInput());
  double rate = getRate().convertToDouble();
  Value uniform = t.make<RandomUniformOp>(x.getType(), getKey(), getStream());
  Value kept = t.compare(arith::CmpFPredicate::OGE, uniform, t.constantLike(x, rate));
  Value y = t.select(kept, t.mul(x, 1.0 / (1.0 - rate)), t.constantLike(x, 0.0));
  return narrow(t, *this, y);
}

//===----------------------------------------------------------------------===//
// Softmax and norms
//===----------------------------------------------------------------------===//

SmallVector<Value> SoftmaxOp::decompose(OpBuilder &builder) {
  TensorBuilder t(builder, originOf(*this));
  Value x = t.widen(getInput());
  Value max = named("largest", t.reduceLanes(ReduceKind::Max, x));
  Value e = named("power", t.exp(t.sub(x, t.broadcastRows(max, x))));
  Value sum = named("divisor", t.reduceLanes(ReduceKind::Sum, e));
  return narrow(t, *this, t.div(e, t.broadcastRows(sum, x)));
}

SmallVector<Value> SoftmaxGradOp::decompose(OpBuilder &builder) {
  TensorBuilder t(builder, originOf(*this));
  Value y = t.widen(getOutput()), dy = t.widen(getGradient());
  Value dot = t.reduceLanes(ReduceKind::Sum, t.mul(y, dy));
  return narrow(t, *this, t.mul(y, t.sub(dy, t.broadcastRows(dot, y))));
}

SmallVector<Value> LayerNormOp::decompose(OpBuilder &builder) {
  TensorBuilder t(builder, originOf(*this));
  Value x = t.widen(getInput()), weight = t.widen(getWeight());
  Value mean = named("mean", t.reduceLanes(ReduceKind::Mean, x));
  Value centred = named("centred", t.sub(x, t.broadcastRows(mean, x)));
  Value variance = named("variance", t.reduceLanes(ReduceKind::Mean, t.square(centred)));
  Value rstd = named("rstd", t.rsqrt(t.add(variance, getEps().convertToDouble())));
  Value y = t.mul(t.mul(centred, t.broadcastRows(rstd, x)), named("gamma", t.broadcastLanes(weight, x)));
  if (getBias())
    y = t.add(y, named("beta", t.broadcastLanes(t.widen(getBias()), x)));
  SmallVector<Value> results = narrow(t, *this, {named("normalized", y), mean, rstd});
  return {named("normalized", results[0]), named("mean", results[1]), named("rstd", results[2])};
}

SmallVector<Value> LayerNormGradOp::decompose(OpBuilder &builder) {
  TensorBuilder t(builder, originOf(*this));
  Value x = t.widen(getInput()), weight = t.widen(getWeight()), dy = t.widen(getGradient());
  Value rstd = named("rstd", t.broadcastRows(t.widen(getRstd()), x));
  Value normal = named("x_hat", t.mul(t.sub(x, named("mean", t.broadcastRows(t.widen(getMean()), x))), rstd));
  Value scaled = named("dx_hat", t.mul(dy, named("gamma", t.broadcastLanes(weight, x))));
  Value meanScaled = named("mean_dx_hat", t.reduceLanes(ReduceKind::Mean, scaled));
  Value meanDot = named("mean_dot", t.reduceLanes(ReduceKind::Mean, t.mul(scaled, normal)));
  Value inner = t.sub(t.sub(scaled, t.broadcastRows(meanScaled, x)), t.mul(normal, t.broadcastRows(meanDot, x)));
  SmallVector<Value> results = narrow(t, *this, {t.mul(rstd, inner), t.sumRows(t.mul(dy, normal)), t.sumRows(dy)});
  return {named("dx", results[0]), named("dgamma", results[1]), named("dbeta", results[2])};
}

/// Returns the factor by which a norm multiplies each row of `x`.
static Value gammaOf(TensorBuilder &t, Value weight, const APFloat &offset, Value x) {
  Value gamma = named("gamma", t.broadcastLanes(t.widen(weight), x));
  return offset.isZero() ? gamma : t.add(gamma, offset.convertToDouble());
}

SmallVector<Value> RmsNormOp::decompose(OpBuilder &builder) {
  TensorBuilder t(builder, originOf(*this));
  Value x = t.widen(getInput());
  Value meanSquare = named("mean_square", t.reduceLanes(ReduceKind::Mean, t.square(x)));
  Value rrms = named("rrms", t.rsqrt(t.add(meanSquare, getEps().convertToDouble())));
  Value y = t.mul(t.mul(x, t.broadcastRows(rrms, x)), gammaOf(t, getWeight(), getOffset(), x));
  SmallVector<Value> results = narrow(t, *this, {named("normalized", y), rrms});
  return {named("normalized", results[0]), named("rrms", results[1])};
}

SmallVector<Value> RmsNormGradOp::decompose(OpBuilder &builder) {
  TensorBuilder t(builder, originOf(*this));
  Value x = t.widen(getInput()), dy = t.widen(getGradient());
  Value rrms = named("rrms", t.broadcastRows(t.widen(getRrms()), x));
  Value normal = named("x_hat", t.mul(x, rrms));
  Value scaled = named("dx_hat", t.mul(dy, gammaOf(t, getWeight(), getOffset(), x)));
  Value meanDot = named("mean_dot", t.reduceLanes(ReduceKind::Mean, t.mul(scaled, normal)));
  Value inner = t.sub(scaled, t.mul(normal, t.broadcastRows(meanDot, x)));
  SmallVector<Value> results = narrow(t, *this, {t.mul(rrms, inner), t.sumRows(t.mul(dy, normal))});
  return {named("dx", results[0]), named("dgamma", results[1])};
}

//===----------------------------------------------------------------------===//
// Rotary embedding
//===----------------------------------------------------------------------===//

/// Applies `scaling` to the frequencies. The undivided share of a frequency grows with its number of turns.
static Value scaleFrequencies(TensorBuilder &t, Value frequencies, RopeScalingAttr scaling) {
  double factor = scaling.getFactor().convertToDouble();
  if (scaling.isLinear())
    return t.mul(frequencies, 1 / factor);
  double low = scaling.getLow().convertToDouble(), high = scaling.getHigh().convertToDouble();
  double turns = scaling.getPositions() / (2 * M_PI);
  Value grown = t.mul(t.add(t.mul(frequencies, turns), -low), 1 / (high - low));
  Value kept = t.make<arith::MinimumFOp>(t.max(grown, 0.0), t.constantLike(grown, 1.0));
  return t.mul(frequencies, t.add(t.mul(kept, 1 - 1 / factor), 1 / factor));
}

/// Returns the angle of each position and pair, `[sequence, half]`, for a half of type `type`.
static Value ropeAngles(TensorBuilder &t, RankedTensorType type, double theta, RopeScalingAttr scaling) {
  int64_t half = type.getDimSize(3);
  RankedTensorType table = withShape(type, {type.getDimSize(1), half});
  Type integer = t.builder.getI32Type(), element = type.getElementType();
  Value shape = t.constant(table, -std::log(theta) / half);
  Value position = t.convert(t.iota(shape, 0, integer), element);
  Value pair = t.convert(t.iota(shape, 1, integer), element);
  Value frequencies = t.exp(t.mul(pair, shape));
  return t.mul(position, scaling ? scaleFrequencies(t, frequencies, scaling) : frequencies);
}

/// The halves are sliced from the stored tensor and concatenated in the stored type, so
/// a kernel that widens and narrows in between moves each element once.
SmallVector<Value> RopeOp::decompose(OpBuilder &builder) {
  TensorBuilder t(builder, originOf(*this));
  Type stored = getInput().getType().getElementType();
  int64_t size = getType().getDimSize(3), turnedSize = getTurned(), half = turnedSize / 2;
  Value first = t.widen(t.slice(getInput(), 3, 0, half)), second = t.widen(t.slice(getInput(), 3, half, half));
  Value angles = ropeAngles(t, typeOf(first), getTheta().convertToDouble(), getScalingAttr());
  auto overBatchAndHeads = [&](Value table) { return t.broadcast(table, typeOf(first), {1, 3}); };
  Value cos = overBatchAndHeads(t.cos(angles));
  Value sin = overBatchAndHeads(getInverse() ? t.neg(t.sin(angles)) : t.sin(angles));
  Value turnedFirst = t.sub(t.mul(first, cos), t.mul(second, sin));
  Value turnedSecond = t.add(t.mul(second, cos), t.mul(first, sin));
  SmallVector<Value, 3> parts = {t.convert(turnedFirst, stored), t.convert(turnedSecond, stored)};
  if (turnedSize < size)
    parts.push_back(t.slice(getInput(), 3, turnedSize, size - turnedSize));
  return {t.make<ConcatOp>(ValueRange(parts), /*dim=*/3)};
}

SmallVector<Value> ReorderOp::decompose(OpBuilder &builder) {
  TensorBuilder t(builder, getLoc());
  int64_t dim = getDim(), size = getType().getDimSize(dim) / static_cast<int64_t>(getOrder().size());
  SmallVector<Value> blocks =
      llvm::map_to_vector(getOrder(), [&](int64_t block) { return t.slice(getInput(), dim, block * size, size); });
  return {t.make<ConcatOp>(blocks, dim)};
}
