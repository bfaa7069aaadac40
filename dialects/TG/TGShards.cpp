//===- TGShards.cpp - ops whose shard is not simply themselves ------------===//
//
// Most ops do on a rank's parts what they do on the whole.  Those with positional
// factors need to know where the part is; reductions of flat ranges must not see
// the padding.
//
//===----------------------------------------------------------------------===//

#include "dialects/TG/TGBuilder.h"

using namespace mlir;
using namespace braid;
using namespace braid::tg;

//===----------------------------------------------------------------------===//
// Positions
//===----------------------------------------------------------------------===//

/// The factor of a dim that has one of its own.
static unsigned factorOf(const ShardingRule::TensorFactors &tensor, int64_t dim) { return tensor[dim].front(); }

SmallVector<Value> IotaOp::buildShard(OpBuilder &builder, const Shard &shard) {
  unsigned factor = factorOf(getShardingRule().results[0], getDim());
  if (shard.shardCounts[factor] == 1)
    return cloneOnShard(*this, builder, shard);
  TensorBuilder t(builder, getLoc());
  // Counted in ints: bf16 cannot add an offset past 256 exactly.
  auto type = withElement(cast<RankedTensorType>(shard.resultTypes[0]), builder.getI32Type());
  Value index = t.make<IotaOp>(type, getDim());
  index = t.make<arith::AddIOp>(index, t.fromScalar(shard.offset(factor), index));
  return {t.convert(index, getType().getElementType())};
}

SmallVector<Value> RandomUniformOp::buildShard(OpBuilder &builder, const Shard &shard) {
  TensorBuilder t(builder, getLoc());
  ShardingRule rule = getShardingRule();
  Value zero = t.zeros(RankedTensorType::get({}, builder.getI32Type()));
  SmallVector<Value> offsets;
  bool isSharded = false;
  for (int64_t dim = 0, rank = getType().getRank(); dim < rank; ++dim) {
    unsigned factor = factorOf(rule.results[0], dim);
    // After the key, the place of the block that this op makes already.
    Value start = getOf() ? shard.operands[1 + dim] : zero;
    if (shard.shardCounts[factor] > 1) {
      isSharded = true;
      start = getOf() ? t.make<arith::AddIOp>(start, shard.offset(factor)) : shard.offset(factor);
    }
    offsets.push_back(start);
  }
  if (!isSharded)
    return cloneOnShard(*this, builder, shard);
  return {t.make<RandomUniformOp>(shard.resultTypes[0], shard.operands[0], getStream(), offsets,
                                  builder.getDenseI64ArrayAttr(getWholeShape()))};
}

/// Of attention and its gradient: the queries' part says where it begins.
template <typename Op> static SmallVector<Value> shardOfAttention(Op op, OpBuilder &builder, const Shard &shard) {
  ShardingRule rule = op.getShardingRule();
  unsigned queries = factorOf(rule.results[0], 1);
  if (!rule.factors[queries].positional || shard.shardCounts[queries] == 1)
    return cloneOnShard(op, builder, shard);
  TensorBuilder t(builder, op.getLoc());
  Value start = shard.offset(queries), keyStart;
  if (op.getQueryStart()) {
    unsigned number = OperandRange(op.getQueryStartMutable()).getBeginOperandIndex();
    start = t.make<arith::AddIOp>(shard.operands[number], start);
    keyStart = shard.operands[number + 1];
  } else {
    keyStart = t.zeros(typeOf(start));
    if (int64_t first = op.getMask().getFirst())
      start = t.make<arith::AddIOp>(start, t.like(start, static_cast<double>(first)));
  }
  SmallVector<Value> results = cloneOnShard(op, builder, shard);
  auto part = results.front().getDefiningOp<Op>();
  part.getQueryStartMutable().assign(start);
  part.getKeyStartMutable().assign(keyStart);
  part.setMaskAttr(MaskAttr::get(op.getContext(), op.getMask().getCausal(), op.getMask().getWindow()));
  return results;
}

SmallVector<Value> AttentionOp::buildShard(OpBuilder &builder, const Shard &shard) {
  return shardOfAttention(*this, builder, shard);
}
SmallVector<Value> AttentionGradOp::buildShard(OpBuilder &builder, const Shard &shard) {
  return shardOfAttention(*this, builder, shard);
}

//===----------------------------------------------------------------------===//
// Rows of a table by index
//===----------------------------------------------------------------------===//

namespace {
/// Indices of a table's rows as seen by a rank that has some of the rows.
struct LocalRows {
  Value indices; ///< Into the rank's rows; 0 where the row is another rank's.
  Value isHere;
};
} // namespace

static LocalRows localRows(TensorBuilder &t, Value indices, Value offset, int64_t rows) {
  Type integer = typeOf(indices).getElementType();
  Value local = t.make<arith::SubIOp>(indices, t.fromScalar(t.convert(offset, integer), indices));
  Value zero = t.like(local, 0);
  Value isAfter = t.compare(arith::CmpIPredicate::sge, local, zero);
  Value isBefore = t.compare(arith::CmpIPredicate::slt, local, t.like(local, rows));
  Value isHere = t.make<arith::AndIOp>(isAfter, isBefore);
  return {t.select(isHere, local, zero), isHere};
}

/// `values`, with zeros in the rows that are not here.
static Value zeroElsewhere(TensorBuilder &t, Value isHere, Value values) {
  return t.select(t.fromRows(isHere, values), values, t.like(values, 0.0));
}

SmallVector<Value> GatherOp::buildShard(OpBuilder &builder, const Shard &shard) {
  unsigned factor = factorOf(getShardingRule().operands[0], 0);
  if (shard.shardCounts[factor] == 1)
    return cloneOnShard(*this, builder, shard);
  TensorBuilder t(builder, getLoc());
  Value table = shard.operands[0];
  LocalRows rows = localRows(t, shard.operands[1], shard.offset(factor), typeOf(table).getDimSize(0));
  return {zeroElsewhere(t, rows.isHere, t.make<GatherOp>(table, rows.indices))};
}

SmallVector<Value> ScatterAddOp::buildShard(OpBuilder &builder, const Shard &shard) {
  unsigned factor = factorOf(getShardingRule().results[0], 0);
  if (shard.shardCounts[factor] == 1)
    return cloneOnShard(*this, builder, shard);
  TensorBuilder t(builder, getLoc());
  auto type = cast<RankedTensorType>(shard.resultTypes[0]);
  LocalRows rows = localRows(t, shard.operands[0], shard.offset(factor), type.getDimSize(0));
  return {t.make<ScatterAddOp>(type, rows.indices, zeroElsewhere(t, rows.isHere, shard.operands[1]))};
}

//===----------------------------------------------------------------------===//
// Flat ranges
//===----------------------------------------------------------------------===//

/// What changes no result of a reduction.
static double neutralOf(ReduceKind kind, Type element) {
  if (kind == ReduceKind::Sum)
    return 0.0;
  if (isa<FloatType>(element))
    return -std::numeric_limits<double>::infinity();
  return element.isInteger(1) ? 0.0 : -std::ldexp(1.0, element.getIntOrFloatBitWidth() - 1);
}

SmallVector<Value> ReduceOp::buildShard(OpBuilder &builder, const Shard &shard) {
  if (!shard.flat)
    return cloneOnShard(*this, builder, shard);
  TensorBuilder t(builder, getLoc());
  Value range = shard.maskPadding(shard.operands[0], neutralOf(getKind(), getType().getElementType()));
  return {t.reduce(getKind(), range, {0})};
}
