//===- Layers.cpp - norms, softmax, attention -----------------------------===//

#include "lib/Import/Masks.h"
#include "lib/Import/Match.h"
#include "lib/Import/Torch/Translator.h"
#include "llvm/ADT/STLExtras.h"
#include <cmath>
#include <numeric>

using namespace llvm;
using namespace mlir;
using namespace braid;
using namespace braid::torch;

//===----------------------------------------------------------------------===//
// Norms and softmax
//===----------------------------------------------------------------------===//

/// Joins the last dims that a norm is over, and the dims of its scale and bias. Returns null if they do not fit.
static Value joinNormalized(CallBuilder &call, StringRef name) {
  ArrayRef<int64_t> shape = call.typeOfArgument("input").shape;
  Integers normalized = call.integers("normalized_shape");
  if (normalized.empty() || normalized.size() > shape.size() ||
      ArrayRef<int64_t>(normalized) != shape.take_back(normalized.size()))
    return {};
  int64_t size = std::accumulate(normalized.begin(), normalized.end(), int64_t(1), std::multiplies<>());
  Type element = tg::typeOf(call.tensor("input")).getElementType();
  SmallVector<int64_t> joined;
  if (name == "input")
    append_range(joined, shape.drop_back(normalized.size()));
  joined.push_back(size);
  if (!call.has(name))
    return call.constant(RankedTensorType::get(joined, element), 1);
  bool fits = name == "input" || ArrayRef<int64_t>(call.typeOfArgument(name).shape) == ArrayRef<int64_t>(normalized);
  fits &= tg::typeOf(call.tensor(name)).getElementType() == element && isa<FloatType>(element);
  return fits ? call.reshape(call.tensor(name), joined) : Value();
}

static Values layerNorm(CallBuilder &call) {
  Value input = joinNormalized(call, "input"), weight = joinNormalized(call, "weight"), bias;
  if (call.has("bias"))
    bias = joinNormalized(call, "bias");
  if (!input || !weight || (call.has("bias") && !bias))
    return {call.fail("the norm is not over the last dims, or its scale or bias has another size")};
  Value norm = call.make<tg::LayerNormOp>(input, weight, bias, call.builder.getF64FloatAttr(call.number("eps", 1e-5)));
  return {call.reshape(norm, call.resultType().shape)};
}

static Values rmsNorm(CallBuilder &call) {
  Value input = joinNormalized(call, "input"), weight = joinNormalized(call, "weight");
  if (!input || !weight)
    return {call.fail("the norm is not over the last dims, or its scale has another size")};
  double epsilon = call.has("eps") ? call.number("eps") : 1.1920928955078125e-07;
  return {
      call.reshape(call.make<tg::RmsNormOp>(input, weight, APFloat(epsilon), APFloat(0.0)), call.resultType().shape)};
}

/// Multiplies each channel by its weight and adds its bias, where the norm has them.
static Value scaleChannels(CallBuilder &call, Value a) {
  RankedTensorType type = tg::typeOf(a);
  for (StringRef name : {"weight", "bias"}) {
    if (!call.has(name))
      continue;
    Value channel = call.tensor(name);
    if (channel.getType() != RankedTensorType::get({type.getDimSize(1)}, type.getElementType()))
      return call.fail(name + " has another size or type than the channels");
    Value wide = call.broadcast(channel, type, {1});
    a = name == "weight" ? call.mul(a, wide) : call.add(a, wide);
  }
  return a;
}

/// (x - mean) / sqrt(variance + eps), over some dims.
static Value normalized(CallBuilder &call, Value a, ArrayRef<int64_t> dims) {
  SmallVector<int64_t> kept = tg::otherDims(dims, tg::typeOf(a).getRank());
  auto wide = [&](Value b) { return call.broadcast(b, tg::typeOf(a), kept); };
  Value centered = call.sub(a, wide(call.reduce(tg::ReduceKind::Mean, a, dims)));
  Value variance = call.reduce(tg::ReduceKind::Mean, call.square(centered), dims);
  return call.mul(centered, wide(call.rsqrt(call.add(variance, call.number("eps", 1e-5)))));
}

/// A norm of each channel of each row. Running statistics are not read while a model trains.
static Values instanceNorm(CallBuilder &call) {
  Value input = call.tensor("input");
  int64_t rank = tg::typeOf(input).getRank();
  if (rank < 3 || !tg::isFloat(input) || !call.boolean("use_input_stats", true) || call.has("running_mean"))
    return {call.fail("only of floats with channels and space, without running statistics")};
  return {scaleChannels(call, normalized(call, input, tg::dimRange(2, rank)))};
}

/// batch x channels x space: each group of channels has a norm, each channel a scale and a bias.
static Values groupNorm(CallBuilder &call) {
  Value input = call.tensor("input");
  ArrayRef<int64_t> shape = tg::typeOf(input).getShape();
  int64_t groups = call.integer("num_groups");
  if (!tg::isFloat(input) || shape.size() < 2 || groups < 1 || shape[1] % groups)
    return {call.fail(Twine(groups) + " groups do not divide the channels")};
  int64_t size = tg::typeOf(input).getNumElements() / shape[0] / groups;
  Value rows = call.reshape(input, {shape[0], groups, size});
  Value ones = call.constant(RankedTensorType::get({size}, tg::typeOf(input).getElementType()), 1);
  Value norm = call.make<tg::LayerNormOp>(rows, ones, Value(), call.builder.getF64FloatAttr(call.number("eps", 1e-5)));
  return {scaleChannels(call, call.reshape(norm, shape))};
}

