//===- Layers.cpp - norms, softmax, attention -----------------------------===//

#include "lib/Import/Masks.h"
#include "lib/Import/Match.h"
#include "lib/Import/Torch/Translator.h"
#include "llvm/ADT/STLExtras.h"
#include <cmath>

using namespace llvm;
using namespace mlir;
using namespace braid;
using namespace braid::torch;

using Values = SmallVector<Value>;

//===----------------------------------------------------------------------===//
// Norms and softmax
//===----------------------------------------------------------------------===//

/// Whether a norm is over the last dim alone.
static bool isOverLastDim(CallBuilder &call) {
  ArrayRef<int64_t> shape = call.typeOfArgument("input").shape;
  Integers normalized = call.integers("normalized_shape");
  return normalized.size() == 1 && !shape.empty() && normalized[0] == shape.back();
}

/// Returns the scale of a norm, ones if it has none, or null if its size is wrong.
static Value scaleOf(CallBuilder &call, Value input) {
  RankedTensorType type =
      RankedTensorType::get({tg::typeOf(input).getShape().back()}, tg::typeOf(input).getElementType());
  if (!call.has("weight"))
    return call.constant(type, 1);
  Value weight = call.tensor("weight");
  return weight.getType() == type ? weight : Value();
}

static Values layerNorm(CallBuilder &call) {
  Value input = call.tensor("input");
  Value weight = isOverLastDim(call) && tg::isFloat(input) ? scaleOf(call, input) : Value();
  Value bias = call.tensorOrNull("bias");
  if (!weight || (bias && bias.getType() != weight.getType()))
    return {call.fail("the norm is not over the last dim, or its scale or bias has another size")};
  return {call.make<tg::LayerNormOp>(input, weight, bias, call.builder.getF64FloatAttr(call.number("eps", 1e-5)))};
}

static Values rmsNorm(CallBuilder &call) {
  Value input = call.tensor("input");
  Value weight = isOverLastDim(call) && tg::isFloat(input) ? scaleOf(call, input) : Value();
  if (!weight)
    return {call.fail("the norm is not over the last dim, or its scale has another size")};
  double epsilon = call.has("eps") ? call.number("eps") : 1.1920928955078125e-07;
  return {call.make<tg::RmsNormOp>(input, weight, APFloat(epsilon), APFloat(0.0))};
}

/// Replaces a statistic by that of the batch in training, and moves the running one towards `next`. Returns null after
/// an error.
static Value trackStatistic(CallBuilder &call, StringRef running, Value ofBatch, Value next) {
  if (!call.has(running))
    return ofBatch;
  Value old = call.tensor(running);
  double momentum = call.number("momentum");
  Value updated = call.add(call.mul(old, 1 - momentum), call.mul(next, momentum));
  bool isUpdated = call.updateBuffer(running, call.make<tg::InTrainingOp>(updated, old));
  return isUpdated ? Value(call.make<tg::InTrainingOp>(ofBatch, old)) : Value();
}

