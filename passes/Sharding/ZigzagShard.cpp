//===- ZigzagShard.cpp - an op on the two blocks of a rank ----------------===//
//
// An op knows how to compute one part with a given start. Two blocks are two such parts, side by side along every dim
// of the factor. A result without such a dim is the sum of both parts' results.
//
//===----------------------------------------------------------------------===//

#include "passes/Sharding/ZigzagShard.h"
#include "dialects/Comm/Zigzag.h"
#include "dialects/Interfaces/Interfaces.h"
#include "dialects/TG/TGBuilder.h"

using namespace mlir;
using namespace braid;

SmallVector<Value> braid::buildOnShard(Operation &op, OpBuilder &builder, const Shard &shard) {
  auto shardable = dyn_cast<ShardingRuleOpInterface>(op);
  return shardable ? shardable.buildShard(builder, shard) : cloneOnShard(&op, builder, shard);
}

namespace {
class TwoBlocks {
public:
  TwoBlocks(Operation &op, OpBuilder &builder, const ShardingRule &rule, unsigned factor, ArrayRef<Value> starts,
            const Shard &shard)
      : op(op), t(builder, op.getLoc()), rule(rule), factor(factor), starts(starts), shard(shard) {}

  SmallVector<Value> select();
  SmallVector<Value> join();

private:
  /// Returns the dim that consists of only the factor, as for all positional factors, or nothing if the tensor lacks
  /// it.
  std::optional<unsigned> dimIn(const ShardingRule::TensorFactors &tensor) const;
  SmallVector<Value> build(const Shard &part, Value start);
  SmallVector<Value> buildHalf(unsigned half);
  Value joined(Value first, Value second, const ShardingRule::TensorFactors &tensor);

  Operation &op;
  tg::TensorBuilder t;
  const ShardingRule &rule;
  unsigned factor;
  ArrayRef<Value> starts;
  const Shard &shard;
};
} // namespace

std::optional<unsigned> TwoBlocks::dimIn(const ShardingRule::TensorFactors &tensor) const {
  for (auto [dim, factors] : llvm::enumerate(tensor))
    if (llvm::is_contained(factors, factor)) {
      assert(factors.size() == 1 && "a positional factor is a dim of its own");
      return dim;
    }
  return std::nullopt;
}

SmallVector<Value> TwoBlocks::build(const Shard &part, Value start) {
  Shard placed = part;
  auto offset = [&](unsigned other) { return other == factor ? start : shard.offset(other); };
  placed.offset = offset;
  return buildOnShard(op, t.builder, placed);
}

/// In the rank's part the second block follows the first, so its position numbers are shifted by the block length.
SmallVector<Value> TwoBlocks::select() {
  int64_t block = rule.factors[factor].size / shard.shardCounts[factor] / 2;
  Value shift = t.like(starts[1], static_cast<double>(block));
  SmallVector<Value> first = build(shard, starts[0]);
  SmallVector<Value> second = build(shard, t.make<arith::SubIOp>(starts[1], shift)), results;
  for (auto [one, other, tensor] : llvm::zip_equal(first, second, rule.results)) {
    Value place = t.iota(one, *dimIn(tensor), t.builder.getI32Type());
    Value isFirst = t.compare(arith::CmpIPredicate::slt, place, t.like(place, static_cast<double>(block)));
    results.push_back(t.select(isFirst, one, other));
  }
  return results;
}

SmallVector<Value> TwoBlocks::buildHalf(unsigned half) {
  SmallVector<Value> operands(shard.operands);
  SmallVector<Type> types(shard.resultTypes);
  SmallVector<int64_t> counts(shard.shardCounts);
  counts[factor] *= 2;
  int64_t block = rule.factors[factor].size / counts[factor];
  for (auto [operand, tensor] : llvm::zip_equal(operands, rule.operands))
    if (std::optional<unsigned> dim = dimIn(tensor))
      operand = t.slice(operand, *dim, half * block, block);
  for (auto [type, tensor] : llvm::zip_equal(types, rule.results))
    if (std::optional<unsigned> dim = dimIn(tensor)) {
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

Value TwoBlocks::joined(Value first, Value second, const ShardingRule::TensorFactors &tensor) {
  if (std::optional<unsigned> dim = dimIn(tensor))
    return t.make<tg::ConcatOp>(ValueRange{first, second}, *dim);
  assert(rule.factors[factor].combine == Combine::Sum && "positions are added up");
  if (!tg::isFloat(first))
    return t.make<arith::AddIOp>(first, second);
  return t.convert(t.add(t.widen(first), t.widen(second)), tg::typeOf(first).getElementType());
}

SmallVector<Value> TwoBlocks::join() {
  SmallVector<Value> first = buildHalf(0), second = buildHalf(1), results;
  for (auto [one, other, tensor] : llvm::zip_equal(first, second, rule.results))
    results.push_back(joined(one, other, tensor));
  return results;
}

SmallVector<Value> braid::buildZigzagShard(Operation &op, OpBuilder &builder, const ShardingRule &rule, unsigned factor,
                                           ArrayRef<Value> starts, const Shard &shard) {
  TwoBlocks blocks(op, builder, rule, factor, starts, shard);
  bool isGenerator = llvm::all_of(rule.operands, [](const ShardingRule::TensorFactors &tensor) {
    return llvm::all_of(tensor, [](const ShardingRule::DimFactors &dim) { return dim.empty(); });
  });
  return isGenerator ? blocks.select() : blocks.join();
}
