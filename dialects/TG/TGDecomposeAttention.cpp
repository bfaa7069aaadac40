//===- TGDecomposeAttention.cpp - definition of attention -----------------===//
//
// Scores are contracted, scaled, masked and normalized by row. Grouped query heads are a dim
// of their own: query heads reshape to (key heads, group), and the einsum runs over both, so
// no key or value is repeated. Only the operands of matmuls are bf16; scores, weights and sums
// are f32. The backward pass recomputes the weights from the log-sum-exp. Letters: b batch, s
// query position, t key position, h key head, r query head of its group, d head size.
//
//===----------------------------------------------------------------------===//

#include "dialects/TG/TGBuilder.h"

using namespace mlir;
using namespace braid;
using namespace braid::tg;

namespace {
/// Code shared by the forward and backward passes: einsum letters and scores.
class Attention {
public:
  template <typename Op> Attention(TensorBuilder &t, Op op) : Attention(t, op, typeOf(op.getQuery()).getShape()) {}

  /// Attention of a single query, `operands[0]`, at `position`.
  Attention(TensorBuilder &t, AttentionOp op, ValueRange operands, Value position)
      : Attention(t, op, typeOf(operands[0]).getShape()) {
    this->position = position;
    if (documents)
      documents = operands[3];
  }

  /// Returns the output, and the log-sum-exp of each row of the scores.
  std::pair<Value, Value> attend(Value query, Value key, Value value) {
    Value s = masked(scores(group(query), key).value);
    Value max = finite(t.reduceLanes(ReduceKind::Max, s));
    Value e = t.exp(t.sub(s, t.broadcastRows(max, s)));
    Value sum = t.reduceLanes(ReduceKind::Sum, e);
    // In rows without keys the numerator is 0, so any nonzero divisor will do.
    Value divisor = queryStart ? t.max(sum, std::numeric_limits<float>::min()) : sum;
    Value weights = t.div(e, t.broadcastRows(divisor, s));
    Value lse = t.add(max, t.log(sum));
    return {contract(scoreDims(), weights, keyDims(), value, queryDims()), lse};
  }

  /// Returns the output when dropout zeroes some of the weights.
  Value attend(DropoutAttentionOp op) {
    Value weights = t.make<SoftmaxOp>(masked(scores(group(op.getQuery()), op.getKey()).value));
    Value kept = t.make<DropoutOp>(weights.getType(), weights, op.getRandom(), op.getRateAttr(), op.getStreamAttr());
    return contract(scoreDims(), kept, keyDims(), op.getValue(), queryDims());
  }

  std::string queryDims() const { return isGrouped ? "bshrd" : "bshd"; }
  std::string keyDims() const { return "bthd"; }
  std::string scoreDims() const { return isGrouped ? "bhrst" : "bhst"; }

  /// Contracts two values, converted to the element type of the query.
  Value contract(const std::string &lhsDims, Value lhs, const std::string &rhsDims, Value rhs,
                 const std::string &resultDims) {
    return t.contract(lhsDims + "," + rhsDims + "->" + resultDims, t.convert(lhs, element), t.convert(rhs, element));
  }
  /// Contracts over pairs of query and key; sums of bf16 stay in f32.
  Value contractPairs(Value ofQuery, Value ofKey) {
    return t.contractWide(queryDims() + "," + keyDims() + "->" + scoreDims(), ofQuery, ofKey);
  }

  /// Reshapes a tensor of the query's shape so that its heads are in groups.
  Value group(Value value) { return t.reshape(value, groupedShape); }

  /// The scores: scale q k^T, after the soft cap if there is one.
  struct Scores {
    Value value;
    Value softcapTanh; ///< tanh(s / cap); null without a soft cap
  };
  Scores scores(Value groupedQuery, Value key) {
    Value s = t.mul(contractPairs(groupedQuery, key), scale);
    if (!softcap)
      return {s, Value()};
    Value softcapTanh = t.tanh(t.mul(s, 1 / *softcap));
    return {t.mul(softcapTanh, *softcap), softcapTanh};
  }

  /// Sets the scores of masked keys to -inf.
  Value masked(Value s) {
    Value counts = mask.getCausal() ? countsByPosition(s) : Value();
    if (documents)
      counts = counts ? t.make<arith::AndIOp>(counts, isOneDocument(s)) : isOneDocument(s);
    return counts ? t.select(counts, s, t.constantLike(s, -std::numeric_limits<double>::infinity())) : s;
  }