/// (x - mean) / sqrt(variance + eps) of each channel, with the statistics of the batch in training and otherwise the
/// running ones. The running variance is unbiased.
static Values batchNorm(CallBuilder &call) {
  Value input = call.tensor("input");
  RankedTensorType type = tg::typeOf(input);
  ArrayRef<int64_t> shape = type.getShape();
  if (shape.size() < 2 || !tg::isFloat(input))
    return {call.fail("only of floats with channels")};
  RankedTensorType channels = RankedTensorType::get({shape[1]}, type.getElementType());
  for (StringRef name : {"running_mean", "running_var", "weight", "bias"})
    if (call.has(name) && call.tensor(name).getType() != channels)
      return {call.fail(name + " has another size or type than the channels")};
  auto wide = [&](Value a) { return call.broadcast(a, type, {1}); };
  Value mean = call.tensorOrNull("running_mean"), variance = call.tensorOrNull("running_var");
  if (call.boolean("training")) {
    double count = static_cast<double>(type.getNumElements()) / shape[1];
    if (count == 1)
      return {call.fail("the statistics of one row are not defined; give the norm more rows")};
    SmallVector<int64_t> dims = tg::dimRange(0, shape.size());
    dims.erase(dims.begin() + 1);
    Value ofBatch = call.reduce(tg::ReduceKind::Mean, input, dims), centered = call.sub(input, wide(ofBatch));
    Value spread = call.reduce(tg::ReduceKind::Mean, call.mul(centered, centered), dims);
    mean = trackStatistic(call, "running_mean", ofBatch, ofBatch);
    variance = trackStatistic(call, "running_var", spread, call.mul(spread, count / (count - 1)));
  }
  if (!mean || !variance)
    return {call.hasReported ? Value() : call.fail("it has no running statistics, and is not in training")};
  Value scale = call.rsqrt(call.add(variance, call.number("eps", 1e-5)));
  if (call.has("weight"))
    scale = call.mul(scale, call.tensor("weight"));
  Value result = call.mul(call.sub(input, wide(mean)), wide(scale));
  return {call.has("bias") ? call.add(result, wide(call.tensor("bias"))) : result};
}

static Values softmax(CallBuilder &call) {
  int64_t rank = call.resultType().shape.size(), dim = call.dim("dim", rank);
  if (dim < 0)
    return {};
  Value input = call.convert(call.tensor("self"), call.resultTensor().getElementType());
  if (!tg::isFloat(input))
    return {call.fail("only of floats")};
  SmallVector<int64_t> permutation = tg::dimRange(0, rank);
  std::swap(permutation[dim], permutation[rank - 1]);
  Value last = dim == rank - 1 ? input : call.transpose(input, permutation);
  Value result = call.make<tg::SoftmaxOp>(last);
  return {dim == rank - 1 ? result : call.transpose(result, permutation)};
}

//===----------------------------------------------------------------------===//
// Attention
//===----------------------------------------------------------------------===//

/// Batch x heads x sequence x size as batch x sequence x heads x size.
static Value sequenceFirst(CallBuilder &call, Value a) { return call.transpose(a, {0, 2, 1, 3}); }

/// Returns the mask of a call, or null if tg.attention has no such mask.
static tg::MaskAttr maskOf(CallBuilder &call) {
  MLIRContext *context = call.builder.getContext();
  if (call.boolean("is_causal"))
    return tg::MaskAttr::get(context, true);
  if (!call.has("attn_mask"))
    return tg::MaskAttr::get(context);
  const MaybeKnown &known = call.known("attn_mask");
  return known && !tg::isFloat(call.tensor("attn_mask")) ? recognizeMask(*known, context) : tg::MaskAttr();
}

/// Repeats each head of keys or values for the heads of queries that read it.
static Value repeatHeads(CallBuilder &call, Value a, int64_t repeats) {
  if (repeats == 1)
    return a;
  RankedTensorType type = tg::typeOf(a);
  ArrayRef<int64_t> shape = type.getShape();
  RankedTensorType wide = tg::withShape(type, {shape[0], shape[1], repeats, shape[2], shape[3]});
  return call.reshape(call.broadcast(a, wide, {0, 1, 3, 4}), {shape[0], shape[1] * repeats, shape[2], shape[3]});
}

