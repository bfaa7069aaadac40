//===- ZigzagShard.cpp - an op on the two blocks of a rank ----------------===//
//
// An op knows how to compute one part with a given start. Two blocks are two such parts, side by side along every dim
// of the factor. A result without such a dim is the sum of both parts' results.
//
//===----------------------------------------------------------------------===//

#include "dialects/Comm/Zigzag.h"
#include "dialects/Interfaces/Interfaces.h"
#include "dialects/TG/TGBuilder.h"
#include "passes/Sharding/ZigzagDims.h"

using namespace mlir;
using namespace braid;

namespace {
class TwoBlocks {
public:
  TwoBlocks(Operation &op, OpBuilder &builder, const FactorDims &dims, ArrayRef<Value> starts, const Shard &shard)
      : op(op), t(builder, op.getLoc()), dims(dims), factor(dims.factor), starts(starts), shard(shard) {
    assert(dims.areWhole() && "a positional factor is a dim of its own");
  }

  SmallVector<Value> select();
  SmallVector<Value> join();

private:
  SmallVector<Value> build(const Shard &part, Value start);
  SmallVector<Value> buildHalf(unsigned half);
  Value joined(Value first, Value second, std::optional<unsigned> dim);

  Operation &op;
  tg::TensorBuilder t;
  const FactorDims &dims;
  unsigned factor;
  ArrayRef<Value> starts;
  const Shard &shard;
};
} // namespace

SmallVector<Value> TwoBlocks::build(const Shard &part, Value start) {
  Shard placed = part;
  auto offset = [&](unsigned other) { return other == factor ? start : shard.offset(other); };
  placed.offset = offset;
  return buildOnShard(&op, t.builder, placed);
}

/// In the rank's part the second block follows the first, so its position numbers are shifted by the block length.
SmallVector<Value> TwoBlocks::select() {
  int64_t block = dims.getFactor().size / shard.shardCounts[factor] / 2;
  Value shift = t.constantLike(starts[1], static_cast<double>(block));
  SmallVector<Value> first = build(shard, starts[0]);
  SmallVector<Value> second = build(shard, t.make<arith::SubIOp>(starts[1], shift)), results;
  for (auto [one, other, dim] : llvm::zip_equal(first, second, dims.results)) {
    Value place = t.iota(one, *dim, t.builder.getI32Type());
    Value isFirst = t.compare(arith::CmpIPredicate::slt, place, t.constantLike(place, static_cast<double>(block)));
    results.push_back(t.select(isFirst, one, other));
  }
  return results;
}

SmallVector<Value> TwoBlocks::buildHalf(unsigned half) {
  SmallVector<Value> operands(shard.operands);
  SmallVector<Type> types(shard.resultTypes);
  SmallVector<int64_t> counts(shard.shardCounts);
  counts[factor] *= 2;
  int64_t block = dims.getFactor().size / counts[factor];
  for (auto [operand, dim] : llvm::zip_equal(operands, dims.operands))
    if (dim)
      operand = t.slice(operand, *dim, half * block, block);
  for (auto [type, dim] : llvm::zip_equal(types, dims.results))
    if (dim) {
      SmallVector<int64_t> shape(cast<RankedTensorType>(type).getShape());
      shape[*dim] = block;
      type = cast<RankedTensorType>(type).clone(shape);
    }
  Shard part = shard;
  part.operands = operands;
  part.resultTypes = types;
  part.shardCounts = counts;
  SmallVector<Value> results = build(part, starts[half]);
  if (auto made = results.front().getDefiningOp<BlockwiseOpInterface>())
    made->setAttr(comm::kHalf, t.builder.getI64IntegerAttr(half));
  return results;
}

Value TwoBlocks::joined(Value first, Value second, std::optional<unsigned> dim) {
  if (dim)
    return t.make<tg::ConcatOp>(ValueRange{first, second}, *dim);
  assert(dims.getFactor().combine == Combine::Sum && "positions are added up");
  if (!tg::isFloat(first))
    return t.make<arith::AddIOp>(first, second);
  return t.convert(t.add(t.widen(first), t.widen(second)), tg::typeOf(first).getElementType());
}

SmallVector<Value> TwoBlocks::join() {
  SmallVector<Value> first = buildHalf(0), second = buildHalf(1), results;
  for (auto [one, other, dim] : llvm::zip_equal(first, second, dims.results))
    results.push_back(joined(one, other, dim));
  return results;
}

SmallVector<Value> braid::buildZigzagShard(Operation &op, OpBuilder &builder, const FactorDims &dims,
                                           ArrayRef<Value> starts, const Shard &shard) {
  TwoBlocks blocks(op, builder, dims, starts, shard);
  bool isGenerator = llvm::all_of(dims.rule.operands, [](const ShardingRule::TensorFactors &tensor) {
    return llvm::all_of(tensor, [](const ShardingRule::DimFactors &dim) { return dim.empty(); });
  });
  return isGenerator ? blocks.select() : blocks.join();
}
