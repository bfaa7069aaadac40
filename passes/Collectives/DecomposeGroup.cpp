//===- DecomposeGroup.cpp - transfers and arithmetic of a group -----------===//

#include "dialects/Comm/TensorNames.h"
#include "passes/Collectives/Decompose.h"

using namespace mlir;
using namespace braid;
using namespace braid::comm;

/// Builds a transfer or a collective of every tensor of the bucket, with the attributes of the original op.
template <typename OpTy, typename... Args> Values Group::communicate(Args &&...args) {
  auto made = b.builder.create<OpTy>(b.loc, std::forward<Args>(args)...);
  for (StringRef name : {StringRef(CommDialect::kUnit), StringRef(kTensors)})
    if (Attribute attribute = op->getAttr(name))
      made->setAttr(name, attribute);
  return Values(made->getResults());
}

Values Group::permute(ValueRange values, ArrayRef<int64_t> pairs) {
  return communicate<PermuteOp>(values, pairs, symbol, axes);
}

Values Group::rotate(ValueRange values, int64_t distance) {
  SmallVector<int64_t> pairs;
  for (int64_t rank = 0; rank < n; ++rank)
    pairs.append({rank, (rank + distance) % n});
  return permute(values, pairs);
}

Values Group::slice(ValueRange values, Dims dims, int64_t shift) {
  Values blocks;
  for (auto [value, dim] : llvm::zip_equal(values, dims))
    blocks.push_back(b.make<SliceOp>(value, dim, symbol, axes, n, shift));
  return blocks;
}

Value Group::assemble(ValueRange blocks, int64_t dim, ArrayRef<int64_t> shifts, Type result) {
  return b.make<AssembleOp>(blocks, dim, shifts, symbol, axes, result);
}

Value Group::number(int64_t root) {
  Value number = b.make<AxisIndexOp>(symbol, axes);
  if (root == 0)
    return number;
  Value distance = b.make<arith::AddIOp>(number, b.constantLike(number, n - root));
  return b.make<arith::RemSIOp>(distance, b.constantLike(number, n));
}

Values Group::allReduce(Reduction kind, ValueRange values) {
  return communicate<AllReduceOp>(kind, values, symbol, axes);
}

Values Group::allGather(ValueRange values, Dims dims, Types results) {
  return communicate<AllGatherOp>(values, dims, symbol, axes, SmallVector<mlir::Type>(results));
}

Values Group::reduceScatter(Reduction kind, ValueRange values, Dims dims, Types results) {
  return communicate<ReduceScatterOp>(kind, values, dims, symbol, axes, SmallVector<mlir::Type>(results));
}

Values Group::allToAll(ValueRange values, Dims split, Dims concat) {
  return communicate<AllToAllOp>(values, split, concat, symbol, axes, n);
}

Values Group::broadcast(ValueRange values, int64_t root) {
  return communicate<BroadcastOp>(values.getTypes(), values, ValueRange(), b.builder.getI64IntegerAttr(root), symbol,
                                  axes);
}

Values Group::combine(Reduction kind, ValueRange xs, ValueRange ys) {
  Values combined;
  for (auto [x, y] : llvm::zip_equal(xs, ys))
    combined.push_back(combine(kind, Value(x), Value(y)));
  return combined;
}

Value Group::combine(Reduction kind, Value x, Value y) {
  Type type = tg::typeOf(x);
  if (tg::isFloat(x)) {
    Value wideX = b.widen(x), wideY = b.widen(y), combined;
    if (kind == Reduction::Max)
      combined = b.make<arith::MaximumFOp>(wideX, wideY);
    else if (kind == Reduction::Min)
      combined = b.make<arith::MinimumFOp>(wideX, wideY);
    else
      combined = b.add(wideX, wideY);
    return b.convert(combined, type.getElementType());
  }
  // A signed i1 true is -1, so max and min become or and and.
  bool isTruth = type.getElementType().isInteger(1);
  if (kind == Reduction::Max)
    return isTruth ? b.make<arith::OrIOp>(x, y) : b.make<arith::MaxSIOp>(x, y);
  if (kind == Reduction::Min)
    return isTruth ? b.make<arith::AndIOp>(x, y) : b.make<arith::MinSIOp>(x, y);
  return b.make<arith::AddIOp>(x, y);
}

Values Group::finish(Reduction kind, ValueRange totals) {
  Values finished(totals);
  if (kind == Reduction::Mean)
    for (Value &value : finished) {
      Value wide = b.widen(value);
      value = b.convert(b.div(wide, b.constantLike(wide, n)), tg::typeOf(value).getElementType());
    }
  return finished;
}

Values Group::select(Value condition, ValueRange xs, ValueRange ys) {
  Values selected;
  for (auto [x, y] : llvm::zip_equal(xs, ys))
    selected.push_back(b.select(b.broadcastScalar(condition, x), x, y));
  return selected;
}

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

SmallVector<RankedTensorType> braid::typesOf(ValueRange values) { return llvm::map_to_vector(values, tg::typeOf); }

SmallVector<int64_t> braid::dimsOfBlocks(Types types, int64_t ranks) {
  return llvm::map_to_vector(
      types, [&](RankedTensorType type) { return type.getRank() > 0 && type.getDimSize(0) % ranks == 0 ? 0 : kFlat; });
}

SmallVector<RankedTensorType> braid::blockTypes(Types types, Dims dims, int64_t ranks) {
  SmallVector<RankedTensorType> blocks;
  for (auto [type, dim] : llvm::zip_equal(types, dims))
    blocks.push_back(blockType(type, dim, ranks));
  return blocks;
}

SmallVector<RankedTensorType> braid::wholeTypes(Types types, Dims dims, int64_t ranks) {
  SmallVector<RankedTensorType> wholes;
  for (auto [type, dim] : llvm::zip_equal(types, dims))
    wholes.push_back(wholeType(type, dim, ranks));
  return wholes;
}