/// Attention by matrix products, for a mask that depends on inputs or that tg.attention does not have.
static Value attentionByProducts(CallBuilder &call, double scale, double rate) {
  Value q = call.tensor("query"), k = call.tensor("key"), v = call.tensor("value"), mask = call.tensor("attn_mask");
  int64_t repeats = tg::typeOf(q).getDimSize(1) / tg::typeOf(k).getDimSize(1);
  k = repeatHeads(call, k, repeats);
  v = repeatHeads(call, v, repeats);
  Value scores = call.mul(call.contract("bhsd,bhtd->bhst", q, k), scale);
  Value wide = call.expand(mask, tg::typeOf(scores).getShape());
  if (!wide)
    return wide;
  if (tg::isFloat(mask))
    scores = call.add(scores, call.convert(wide, tg::typeOf(scores).getElementType()));
  else
    scores = call.select(wide, scores, call.constantLike(scores, -HUGE_VAL));
  Value weights = call.make<tg::SoftmaxOp>(scores);
  if (rate > 0)
    weights = call.make<tg::DropoutOp>(weights.getType(), weights, call.key(), call.builder.getF64FloatAttr(rate),
                                       call.builder.getI64IntegerAttr(call.nextStream()));
  return call.contract("bhst,bhtd->bhsd", weights, v);
}

static Values attention(CallBuilder &call) {
  Value q = call.tensor("query"), k = match::beforeRepeat(call.tensor("key")),
        v = match::beforeRepeat(call.tensor("value"));
  RankedTensorType query = tg::typeOf(q), key = tg::typeOf(k), value = tg::typeOf(v);
  if (query.getRank() != 4 || key.getRank() != 4 || value.getRank() != 4 || !tg::isFloat(q))
    return {call.fail("query, key and value must have dims batch, heads, sequence and size")};
  auto dividesHeads = [&](StringRef name) {
    return query.getDimSize(1) % tg::typeOf(call.tensor(name)).getDimSize(1) == 0;
  };
  if (!dividesHeads("key") || !dividesHeads("value") || query.getDimSize(1) % key.getDimSize(1) ||
      key.getShape() != value.getShape() || key.getDimSize(0) != query.getDimSize(0) ||
      key.getDimSize(3) != query.getDimSize(3))
    return {call.fail("query, key and value do not fit together")};
  double size = query.getDimSize(3), rate = call.number("dropout_p");
  double factor = call.has("scale") ? call.number("scale") : 1 / std::sqrt(size);
  tg::MaskAttr mask = maskOf(call);
  if (!mask)
    return {attentionByProducts(call, factor, rate)};
  FloatAttr scale = call.builder.getF64FloatAttr(factor);
  q = sequenceFirst(call, q);
  k = sequenceFirst(call, k);
  v = sequenceFirst(call, v);
  Value result;
  if (rate > 0)
    result = call.make<tg::DropoutAttentionOp>(q, k, v, call.key(), Value(), scale, mask, FloatAttr(),
                                               call.builder.getF64FloatAttr(rate),
                                               call.builder.getI64IntegerAttr(call.nextStream()));
  else
    result = call.make<tg::AttentionOp>(q, k, v, Value(), Value(), Value(), scale, mask, FloatAttr());
  return {sequenceFirst(call, result)};
}

static constexpr OpRow kLayersRows[] = {
    {"aten.layer_norm.default", "input:T normalized_shape:IL weight:T? bias:T? eps:N?", layerNorm, nullptr,
     "tg.layer_norm", "cudnn_enable"},
    {"aten.rms_norm.default", "input:T normalized_shape:IL weight:T? eps:N?", rmsNorm, nullptr, "tg.rms_norm"},
    {"aten.batch_norm.default",
     "input:T weight:T? bias:T? running_mean:T? running_var:T? training:B momentum:N? eps:N?", batchNorm, nullptr,
     "arithmetic with the statistics of the batch in training, else the running ones", "cudnn_enabled"},
    {"aten.softmax.int", "self:T dim:I dtype:D?", softmax, nullptr, "tg.softmax"},
    {"aten._softmax.default", "self:T dim:I", softmax, nullptr, "tg.softmax", "half_to_float"},
    {"aten.scaled_dot_product_attention.default",
     "query:T key:T value:T attn_mask:T? dropout_p:N? is_causal:B? scale:N?", attention, nullptr,
     "tg.attention, tg.dropout_attention", "enable_gqa"},
};

ArrayRef<OpRow> braid::torch::layerRows() { return kLayersRows; }
