//===- ActionOrderTest.cpp - orders that merging keeps --------------------===//

#include "lib/Actions/ActionOrder.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/Verifier.h"
#include <gtest/gtest.h>
#include <random>

using namespace mlir;
using namespace braid;

namespace {

struct ActionOrderTest : testing::Test {
  ActionOrderTest() {
    context.allowUnregisteredDialects();
    context.loadDialect<func::FuncDialect, exec::ExecDialect>();
  }

  Operation *makeOp(ValueRange operands, unsigned results) {
    OperationState state(builder.getUnknownLoc(), "test.op", operands,
                         SmallVector<Type>(results, RankedTensorType::get({4}, builder.getF32Type())));
    return builder.create(state);
  }

  MLIRContext context;
  OpBuilder builder{&context};
};

bool dependsOn(Operation *op, Operation *other) {
  return llvm::any_of(op->getOperands(), [&](Value operand) {
    Operation *producer = operand.getDefiningOp();
    return producer && (producer == other || dependsOn(producer, other));
  });
}

/// Returns whether another action is on a path from `first` to `second`.
bool isBetween(Operation *first, Operation *second) {
  return llvm::any_of(second->getOperands(), [&](Value operand) {
    Operation *producer = operand.getDefiningOp();
    return producer && producer != first && dependsOn(producer, first);
  });
}

TEST_F(ActionOrderTest, RandomMergesKeepAnOrder) {
  std::mt19937 random(3);
  unsigned merged = 0, refused = 0;
  for (unsigned seed = 0; seed < 20; ++seed) {
    OwningOpRef<func::FuncOp> function =
        func::FuncOp::create(builder.getUnknownLoc(), "f", builder.getFunctionType({}, {}));
    Block &block = *function->addEntryBlock();
    builder.setInsertionPointToStart(&block);
    SmallVector<Operation *> ops;
    for (unsigned number = 0; number < 40; ++number) {
      SmallVector<Value> operands;
      for (unsigned operand = 0; operand < random() % 3 && !ops.empty(); ++operand)
        operands.push_back(ops[random() % ops.size()]->getResult(0));
      ops.push_back(makeOp(operands, 1));
    }
    builder.create<func::ReturnOp>(builder.getUnknownLoc());
    ActionOrder order(block);
    for (unsigned tries = 0; tries < 60; ++tries) {
      Operation *first = ops[random() % ops.size()], *second = ops[random() % ops.size()];
      if (first == second || !order.precedes(first, second))
        continue;
      FailureOr<ActionOrder::Between> between = order.between(first, second);
      ASSERT_EQ(failed(between), isBetween(first, second));
      if (failed(between)) {
        ++refused;
        continue;
      }
      SmallVector<Value> operands(first->getOperands());
      llvm::copy_if(second->getOperands(), std::back_inserter(operands),
                    [&](Value operand) { return operand.getDefiningOp() != first; });
      SmallVector<Value> results(first->getResults());
      llvm::append_range(results, second->getResults());
      builder.setInsertionPoint(second);
      Operation *both = makeOp(operands, results.size());
      for (auto [old, result] : llvm::zip_equal(results, both->getResults()))
        old.replaceAllUsesWith(result);
      order.merge(first, second, both, *between);
      second->erase();
      first->erase();
      llvm::erase(ops, first);
      *llvm::find(ops, second) = both;
      ++merged;
    }
    order.apply();
    EXPECT_TRUE(succeeded(verify(*function)));
  }
  EXPECT_GT(merged, 100u);
  EXPECT_GT(refused, 100u);
}

} // namespace
