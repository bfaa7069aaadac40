//===- Parts.cpp - slices, elements at ends and between neighbors ---------===//

#include "lib/Import/Parts.h"

using namespace llvm;
using namespace mlir;
using namespace braid;

Value braid::sliced(tg::TensorBuilder &b, Value a, int64_t dim, int64_t offset, int64_t size, int64_t stride) {
  if (size == tg::typeOf(a).getDimSize(dim) && stride == 1)
    return a;
  return b.make<tg::SliceOp>(a, dim, offset, size, stride);
}

Value braid::padOrCut(tg::TensorBuilder &b, Value a, int64_t dim, int64_t low, int64_t high, double number) {
  int64_t cutLow = std::max<int64_t>(-low, 0), cutHigh = std::max<int64_t>(-high, 0),
          size = tg::typeOf(a).getDimSize(dim);
  if (cutLow + cutHigh >= size) { // no element of `a` stays
    SmallVector<int64_t> shape(shapeOf(a));
    shape[dim] = size + low + high;
    return b.constant(tg::withShape(tg::typeOf(a), shape), number);
  }
  a = sliced(b, a, dim, cutLow, size - cutLow - cutHigh);
  low = std::max<int64_t>(low, 0);
  high = std::max<int64_t>(high, 0);
  if (low == 0 && high == 0)
    return a;
  if (tg::isFloat(a))
    return b.make<tg::PadOp>(a, dim, low, high, APFloat(number));
  SmallVector<Value> joined;
  auto joinFilled = [&](int64_t size) {
    SmallVector<int64_t> shape(tg::typeOf(a).getShape());
    shape[dim] = size;
    if (size > 0)
      joined.push_back(b.constant(tg::withShape(tg::typeOf(a), shape), number));
  };
  joinFilled(low);
  joined.push_back(a);
  joinFilled(high);
  return b.make<tg::ConcatOp>(joined, dim);
}

Value braid::spread(tg::TensorBuilder &b, Value a, int64_t dim, int64_t amount, double number) {
  SmallVector<int64_t> shape(tg::typeOf(a).getShape());
  int64_t size = shape[dim];
  if (amount == 0 || size == 1)
    return a;
  shape.insert(shape.begin() + dim + 1, 1);
  a = padOrCut(b, b.reshape(a, shape), dim + 1, 0, amount, number);
  shape.erase(shape.begin() + dim + 1);
  shape[dim] = size * (amount + 1);
  return padOrCut(b, b.reshape(a, shape), dim, 0, -amount, number);
}
