//===- PrintShardingRules.cpp - what may be sharded, in words -------------===//

#include "dialects/Interfaces/Interfaces.h"
#include "passes/Graph/Passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace braid {
#define GEN_PASS_DEF_PRINTSHARDINGRULESPASS
#include "passes/Graph/Passes.h.inc"
} // namespace braid

using namespace mlir;
using namespace braid;

namespace {
struct PrintShardingRules final : braid::impl::PrintShardingRulesPassBase<PrintShardingRules> {
  void runOnOperation() final {
    getOperation().walk([](Operation *op) {
      if (isa<func::FuncOp>(op) || op->hasTrait<OpTrait::IsTerminator>())
        return;
      std::optional<ShardingRule> rule = shardingRuleOf(op);
      op->emitRemark() << op->getName() << ": " << (rule ? rule->str() : "no sharding rule");
    });
  }
};
} // namespace