  /// Replaces -inf by the lowest finite number in the maximum or log-sum-exp of a row. A
  /// query may see no key of a block; its scores minus this number then stay -inf.
  Value finite(Value rows) { return queryStart ? t.max(rows, std::numeric_limits<float>::lowest()) : rows; }

  /// Returns the gradient of q k^T, given the gradient of the scores.
  Value backwardThroughScores(Value gradient, const Scores &scores) {
    if (scores.softcapTanh)
      gradient =
          t.mul(gradient, t.sub(t.constantLike(scores.softcapTanh, 1), t.mul(scores.softcapTanh, scores.softcapTanh)));
    return t.mul(gradient, scale);
  }

  /// Transposes one value per b, s, (h, r) to one value per row of the scores.
  Value toScoreRows(Value value) {
    return isGrouped ? t.transpose(value, {0, 2, 3, 1}) : t.transpose(value, {0, 2, 1});
  }

private:
  template <typename Op>
  Attention(TensorBuilder &t, Op op, ArrayRef<int64_t> q)
      : t(t), element(op.getQuery().getType().getElementType()), scale(op.getScale().convertToDouble()),
        mask(op.getMask()), documents(op.getDocuments()) {
    if constexpr (requires { op.getQueryStart(); }) {
      queryStart = op.getQueryStart();
      keyStart = op.getKeyStart();
    }
    if (op.getSoftcap())
      softcap = op.getSoftcap()->convertToDouble();
    int64_t heads = typeOf(op.getKey()).getDimSize(2);
    isGrouped = q[2] != heads;
    if (isGrouped)
      groupedShape = {q[0], q[1], heads, q[2] / heads, q[3]};
    else
      groupedShape.assign(q.begin(), q.end());
  }

  /// Returns for each score whether the causal mask keeps it.
  Value countsByPosition(Value s) {
    int64_t rank = typeOf(s).getRank();
    Type integer = t.builder.getI32Type();
    Value row = position ? t.broadcastScalar(position, s) : t.iota(s, rank - 2, integer);
    Value column = t.iota(s, rank - 1, integer);
    if (queryStart) {
      row = t.make<arith::AddIOp>(row, t.broadcastScalar(queryStart, row));
      column = t.make<arith::AddIOp>(column, t.broadcastScalar(keyStart, column));
    }
    if (int64_t first = mask.getFirst())
      row = t.make<arith::AddIOp>(row, t.constantLike(row, static_cast<double>(first)));
    Value counts = t.compare(arith::CmpIPredicate::sge, row, column);
    if (mask.hasWindow() && (queryStart || mask.getWindow() < typeOf(s).getDimSize(rank - 1))) {
      Value end = t.make<arith::AddIOp>(column, t.constantLike(column, static_cast<double>(mask.getWindow())));
      counts = t.make<arith::AndIOp>(counts, t.compare(arith::CmpIPredicate::sgt, end, row));
    }
    return counts;
  }

  /// Returns for each score whether query and key belong to the same document.
  Value isOneDocument(Value s) {
    RankedTensorType numbers = typeOf(documents), pairs = withElement(typeOf(s), numbers.getElementType());
    int64_t rank = pairs.getRank(), queries = pairs.getDimSize(rank - 2);
    Value ofQueries = position     ? t.at(documents, 1, position)
                      : queryStart ? documentsFrom(queryStart, queries)
                                   : t.slice(documents, /*dim=*/1, mask.getFirst(), queries);
    Value ofKeys = queryStart ? documentsFrom(keyStart, pairs.getDimSize(rank - 1)) : documents;
    Value ofQuery = t.broadcast(ofQueries, pairs, {0, rank - 2});
    Value ofKey = t.broadcast(ofKeys, pairs, {0, rank - 1});
    return t.compare(arith::CmpIPredicate::eq, ofQuery, ofKey);
  }

  /// Returns the documents of `positions` positions from `start` on.
  Value documentsFrom(Value start, int64_t positions) {
    auto type = RankedTensorType::get({positions}, t.builder.getI32Type());
    Value number = t.make<IotaOp>(type, 0);
    number = t.make<arith::AddIOp>(number, t.broadcastScalar(start, number));
    return t.transpose(t.make<GatherOp>(t.transpose(documents, {1, 0}), number), {1, 0});
  }