/// Replaces a statistic by that of the batch in training, and moves the running one towards `next`. Returns null after
/// an error.
static Value trackStatistic(CallBuilder &call, StringRef running, Value ofBatch, Value next) {
  Value old = call.tensor(running);
  double momentum = call.number("momentum");
  Value kept = call.mul(old, 1 - momentum), updated = call.add(kept, call.mul(next, momentum));
  bool isUpdated = call.updateBuffer(running, call.make<tg::InTrainingOp>(updated, old));
  return isUpdated ? Value(call.make<tg::InTrainingOp>(ofBatch, old)) : Value();
}

/// A norm of each channel, with the running statistics. In training it has those of the batch, and updates the running
/// ones, whose variance is unbiased.
static Value normalizedAsTracked(CallBuilder &call, Value input, ArrayRef<int64_t> dims) {
  RankedTensorType type = tg::typeOf(input);
  RankedTensorType channels = RankedTensorType::get({type.getDimSize(1)}, type.getElementType());
  for (StringRef name : {"running_mean", "running_var"})
    if (!call.has(name) || call.tensor(name).getType() != channels)
      return call.fail(name + " is missing, or has another size or type than the channels");
  auto wide = [&](Value a) { return call.broadcast(a, type, {1}); };
  Value mean = call.tensor("running_mean"), variance = call.tensor("running_var");
  if (call.boolean("training")) {
    double count = static_cast<double>(type.getNumElements()) / type.getDimSize(1);
    Value ofBatch = call.reduce(tg::ReduceKind::Mean, input, dims);
    Value spread = call.reduce(tg::ReduceKind::Mean, call.square(call.sub(input, wide(ofBatch))), dims);
    mean = trackStatistic(call, "running_mean", ofBatch, ofBatch);
    variance = trackStatistic(call, "running_var", spread, call.mul(spread, count / (count - 1)));
  }
  if (!mean || !variance)
    return {};
  Value centered = call.sub(input, wide(mean));
  return call.mul(centered, wide(call.rsqrt(call.add(variance, call.number("eps", 1e-5)))));
}

