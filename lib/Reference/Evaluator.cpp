//===- Evaluator.cpp - runs functions on values ---------------------------===//

#include "lib/Reference/Evaluator.h"
#include "lib/Reference/Elementwise.h"

using namespace mlir;
using namespace braid;
using namespace braid::reference;

FailureOr<Tensor> braid::reference::evaluateConstant(arith::ConstantOp op) {
  if (std::optional<Tensor> value = Tensor::ofAttribute(op.getValue()))
    return std::move(*value);
  return op.emitError("the interpreter reads dense constants only");
}

/// Returns the results of an op's function before rounding.
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

Results braid::reference::evaluateOnRank(Operation *op, ArrayRef<const Tensor *> operands, Arithmetic arithmetic,
                                         const Network *network, int64_t rank) {
  if (network)
    if (std::optional<Tensor> made = evaluateAtRank(op, operands, network->getMesh(), rank))
      return results(std::move(*made));
  return evaluate(op, operands, arithmetic);
}

//===----------------------------------------------------------------------===//
// Functions
//===----------------------------------------------------------------------===//

/// Returns for each op of a block the values that no later op reads.
static DenseMap<Operation *, SmallVector<Value>> lastReads(Block &block) {
  DenseMap<Value, Operation *> last;
  for (Operation &op : block) {
    for (Value operand : op.getOperands())
      last[operand] = &op;
    if (auto start = dyn_cast<comm::StartOp>(op))
      for (Value operand : start.getWork()->getOperands())
        last[operand] = &op;
  }
  DenseMap<Operation *, SmallVector<Value>> dying;
  for (auto [value, op] : last)
    dying[op].push_back(value);
  return dying;
}

FunctionRun::FunctionRun(func::FuncOp function, ArrayRef<Tensor> arguments, Arithmetic arithmetic, Network *network,
                         int64_t rank)
    : function(function), arithmetic(arithmetic), network(network), rank(rank) {
  Block &block = function.getBody().front();
  for (auto [argument, tensor] : llvm::zip_equal(block.getArguments(), arguments))
    values[argument] = tensor;
  dying = lastReads(block);
  next = block.begin();
}

void FunctionRun::bind(Operation *op, ArrayRef<Tensor> results) {
  for (auto [value, tensor] : llvm::zip_equal(op->getResults(), results))
    values[value] = tensor;
}

FailureOr<std::shared_ptr<Request>> FunctionRun::start(Operation *op) {
  SmallVector<Tensor> sent;
  for (Value operand : cast<exec::ActionOpInterface>(op).getActionIns())
    sent.push_back(*valueOf(operand));
  if (isa<comm::CopyOp>(op))
    return copyRequest(op, std::move(sent));
  if (!network)
    return op->emitError() << "'" << op->getName() << "' is in a function without 'comm.program', which has no ranks";
  return network->start(rank, cast<comm::CollectiveOpInterface>(op), std::move(sent));
}

/// Runs a start, a wait or, as both in one, a collective or a copy. Returns false if it must wait for other ranks.
FailureOr<bool> FunctionRun::runCollective(Operation *op) {
  // A blocking collective is its own ticket.
  auto wait = dyn_cast<comm::WaitOp>(op);
  auto started = dyn_cast<comm::StartOp>(op);
  std::shared_ptr<Request> &request = requests[wait ? wait.getStart() : op];
  if (!request) {
    FailureOr<std::shared_ptr<Request>> made = start(started ? started.getWork().getOperation() : op);
    if (failed(made))
      return failure();
    request = *made;
  }
  if (started)
    return true;
  if (!request->done)
    return false;
  bind(op, request->received);
  request.reset();
  return true;
}

/// Runs one op; returns false if it must wait.
FailureOr<bool> FunctionRun::runOp(Operation *op) {
  if (isa<comm::StartOp, comm::WaitOp, comm::QueuedOpInterface>(op))
    return runCollective(op);
  SmallVector<const Tensor *> operands;
  for (Value operand : op->getOperands())
    operands.push_back(valueOf(operand));
  Results made = evaluateOnRank(op, operands, arithmetic, network, rank);
  if (failed(made))
    return failure();
  bind(op, *made);
  return true;
}

FailureOr<bool> FunctionRun::advance() {
  for (; !next->hasTrait<OpTrait::IsTerminator>(); ++next) {
    FailureOr<bool> finished = runOp(&*next);
    if (failed(finished) || !*finished)
      return finished;
    for (Value value : dying.lookup(&*next))
      values.erase(value);
  }
  return true;
}

Results FunctionRun::returned() {
  SmallVector<Tensor> tensors;
  for (Value value : next->getOperands())
    tensors.push_back(*valueOf(value));
  return tensors;
}
