//===- Dependence.cpp - dependence on weights and inputs ------------------===//

#include "passes/Stages/Dependence.h"
#include "lib/Schedule/Forward.h"
#include "passes/Base/Signature.h"

using namespace mlir;
using namespace braid;

Dependence::Dependence(func::FuncOp program) {
  DenseSet<Value> ofWeights, ofInputs;
  for (BlockArgument argument : program.getArguments()) {
    // States, such as sums over microbatches, belong to this rank and this microbatch.
    if (parameterOf(argument) || stateOf(argument))
      ofWeights.insert(argument);
    if (!parameterOf(argument))
      ofInputs.insert(argument);
  }
  for (Operation &op : program.front().without_terminator()) {
    SmallVector<Value> read = valuesReadBy(&op);
    bool readsWeights = llvm::any_of(read, [&](Value value) { return ofWeights.contains(value); });
    bool readsInputs = llvm::any_of(read, [&](Value value) { return ofInputs.contains(value); });
    if (readsWeights)
      ofWeights.insert(op.result_begin(), op.result_end());
    if (readsInputs)
      ofInputs.insert(op.result_begin(), op.result_end());
    if (readsWeights && readsInputs)
      ofStages.insert(&op);
  }
}
