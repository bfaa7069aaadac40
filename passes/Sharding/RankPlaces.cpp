//===- RankPlaces.cpp - positions of a rank's parts -----------------------===//

#include "passes/Sharding/RankPlaces.h"
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
  return known = size == 1 ? index : t.make<arith::MulIOp>(index, t.constantLike(index, size));
}

/// Computes the starts of blocks i and 2c - 1 - i for rank i of the zigzag's c ranks. Other axes may take only a part
/// of one of them.
ArrayRef<Value> RankPlaces::starts(Location loc, const Zigzag &zigzag, AxesAttr axes, int64_t size) {
  SmallVector<Value, 2> &known = zigzagStarts[{axes, size}];
  if (!known.empty())
    return known;
  tg::TensorBuilder t(builder, loc);
  AxesAttr before = zigzag.before(axes), behind = zigzag.behind(axes);
  int64_t whole = size / mesh.sizeOf(before), block = whole / (2 * zigzag.ranks);
  Value first = offset(loc, AxesAttr::get(loc.getContext(), zigzag.axis), block);
  Value second = t.make<arith::SubIOp>(t.constantLike(first, static_cast<double>(whole - block)), first);
  if (int64_t shares = mesh.sizeOf(behind); shares > 1) {
    // A rank's share of both blocks lies in the first block or in the second, counted from the second's start.
    Value share = offset(loc, behind, 2 * block / shares);
    Value isFirst = t.compare(arith::CmpIPredicate::slt, share, t.constantLike(share, static_cast<double>(block)));
    Value inSecond = t.make<arith::SubIOp>(second, t.constantLike(second, static_cast<double>(block)));
    known = {t.make<arith::AddIOp>(t.select(isFirst, first, inSecond), share)};
  } else {
    known = {first, second};
  }
  if (mesh.sizeOf(before) > 1)
    for (Value &start : known)
      start = t.make<arith::AddIOp>(start, offset(loc, before, whole));
  return known;
}

/// Element j of rank i's range is element i * range + j of the tensor. Computes the bound on j instead, so that 32
/// bits suffice for tensors of any size. With elements = q * range + r, the bound is r on rank q, at least `range` on
/// the ranks before it, and at most 0 on those behind it.
Value RankPlaces::maskPadding(Location loc, Value range, double fill, AxesAttr axes, int64_t elements) {
  int64_t size = cast<RankedTensorType>(range.getType()).getDimSize(0);
  if (elements == size * mesh.sizeOf(axes))
    return range;
  tg::TensorBuilder t(builder, loc);
  Value index = number(loc, axes);
  Value last = t.constantLike(index, elements / size), one = t.constantLike(index, 1),
        minusOne = t.constantLike(index, -1);
  Value ahead = t.make<arith::SubIOp>(last, index);
  ahead = t.make<arith::MaxSIOp>(t.make<arith::MinSIOp>(ahead, one), minusOne);
  Value whole = t.constantLike(index, size), rest = t.constantLike(index, elements % size);
  Value bound = t.make<arith::AddIOp>(t.make<arith::MulIOp>(ahead, whole), rest);
  Value position = t.iota(range, 0, builder.getI32Type());
  Value isElement = t.compare(arith::CmpIPredicate::slt, position, t.broadcastScalar(bound, position));
  return t.select(isElement, range, t.constantLike(range, fill));
}
