//===- KeptValues.cpp - values kept from forward to backward --------------===//

#include "passes/Recompute/KeptValues.h"
#include "dialects/Interfaces/Interfaces.h"

using namespace mlir;
using namespace braid;

/// Returns the cost of keeping a value, in bytes. It is 0 if the value lives anyway. A view is kept by keeping its
/// source.
static int64_t bytesToKeep(OpResult value, const ForwardValues &values, const ReplayPrices &prices, bool mayReplay) {
  Operation *op = value.getOwner();
  if (mayReplay && prices.mustReplay(op))
    return MinCut::kUnbounded;
  if (values.isReturned(value))
    return 0;
  return mayReplay && isSeenThrough(op) ? MinCut::kUnbounded : bytesOf(value.getType());
}

KeptValues::KeptValues(const ForwardValues &values, const ReplayPrices &prices) : values(values) {
  unsigned source = cut.addNode(), sink = cut.addNode();
  for (Operation *op : values.getOps()) {
    unsigned node = nodes[op] = cut.addNode();
    std::optional<int64_t> price = prices.of(op).bytes;
    cut.addEdge(source, node, price.value_or(MinCut::kUnbounded));
    for (OpResult result : op->getResults()) {
      unsigned value = nodesOfValues[result] = cut.addNode();
      cut.addEdge(node, value, bytesToKeep(result, values, prices, price.has_value()));
      if (values.isRead(result))
        cut.addEdge(value, sink, MinCut::kUnbounded);
    }
    for (Value operand : op->getOperands())
      if (values.contains(operand))
        cut.addEdge(nodesOfValues.lookup(operand), node, MinCut::kUnbounded);
  }
  cut.solve(source, sink);
}

bool KeptValues::isKept(Value value) const {
  return values.contains(value) && cut.isOnSinkSide(nodesOfValues.lookup(value)) && !isReplayed(value.getDefiningOp());
}
