//===- PartitionShard.cpp - where the part of a rank is -------------------===//

#include "passes/Sharding/PartitionShard.h"
#include "dialects/TG/TGBuilder.h"

using namespace mlir;
using namespace braid;
using namespace braid::comm;

Value RankPlaces::number(Location loc, AxesAttr axes) {
  Value &known = numbers[axes];
  if (!known)
    known = builder.create<AxisIndexOp>(loc, symbol, axes);
  return known;
}

Value RankPlaces::offset(Location loc, AxesAttr axes, int64_t size) {
  Value &known = offsets[{axes, size}];
  if (known)
    return known;
  tg::TensorBuilder t(builder, loc);
  if (mesh.sizeOf(axes) == 1)
    return known = t.zeros(RankedTensorType::get({}, builder.getI32Type()));
  Value index = number(loc, axes);
  return known = size == 1 ? index : t.make<arith::MulIOp>(index, t.like(index, size));
}

/// Element j of rank i's range is number i * range + j of the tensor.  To stay in 32
/// bits for tensors of any size, the bound is computed instead: with elements =
/// q * range + r it is r on rank q, at least the range on ranks before it and at most
/// 0 on those behind it.
Value RankPlaces::maskPadding(Location loc, Value range, double fill, AxesAttr axes, int64_t elements) {
  int64_t size = cast<RankedTensorType>(range.getType()).getDimSize(0);
  if (elements == size * mesh.sizeOf(axes))
    return range;
  tg::TensorBuilder t(builder, loc);
  Value index = number(loc, axes);
  Value last = t.like(index, elements / size), one = t.like(index, 1), minusOne = t.like(index, -1);
  Value ahead = t.make<arith::SubIOp>(last, index);
  ahead = t.make<arith::MaxSIOp>(t.make<arith::MinSIOp>(ahead, one), minusOne);
  Value whole = t.like(index, size), rest = t.like(index, elements % size);
  Value bound = t.make<arith::AddIOp>(t.make<arith::MulIOp>(ahead, whole), rest);
  Value position = t.iota(range, 0, builder.getI32Type());
  Value isElement = t.compare(arith::CmpIPredicate::slt, position, t.fromScalar(bound, position));
  return t.select(isElement, range, t.like(range, fill));
}
