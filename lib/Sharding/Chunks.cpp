//===- Chunks.cpp - ops split into chunks ---------------------------------===//

#include "lib/Sharding/Chunks.h"
#include "dialects/TG/Facts.h"
#include "dialects/TG/TGBuilder.h"

using namespace mlir;
using namespace braid;

/// Returns the shape with the blocks of `dim` in the dim before it.
static SmallVector<int64_t> shapeInBlocks(RankedTensorType type, unsigned dim, int64_t blocks) {
  SmallVector<int64_t> shape(type.getShape());
  shape[dim] /= blocks;
  if (blocks > 1)
    shape[dim - 1] = blocks;
  return shape;
}

RankedTensorType braid::typeOfChunk(Value value, std::optional<unsigned> dim, Cut cut) {
  RankedTensorType type = tg::typeOf(value);
  if (!dim)
    return type;
  SmallVector<int64_t> shape = shapeInBlocks(type, *dim, cut.blocks);
  shape[*dim] /= cut.chunks;
  return tg::withShape(type, shape);
}

/// Returns the chunks that joinChunks joined to this value, or an empty range. Also empty for a cut into several
/// blocks: readers of a chunk would get a copy of it, so they read the joined value instead.
static ValueRange joinedChunks(Value value, unsigned dim, Cut cut) {
  RankedTensorType type = typeOfChunk(value, dim, cut);
  auto concat = value.getDefiningOp<tg::ConcatOp>();
  bool isJoined = cut.blocks == 1 && concat && concat.getDim() == dim &&
                  int64_t(concat.getInputs().size()) == cut.chunks &&
                  llvm::all_of(concat.getInputs().getTypes(), [&](Type part) { return part == type; });
  return isJoined ? ValueRange(concat.getInputs()) : ValueRange();
}

Value braid::sliceChunk(OpBuilder &builder, Location loc, Value value, unsigned dim, int64_t number, Cut cut) {
  if (ValueRange chunks = joinedChunks(value, dim, cut); !chunks.empty())
    return chunks[number];
  tg::TensorBuilder t(builder, loc);
  int64_t size = typeOfChunk(value, dim, cut).getDimSize(dim);
  Value whole = cut.blocks == 1 ? value : t.reshape(value, shapeInBlocks(tg::typeOf(value), dim, cut.blocks));
  return t.slice(whole, dim, number * size, size);
}

Value braid::joinChunks(OpBuilder &builder, Location loc, ValueRange chunks, RankedTensorType type, unsigned dim,
                        Cut cut) {
  tg::TensorBuilder t(builder, loc);
  Value joined = t.make<tg::ConcatOp>(chunks, dim);
  return cut.blocks == 1 ? joined : t.reshape(joined, type.getShape());
}

SmallVector<Value> braid::buildChunk(OpBuilder &builder, Operation *op, const FactorDims &dims, ValueRange operands,
                                     int64_t number, Cut cut) {
  tg::TensorBuilder t(builder, tg::withoutTensor(op->getLoc()));
  double start = static_cast<double>(number * (dims.getFactor().size / cut.chunks));
  return buildChunkAt(builder, op, dims, operands, cut,
                      [&] { return t.constant(RankedTensorType::get({}, builder.getI32Type()), start); });
}

SmallVector<Value> braid::buildChunkAt(OpBuilder &builder, Operation *op, const FactorDims &dims, ValueRange operands,
                                       Cut cut, llvm::function_ref<Value()> start) {
  SmallVector<Type> types;
  for (auto [result, dim] : llvm::zip_equal(op->getResults(), dims.results))
    types.push_back(typeOfChunk(result, dim, cut));
  SmallVector<int64_t> counts(dims.rule.factors.size(), 1);
  counts[dims.factor] = cut.chunks;
  auto offset = [&](unsigned) { return start(); };
  auto maskPadding = [](Value range, double) { return range; };
  SmallVector<Value> parts(operands);
  return buildOnShard(op, builder, {parts, types, counts, /*flat=*/false, offset, maskPadding});
}
