//===- ShardPipeline.cpp - from annotations to the program of a rank ------===//

#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"
#include "passes/Collectives/Passes.h"
#include "passes/Sharding/Passes.h"

using namespace mlir;
using namespace braid;

void braid::buildShardPipeline(OpPassManager &manager) {
  manager.addNestedPass<func::FuncOp>(createPropagatePass());
  manager.addNestedPass<func::FuncOp>(createInsertReshardsPass());
  manager.addNestedPass<func::FuncOp>(createVerifyShardingsPass());
  manager.addPass(createPartitionPass());
  // From here on functions are programs of ranks.
  manager.addNestedPass<func::FuncOp>(createCommSimplifyPass());
  manager.addPass(createVerifyOrder());
}

void braid::registerShardPipeline() {
  PassPipelineRegistration<>("comm-shard",
                             "Makes the program of a rank from a function with a few shardings: propagates them, "
                             "inserts reshards, partitions, simplifies and verifies",
                             buildShardPipeline);
}
