//===- Layers.cpp - norms, softmax, attention -----------------------------===//

#include "lib/Import/Masks.h"
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

/// Returns keys or values before their heads were repeated, if each was repeated so that neighbors are equal.
static Value beforeRepeat(Value a) {
  auto reshape = a.getDefiningOp<tg::ReshapeOp>();
  auto broadcast = reshape ? reshape.getInput().getDefiningOp<tg::BroadcastOp>() : nullptr;
  if (!broadcast || tg::typeOf(broadcast).getRank() != 5)
    return a;
  ArrayRef<int64_t> wide = tg::typeOf(broadcast).getShape(), joined = tg::typeOf(a).getShape();
  RankedTensorType before = tg::typeOf(broadcast.getInput());
  bool joinsHeads =
      joined.size() == 4 && joined[0] == wide[0] && joined[1] == wide[1] * wide[2] && joined[2] == wide[3];
  bool repeatsThird = ArrayRef(broadcast.getDims()) == ArrayRef<int64_t>({0, 1, 3, 4}) &&
                      before.getShape() == ArrayRef<int64_t>({wide[0], wide[1], wide[3], wide[4]});
  return joinsHeads && repeatsThird ? broadcast.getInput() : a;
}

/// Returns the mask of a call, or null after an error.
static tg::MaskAttr maskOf(CallBuilder &call, int64_t queries, int64_t keys) {
  MLIRContext *context = call.builder.getContext();
  if (call.boolean("is_causal"))
    return tg::MaskAttr::get(context, true);
  if (!call.has("attn_mask"))
    return tg::MaskAttr::get(context);
  const MaybeKnown &known = call.known("attn_mask");
  tg::MaskAttr mask = known ? recognizeMask(*known, context) : tg::MaskAttr();
  if (!mask)
    call.fail("the mask depends on inputs, or is none of: all keys, causal, causal with a sliding window");
  return mask;
}

static Values attention(CallBuilder &call) {
  Value q = call.tensor("query"), k = beforeRepeat(call.tensor("key")), v = beforeRepeat(call.tensor("value"));
  RankedTensorType query = tg::typeOf(q), key = tg::typeOf(k), value = tg::typeOf(v);
  if (query.getRank() != 4 || key.getRank() != 4 || value.getRank() != 4 || !tg::isFloat(q))
    return {call.fail("query, key and value must have dims batch, heads, sequence and size")};
  if (query.getDimSize(1) % key.getDimSize(1) || key.getShape() != value.getShape() ||
      key.getDimSize(0) != query.getDimSize(0) || key.getDimSize(3) != query.getDimSize(3))
    return {call.fail("query, key and value do not fit together")};
  tg::MaskAttr mask = maskOf(call, query.getDimSize(2), key.getDimSize(2));
  if (!mask)
    return {};
  double size = query.getDimSize(3), rate = call.number("dropout_p");
  FloatAttr scale = call.builder.getF64FloatAttr(call.has("scale") ? call.number("scale") : 1 / std::sqrt(size));
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
    {"aten.softmax.int", "self:T dim:I dtype:D?", softmax, nullptr, "tg.softmax"},
    {"aten._softmax.default", "self:T dim:I", softmax, nullptr, "tg.softmax", "half_to_float"},
    {"aten.scaled_dot_product_attention.default",
     "query:T key:T value:T attn_mask:T? dropout_p:N? is_causal:B? scale:N?", attention, nullptr,
     "tg.attention, tg.dropout_attention", "enable_gqa"},
};

ArrayRef<OpRow> braid::torch::layerRows() { return kLayersRows; }
