//===- Running.cpp - sums and products of all elements before each one ----===//

#include "lib/Import/Running.h"

#include "lib/Import/Parts.h"

using namespace llvm;
using namespace mlir;
using namespace braid;

Value braid::running(tg::TensorBuilder &b, llvm::function_ref<Value(Value, Value)> combine, double neutral, Value a,
                     int64_t dim, bool fromBehind) {
  int64_t size = tg::typeOf(a).getDimSize(dim);
  for (int64_t distance = 1; distance < size; distance *= 2) {
    Value kept = b.slice(a, dim, fromBehind ? distance : 0, size - distance);
    Value moved = padOrCut(b, kept, dim, fromBehind ? 0 : distance, fromBehind ? distance : 0, neutral);
    a = combine(moved, a);
  }
  return a;
}
