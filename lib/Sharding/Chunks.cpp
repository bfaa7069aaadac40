//===- Chunks.cpp - ops on a part of what they compute --------------------===//

#include "lib/Sharding/Chunks.h"
#include "dialects/TG/Facts.h"
#include "dialects/TG/TGBuilder.h"

using namespace mlir;
using namespace braid;

static std::optional<unsigned> dimWith(unsigned factor, const ShardingRule::TensorFactors &dims) {
  for (auto [dim, factors] : llvm::enumerate(dims))
    if (!factors.empty() && factors.front() == factor)
      return dim;
  return std::nullopt;
}

ChunkDims ChunkDims::along(ShardingRule rule, unsigned factor) {
  ChunkDims dims{std::move(rule), factor, {}, {}};
  for (const ShardingRule::TensorFactors &operand : dims.rule.operands)
    dims.operands.push_back(dimWith(factor, operand));
  for (const ShardingRule::TensorFactors &result : dims.rule.results)
    dims.results.push_back(dimWith(factor, result));
  return dims;
}

RankedTensorType braid::typeOfChunk(Value value, std::optional<unsigned> dim, int64_t count) {
  SmallVector<int64_t> shape(tg::typeOf(value).getShape());
  if (dim)
    shape[*dim] /= count;
  return tg::withShape(tg::typeOf(value), shape);
}

Value braid::sliceChunk(OpBuilder &builder, Location loc, Value value, unsigned dim, int64_t number, int64_t count) {
  RankedTensorType type = typeOfChunk(value, dim, count);
  auto concat = value.getDefiningOp<tg::ConcatOp>();
  bool isJoined = concat && concat.getDim() == dim && int64_t(concat.getInputs().size()) == count &&
                  llvm::all_of(concat.getInputs().getTypes(), [&](Type part) { return part == type; });
  if (isJoined)
    return concat.getInputs()[number];
  int64_t size = type.getDimSize(dim);
  return tg::TensorBuilder(builder, loc).slice(value, dim, number * size, size);
}

SmallVector<Value> braid::buildChunk(OpBuilder &builder, Operation *op, const ChunkDims &dims, ValueRange operands,
                                     int64_t number, int64_t count) {
  tg::TensorBuilder t(builder, tg::withoutTensor(op->getLoc()));
  SmallVector<Type> types;
  for (auto [result, dim] : llvm::zip_equal(op->getResults(), dims.results))
    types.push_back(typeOfChunk(result, dim, count));
  SmallVector<int64_t> counts(dims.rule.factors.size(), 1);
  counts[dims.factor] = count;
  int64_t start = number * (dims.getFactor().size / count);
  auto offset = [&](unsigned) { return t.constant(RankedTensorType::get({}, builder.getI32Type()), start); };
  auto maskPadding = [](Value range, double) { return range; };
  SmallVector<Value> parts(operands);
  Shard shard{parts, types, counts, /*flat=*/false, offset, maskPadding};
  auto shardable = dyn_cast<ShardingRuleOpInterface>(op);
  return shardable ? shardable.buildShard(builder, shard) : cloneOnShard(op, builder, shard);
}