  TensorBuilder &t;
  Type element;
  double scale;
  std::optional<double> softcap;
  MaskAttr mask;
  Value documents;            // null: each row is one document
  Value position;             // position of a single query; null: queries are a sequence
  Value queryStart, keyStart; // null: positions follow from the mask
  bool isGrouped;
  SmallVector<int64_t> groupedShape;
};

/// Converts a value to the shape and element type of one of the op's results.
Value asResult(TensorBuilder &t, Value value, Value result) {
  Value shaped = t.reshape(value, typeOf(result).getShape());
  return t.convert(shaped, typeOf(result).getElementType());
}
} // namespace

SmallVector<Value> AttentionOp::decompose(OpBuilder &builder) {
  TensorBuilder t(builder, originOf(*this));
  auto [out, lse] = Attention(t, *this).attend(getQuery(), getKey(), getValue());
  return {asResult(t, out, getResult()), asResult(t, lse, getLse())};
}

SmallVector<Value> DropoutAttentionOp::decompose(OpBuilder &builder) {
  TensorBuilder t(builder, originOf(*this));
  return {asResult(t, Attention(t, *this).attend(*this), getResult())};
}

SmallVector<Value> DropoutAttentionOp::buildInference(OpBuilder &builder) {
  auto attention = builder.create<AttentionOp>(getLoc(), getQuery(), getKey(), getValue(), getDocuments(),
                                               /*query_start=*/Value(), /*key_start=*/Value(), getScaleAttr(),
                                               getMaskAttr(), getSoftcapAttr());
  return {attention.getResult()};
}

/// Only for causal attention whose queries and keys are at the same positions.
std::optional<SequenceDims> AttentionOp::getSequenceDims() {
  if (!getMask().getCausal() || getMask().getFirst() > 0 || getQueryStart())
    return std::nullopt;
  SequenceDims dims{SmallVector<std::optional<unsigned>>(getNumOperands(), 1), {1, 2}, {{1, "key"}, {2, "value"}}};
  if (getDocuments())
    dims.past.push_back({3, "documents"});
  return dims;
}

SmallVector<Value> AttentionOp::buildAtPosition(OpBuilder &builder, ValueRange operands, Value position) {
  TensorBuilder t(builder, originOf(*this, "at a position"));
  auto [out, lse] = Attention(t, *this, operands, position).attend(operands[0], operands[1], operands[2]);
  SmallVector<int64_t> rows(typeOf(getLse()).getShape());
  rows[2] = 1;
  return {t.convert(t.reshape(out, typeOf(operands[0]).getShape()), typeOf(getResult()).getElementType()),
          t.convert(t.reshape(lse, rows), typeOf(getLse()).getElementType())};
}

SmallVector<Value> AttentionGradOp::decompose(OpBuilder &builder) {
  TensorBuilder t(builder, originOf(*this));
  Attention a(t, *this);
  Value query = a.group(getQuery()), dout = a.group(getGradient()), out = a.group(getOutput());

  Attention::Scores scores = a.scores(query, getKey());
  Value lse = a.finite(t.reshape(t.widen(getLse()), typeOf(scores.value).getShape().drop_back()));
  Value weights = t.exp(t.sub(a.masked(scores.value), t.broadcastRows(lse, scores.value)));
  Value dvalue = a.contract(a.scoreDims(), weights, a.queryDims(), dout, a.keyDims());

  Value dweights = a.contractPairs(dout, getValue());
  Value delta = a.toScoreRows(t.reduceLanes(ReduceKind::Sum, t.mul(t.widen(dout), t.widen(out))));
  Value dscores = a.backwardThroughScores(t.mul(weights, t.sub(dweights, t.broadcastRows(delta, weights))), scores);
  Value dquery = a.contract(a.scoreDims(), dscores, a.keyDims(), getKey(), a.queryDims());
  Value dkey = a.contract(a.scoreDims(), dscores, a.queryDims(), query, a.keyDims());
  return {asResult(t, dquery, getDquery()), asResult(t, dkey, getDkey()), asResult(t, dvalue, getDvalue())};
}
