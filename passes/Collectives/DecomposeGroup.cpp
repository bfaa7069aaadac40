//===- DecomposeGroup.cpp - what the ranks of a group send and compute ----===//

#include "passes/Collectives/Decompose.h"

using namespace mlir;
using namespace braid;
using namespace braid::comm;

Value Group::permute(Value value, ArrayRef<int64_t> pairs) { return b.make<PermuteOp>(value, pairs, symbol, axes); }

Value Group::rotate(Value value, int64_t distance) {
  SmallVector<int64_t> pairs;
  for (int64_t rank = 0; rank < n; ++rank)
    pairs.append({rank, (rank + distance) % n});
  return permute(value, pairs);
}

Value Group::slice(Value value, int64_t dim, int64_t shift) {
  return b.make<SliceOp>(value, dim, symbol, axes, n, shift);
}

Value Group::assemble(ValueRange blocks, int64_t dim, ArrayRef<int64_t> shifts, Type result) {
  return b.make<AssembleOp>(blocks, dim, shifts, symbol, axes, result);
}

Value Group::number(int64_t root) {
  Value number = b.make<AxisIndexOp>(symbol, axes);
  if (root == 0)
    return number;
  Value distance = b.make<arith::AddIOp>(number, b.like(number, n - root));
  return b.make<arith::RemSIOp>(distance, b.like(number, n));
}

Value Group::allReduce(Reduction kind, Value value) { return b.make<AllReduceOp>(kind, value, symbol, axes); }

Value Group::allGather(Value value, int64_t dim, Type result) {
  return b.make<AllGatherOp>(value, ArrayRef(dim), symbol, axes, result);
}

Value Group::reduceScatter(Reduction kind, Value value, int64_t dim, Type result) {
  return b.make<ReduceScatterOp>(kind, value, ArrayRef(dim), symbol, axes, result);
}

Value Group::allToAll(Value value, int64_t split, int64_t concat) {
  return b.make<AllToAllOp>(value, ArrayRef(split), ArrayRef(concat), symbol, axes, n);
}

Value Group::broadcast(Value value, int64_t root) {
  return b.make<BroadcastOp>(TypeRange(value.getType()), ValueRange(value), ValueRange(),
                             b.builder.getI64IntegerAttr(root), symbol, axes);
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
  // As a signed number, true is -1.
  bool isTruth = type.getElementType().isInteger(1);
  if (kind == Reduction::Max)
    return isTruth ? b.make<arith::OrIOp>(x, y) : b.make<arith::MaxSIOp>(x, y);
  if (kind == Reduction::Min)
    return isTruth ? b.make<arith::AndIOp>(x, y) : b.make<arith::MinSIOp>(x, y);
  return b.make<arith::AddIOp>(x, y);
}

Value Group::finish(Reduction kind, Value total) {
  if (kind != Reduction::Mean)
    return total;
  Value wide = b.widen(total);
  return b.convert(b.div(wide, b.like(wide, n)), tg::typeOf(total).getElementType());
}

Value Group::select(Value condition, Value x, Value y) { return b.select(b.fromScalar(condition, x), x, y); }

int64_t braid::dimOfBlocks(RankedTensorType type, int64_t ranks) {
  return type.getRank() > 0 && type.getDimSize(0) % ranks == 0 ? 0 : kFlat;
}
