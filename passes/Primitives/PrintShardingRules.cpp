//===- PrintShardingRules.cpp - print sharding rules ----------------------===//

#include "dialects/Interfaces/Interfaces.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#define GEN_PASS_DEF_PRINTSHARDINGRULESPASS
#include "passes/Primitives/Passes.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;
using namespace braid;

namespace {
struct PrintShardingRules final : braid::impl::PrintShardingRulesPassBase<PrintShardingRules> {
  using PrintShardingRulesPassBase::PrintShardingRulesPassBase;

  void runOnOperation() final {
    llvm::StringSet<> seen;
    getOperation().walk([&](Operation *op) {
      // Symbols (functions, meshes) and the module compute nothing.
      if (isa<ModuleOp, SymbolOpInterface>(op) || op->hasTrait<OpTrait::IsTerminator>())
        return;
      seen.insert(op->getName().getStringRef());
      std::optional<ShardingRule> rule = shardingRuleOf(op);
      op->emitRemark() << op->getName() << ": " << (rule ? rule->str() : "no sharding rule");
    });
    if (complete && failed(checkComplete(seen)))
      signalPassFailure();
  }

private:
  LogicalResult checkComplete(const llvm::StringSet<> &seen) {
    LogicalResult result = success();
    for (RegisteredOperationName name : getContext().getRegisteredOperations())
      if (name.hasInterface<ShardingRuleOpInterface>() && !seen.contains(name.getStringRef()))
        result = getOperation().emitError() << "no " << name.getStringRef() << ", which has a sharding rule";
    return result;
  }
};
} // namespace
