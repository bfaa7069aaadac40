//===- CommonDims.cpp - dims that are sharded together --------------------===//

#include "lib/Sharding/CommonDims.h"
#include "lib/Sharding/FactorAxes.h"

using namespace mlir;
using namespace braid;

void CommonDims::add(Value value, unsigned dim) {
  start(value, dim);
  if (failed(run()))
    llvm_unreachable("nothing interrupts the flow");
}

WalkResult CommonDims::enter(Operation *op, const ShardingRule *rule, DimParts &factors) {
  if (factors.empty() || !isShardable(rule->factors[factors.back().number]))
    return WalkResult::skip();
  factors.erase(factors.begin(), factors.end() - 1);
  return WalkResult::advance();
}

WalkResult CommonDims::reach(Operation *op, Value value, DimPart part) {
  int64_t size = cast<RankedTensorType>(value.getType()).getDimSize(part.number);
  return part.inner * part.size == size ? WalkResult::advance() : WalkResult::skip();
}
