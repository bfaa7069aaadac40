//===- Evaluator.cpp - runs functions on values ---------------------------===//

#include "lib/Reference/Evaluator.h"
#include "lib/Reference/Elementwise.h"

using namespace mlir;
using namespace braid::reference;

FailureOr<Tensor> braid::reference::evaluateConstant(arith::ConstantOp op) {
  if (std::optional<Tensor> value = Tensor::ofAttribute(op.getValue()))
    return std::move(*value);
  return op.emitError("the interpreter reads dense constants only");
}

/// The results as their functions made them, before rounding.
static Results evaluateExactly(Operation *op, ArrayRef<const Tensor *> operands, Arithmetic arithmetic) {
  if (auto constant = dyn_cast<arith::ConstantOp>(op)) {
    FailureOr<Tensor> value = evaluateConstant(constant);
    return failed(value) ? Results(failure()) : results(std::move(*value));
  }
  Operands in(op, operands);
  if (const OpFunction *function = OpTable::instance().find(op))
    return (*function)(op, in, arithmetic);
  if (ElementFunction function = elementFunction(op))
    return evaluateElementwise(op, function, in);
  return op->emitError() << "the interpreter does not know '" << op->getName() << "'";
}

Results braid::reference::evaluate(Operation *op, ArrayRef<const Tensor *> operands, Arithmetic arithmetic) {
  Results made = evaluateExactly(op, operands, arithmetic);
  if (succeeded(made) && arithmetic == Arithmetic::Native)
    for (Tensor &tensor : *made)
      tensor.round();
  return made;
}

/// The values that no op after `op` reads, for each op of a block.
static DenseMap<Operation *, SmallVector<Value>> lastReads(Block &block) {
  DenseMap<Value, Operation *> last;
  for (Operation &op : block)
    for (Value operand : op.getOperands())
      last[operand] = &op;
  DenseMap<Operation *, SmallVector<Value>> dying;
  for (auto [value, op] : last)
    dying[op].push_back(value);
  return dying;
}

Results braid::reference::runFunction(func::FuncOp function, ArrayRef<Tensor> arguments, Arithmetic arithmetic) {
  if (function.isExternal() || !function.getBody().hasOneBlock())
    return function.emitError("the interpreter runs functions of one block");
  Block &block = function.getBody().front();
  DenseMap<Value, Tensor> values;
  for (auto [argument, tensor] : llvm::zip_equal(block.getArguments(), arguments))
    values[argument] = tensor;
  DenseMap<Operation *, SmallVector<Value>> dying = lastReads(block);

  for (Operation &op : block.without_terminator()) {
    SmallVector<const Tensor *> operands;
    for (Value operand : op.getOperands())
      operands.push_back(&values.find(operand)->second);
    Results made = evaluate(&op, operands, arithmetic);
    if (failed(made))
      return failure();
    for (auto [value, tensor] : llvm::zip_equal(op.getResults(), *made))
      values[value] = std::move(tensor);
    for (Value value : dying.lookup(&op))
      values.erase(value);
  }
  SmallVector<Tensor> returned;
  for (Value value : block.getTerminator()->getOperands())
    returned.push_back(values.find(value)->second);
  return returned;
}
