//===- PassList.cpp - the passes of a pipeline ----------------------------===//

#include "passes/Pipelines/PassList.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/Pass.h"

using namespace mlir;
using namespace braid;

void PassList::append(std::unique_ptr<Pass> pass, bool isOptional, bool runs) {
  entries.push_back({pass->getArgument().str(), pass->getDescription().str(), isOptional, runs});
  if (!runs)
    return;
  if (pass->getOpName() != func::FuncOp::getOperationName()) {
    functions = nullptr;
    return manager.addPass(std::move(pass));
  }
  if (!functions)
    functions = &manager.nest<func::FuncOp>();
  functions->addPass(std::move(pass));
}

void PassList::add(std::unique_ptr<Pass> pass) { append(std::move(pass), /*isOptional=*/false, /*runs=*/true); }

void PassList::addOptional(std::unique_ptr<Pass> pass, bool runs) {
  runs &= !isDisabled(pass->getArgument());
  append(std::move(pass), /*isOptional=*/true, runs);
}
