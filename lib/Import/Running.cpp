//===- Running.cpp - sums and products of all elements before each one ----===//

#include "lib/Import/Running.h"

using namespace llvm;
using namespace mlir;
using namespace braid;

Value braid::padded(tg::TensorBuilder &b, Value a, int64_t dim, int64_t low, int64_t high, double number) {
  auto filled = [&](int64_t size) {
    SmallVector<int64_t> shape(tg::typeOf(a).getShape());
    shape[dim] = size;
    return b.constant(tg::withShape(tg::typeOf(a), shape), number);
  };
  SmallVector<Value> parts{a};
  if (low > 0)
    parts.insert(parts.begin(), filled(low));
  if (high > 0)
    parts.push_back(filled(high));
  return parts.size() == 1 ? a : b.make<tg::ConcatOp>(parts, dim);
}

Value braid::running(tg::TensorBuilder &b, llvm::function_ref<Value(Value, Value)> combine, double neutral, Value a,
                     int64_t dim, bool fromBehind) {
  int64_t size = tg::typeOf(a).getDimSize(dim);
  for (int64_t distance = 1; distance < size; distance *= 2) {
    Value kept = b.slice(a, dim, fromBehind ? distance : 0, size - distance);
    Value moved = padded(b, kept, dim, fromBehind ? 0 : distance, fromBehind ? distance : 0, neutral);
    a = combine(moved, a);
  }
  return a;
}