static Values batchNorm(CallBuilder &call) {
  Value input = call.tensor("input");
  RankedTensorType type = tg::typeOf(input);
  if (type.getRank() < 2 || !tg::isFloat(input))
    return {call.fail("only of floats with channels")};
  bool isTracked = call.has("running_mean") || call.has("running_var");
  if (call.boolean("training") && type.getNumElements() == type.getDimSize(1))
    return {call.fail("the statistics of one row are not defined; give the norm more rows")};
  SmallVector<int64_t> dims = tg::otherDims({1}, type.getRank());
  bool ofBatch = !isTracked && call.boolean("training");
  Value norm = ofBatch ? normalized(call, input, dims) : normalizedAsTracked(call, input, dims);
  return {norm ? scaleChannels(call, norm) : Value()};
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

/// Adds the mask of a call to scores, or puts -inf where it does not hold. Returns null after an error.
static Value masked(CallBuilder &call, Value scores) {
  RankedTensorType type = tg::typeOf(scores);
  Value never = call.constantLike(scores, -HUGE_VAL);
  if (call.boolean("is_causal")) {
    RankedTensorType integers = tg::withElement(type, call.builder.getI32Type());
    Value sees =
        call.compare(arith::CmpIPredicate::sge, call.make<tg::IotaOp>(integers, 2), call.make<tg::IotaOp>(integers, 3));
    return call.select(sees, scores, never);
  }
  if (!call.has("attn_mask"))
    return scores;
  Value mask = call.tensor("attn_mask");
  if (SmallVector<int64_t> shape(shapeOf(mask)); shape.size() == 3 && shapeOf(call.tensor("query")).size() == 3) {
    shape.insert(shape.begin() + 1, 1); // as queries without heads have one
    mask = call.reshape(mask, shape);
  }
  Value wide = call.expand(mask, type.getShape());
  if (!wide)
    return wide;
  return tg::isFloat(mask) ? call.add(scores, call.convert(wide, type.getElementType()))
                           : call.select(wide, scores, never);
}

/// The softmax of each row, and 0 in rows that are masked as a whole.
static Value softmaxOfSeen(CallBuilder &call, Value scores) {
  RankedTensorType type = tg::typeOf(scores);
  Value largest = call.reduceLanes(tg::ReduceKind::Max, call.make<tg::StopGradientOp>(scores));
  Value isEmpty = call.compare(arith::CmpFPredicate::OEQ, largest, call.constantLike(largest, -HUGE_VAL));
  isEmpty =
      call.broadcast(isEmpty, tg::withElement(type, call.builder.getI1Type()), tg::dimRange(0, type.getRank() - 1));
  Value zero = call.zeros(type);
  return call.select(isEmpty, zero, call.make<tg::SoftmaxOp>(call.select(isEmpty, zero, scores)));
}

namespace {
/// Batch x heads x sequence x size.
struct Heads {
  Value q, k, v;
};
} // namespace

/// Attention by matrix products, for a mask that depends on inputs or that tg.attention does not have, and for values
/// of another size than keys.
static Value attentionByProducts(CallBuilder &call, Heads heads, double scale, double rate) {
  int64_t repeats = tg::typeOf(heads.q).getDimSize(1) / tg::typeOf(heads.k).getDimSize(1);
  Value k = repeatHeads(call, heads.k, repeats), v = repeatHeads(call, heads.v, repeats);
  Value scores = masked(call, call.mul(call.contract("bhsd,bhtd->bhst", heads.q, k), scale));
  if (!scores)
    return scores;
  Value weights = call.has("attn_mask") ? softmaxOfSeen(call, scores) : call.make<tg::SoftmaxOp>(scores);
  if (rate > 0)
    weights = call.make<tg::DropoutOp>(weights.getType(), weights, call.key(), call.builder.getF64FloatAttr(rate),
                                       call.builder.getI64IntegerAttr(call.nextStream()));
  return call.contract("bhst,bhtd->bhsd", weights, v);
}

/// Reads query, key and value; without heads, they have one. Reports an error and returns nothing if they do not fit.
static std::optional<Heads> headsOf(CallBuilder &call) {
  auto read = [&](StringRef name) {
    Value a = call.tensor(name);
    ArrayRef<int64_t> shape = tg::typeOf(a).getShape();
    return shape.size() == 3 ? call.reshape(a, {shape[0], 1, shape[1], shape[2]}) : a;
  };
  Value q = read("query"), k = read("key"), v = read("value");
  RankedTensorType query = tg::typeOf(q), key = tg::typeOf(k), value = tg::typeOf(v);
  if (query.getRank() != 4 || key.getRank() != 4 || value.getRank() != 4 || !tg::isFloat(q)) {
    call.fail("query, key and value must have dims batch, heads, sequence and size");
    return std::nullopt;
  }
  Heads heads{q, match::beforeRepeat(k), match::beforeRepeat(v)};
  key = tg::typeOf(heads.k);
  auto divides = [&](Value a) { return query.getDimSize(1) % tg::typeOf(a).getDimSize(1) == 0; };
  if (divides(k) && divides(v) && divides(heads.k) &&
      key.getShape().drop_back() == tg::typeOf(heads.v).getShape().drop_back() &&
      key.getDimSize(0) == query.getDimSize(0) && key.getDimSize(3) == query.getDimSize(3))
    return heads;
  call.fail("query, key and value do not fit together");
  return std::nullopt;
}

static Values attention(CallBuilder &call) {
  std::optional<Heads> heads = headsOf(call);
  if (!heads)
    return {};
  double size = tg::typeOf(heads->q).getDimSize(3), rate = call.number("dropout_p");
  double factor = call.has("scale") ? call.number("scale") : 1 / std::sqrt(size);
  tg::MaskAttr mask = maskOf(call);
  ArrayRef<int64_t> shape = call.resultType().shape;
  // PyTorch counts queries and keys from the first, whatever their numbers are.
  bool isOblong = call.boolean("is_causal") && shapeOf(heads->q)[2] != shapeOf(heads->k)[2];
  if (!mask || isOblong || heads->k.getType() != heads->v.getType()) {
    Value result = attentionByProducts(call, *heads, factor, rate);
    return {result ? call.reshape(result, shape) : result};
  }
  FloatAttr scale = call.builder.getF64FloatAttr(factor);
  Value q = sequenceFirst(call, heads->q), k = sequenceFirst(call, heads->k), v = sequenceFirst(call, heads->v), result;
  if (rate > 0)
    result = call.make<tg::DropoutAttentionOp>(q, k, v, call.key(), Value(), scale, mask, FloatAttr(),
                                               call.builder.getF64FloatAttr(rate),
                                               call.builder.getI64IntegerAttr(call.nextStream()));
  else
    result = call.make<tg::AttentionOp>(q, k, v, Value(), Value(), Value(), scale, mask, FloatAttr());
  return {call.reshape(sequenceFirst(call, result), shape)};
}

static constexpr OpRow kLayersRows[] = {
    {"aten.layer_norm.default", "input:T normalized_shape:IL weight:T? bias:T? eps:N?", layerNorm, nullptr,
     "tg.layer_norm", "cudnn_enable"},
    {"aten.rms_norm.default", "input:T normalized_shape:IL weight:T? eps:N?", rmsNorm, nullptr, "tg.rms_norm"},
    {"aten.group_norm.default", "input:T num_groups:I weight:T? bias:T? eps:N?", groupNorm, nullptr, "tg.layer_norm",
     "cudnn_enabled"},
    {"aten.instance_norm.default", "input:T weight:T? bias:T? running_mean:T? running_var:T? use_input_stats:B? eps:N?",
     instanceNorm, nullptr, "arithmetic with the statistics of each row", "momentum cudnn_enabled"},
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
