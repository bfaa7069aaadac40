//===- TGShards.cpp - ops whose shard is not simply the same op -----------===//
//
// Most ops run unchanged on a rank's parts. Ops with positional factors need the offset
// of the part; reductions of flat ranges must ignore the padding.
//
//===----------------------------------------------------------------------===//

#include "dialects/TG/TGBuilder.h"

using namespace mlir;
using namespace braid;
using namespace braid::tg;

//===----------------------------------------------------------------------===//
// Positions
//===----------------------------------------------------------------------===//

/// Returns the factor of a dim that has exactly one.
static unsigned factorOf(const ShardingRule::TensorFactors &tensor, int64_t dim) { return tensor[dim].front(); }

SmallVector<Value> IotaOp::buildShard(OpBuilder &builder, const Shard &shard) {
  unsigned factor = factorOf(getShardingRule().results[0], getDim());
  if (shard.shardCounts[factor] == 1)
    return cloneOnShard(*this, builder, shard);
  TensorBuilder t(builder, getLoc());
  // Counts in i32: bf16 cannot represent every index past 256.
  auto type = withElement(cast<RankedTensorType>(shard.resultTypes[0]), builder.getI32Type());
  Value index = t.make<IotaOp>(type, getDim());
  index = t.make<arith::AddIOp>(index, t.broadcastScalar(shard.offset(factor), index));
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
    // The operands after the key are the offsets of the block that this op already makes.
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

/// Builds the shard of attention or of its gradient: passes the offset of the rank's queries to the op.
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
      start = t.make<arith::AddIOp>(start, t.constantLike(start, static_cast<double>(first)));
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
/// Indices relative to the rows of a table that a rank holds.
struct LocalRows {
  Value indices; ///< Into the rank's rows; 0 where another rank holds the row.
  Value isLocal;
};
} // namespace

static LocalRows localRows(TensorBuilder &t, Value indices, Value offset, int64_t rows) {
  Type integer = typeOf(indices).getElementType();
  Value local = t.make<arith::SubIOp>(indices, t.broadcastScalar(t.convert(offset, integer), indices));
  Value zero = t.constantLike(local, 0);
  Value isAfter = t.compare(arith::CmpIPredicate::sge, local, zero);
  Value isBefore = t.compare(arith::CmpIPredicate::slt, local, t.constantLike(local, rows));
  Value isLocal = t.make<arith::AndIOp>(isAfter, isBefore);
  return {t.select(isLocal, local, zero), isLocal};
}

/// Returns `values`, with zeros for the rows that other ranks hold.
static Value zeroNonLocalRows(TensorBuilder &t, Value isLocal, Value values) {
  return t.select(t.broadcastRows(isLocal, values), values, t.constantLike(values, 0.0));
}

SmallVector<Value> GatherOp::buildShard(OpBuilder &builder, const Shard &shard) {
  unsigned factor = factorOf(getShardingRule().operands[0], 0);
  if (shard.shardCounts[factor] == 1)
    return cloneOnShard(*this, builder, shard);
  TensorBuilder t(builder, getLoc());
  Value table = shard.operands[0];
  LocalRows rows = localRows(t, shard.operands[1], shard.offset(factor), typeOf(table).getDimSize(0));
  return {zeroNonLocalRows(t, rows.isLocal, t.make<GatherOp>(table, rows.indices))};
}

SmallVector<Value> ScatterAddOp::buildShard(OpBuilder &builder, const Shard &shard) {
  unsigned factor = factorOf(getShardingRule().results[0], 0);
  if (shard.shardCounts[factor] == 1)
    return cloneOnShard(*this, builder, shard);
  TensorBuilder t(builder, getLoc());
  auto type = cast<RankedTensorType>(shard.resultTypes[0]);
  LocalRows rows = localRows(t, shard.operands[0], shard.offset(factor), type.getDimSize(0));
  return {t.make<ScatterAddOp>(type, rows.indices, zeroNonLocalRows(t, rows.isLocal, shard.operands[1]))};
}

//===----------------------------------------------------------------------===//
// Flat ranges
//===----------------------------------------------------------------------===//

/// Returns the neutral element of a reduction.
static double neutralElement(ReduceKind kind, Type element) {
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
  Value range = shard.maskPadding(shard.operands[0], neutralElement(getKind(), getType().getElementType()));
  return {t.reduce(getKind(), range, {0})};
}
