//===- VerifyFacts.cpp - phases against dependences -----------------------===//
//
// Knows nothing of how facts are found: it follows values from the loss and from new
// parameters, and compares.
//
//===----------------------------------------------------------------------===//

#include "dialects/Comm/Comm.h"
#include "dialects/Comm/Programs.h"
#include "dialects/Exec/Exec.h"
#include "dialects/TG/Facts.h"
#include "lib/Schedule/Forward.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "passes/Graph/Passes.h"
#include "passes/Graph/Signature.h"
#include "llvm/ADT/StringSet.h"

namespace braid {
#define GEN_PASS_DEF_VERIFYFACTSPASS
#include "passes/Graph/Passes.h.inc"
} // namespace braid

using namespace mlir;
using namespace braid;
using namespace braid::tg;

/// Checks what the facts of one op say by themselves.
static LogicalResult checkNames(Operation *op, const llvm::StringSet<> &parameters) {
  FactsAttr facts = factsOf(op);
  for (StringAttr name : facts.getOf())
    if (!parameters.contains(name))
      return op->emitOpError() << "makes a tensor of " << name << " by its facts, but there is no such parameter";
  if (facts.getOf().empty() && llvm::is_contained(facts.getAs(), TensorKind::Gradient))
    return op->emitOpError() << "makes a gradient by its facts, but they name no parameter";
  return success();
}

/// The op that makes a value, through views: they are no work of a phase.
static Operation *makerOf(Value value) {
  Operation *op = value.getDefiningOp();
  while (op && isa<exec::ViewOp>(op))
    op = op->getOperand(0).getDefiningOp();
  return op;
}

/// The values that a result is made of: of a kernel, those that its body reads for it; of a
/// bucket, what is sent for it.
static SmallVector<Value> valuesReadFor(OpResult result) {
  auto wait = dyn_cast<comm::WaitOp>(result.getOwner());
  auto collective = wait ? wait.getStart().getCollective() : dyn_cast<comm::CollectiveOpInterface>(result.getOwner());
  if (collective && collective.getSent().size() == result.getOwner()->getNumResults())
    return {collective.getSent()[result.getResultNumber()]};
  auto kernel = dyn_cast<exec::KernelOp>(result.getOwner());
  if (!kernel)
    return valuesReadBy(result.getOwner());
  Block &body = kernel->getRegion(0).front();
  SetVector<Value> inside, read;
  inside.insert(body.getTerminator()->getOperand(result.getResultNumber()));
  for (unsigned next = 0; next < inside.size(); ++next) {
    if (auto argument = dyn_cast<BlockArgument>(inside[next]))
      read.insert(kernel->getOperand(argument.getArgNumber()));
    else
      for (Value value : valuesReadBy(inside[next].getDefiningOp()))
        inside.insert(value);
  }
  return read.takeVector();
}

/// What the loss depends on.
static DenseSet<Operation *> opsThatLossNeeds(func::FuncOp program) {
  DenseSet<Operation *> needed;
  SetVector<Value> values;
  for (Value result : forwardResults(program))
    values.insert(result);
  for (unsigned next = 0; next < values.size(); ++next)
    if (auto result = dyn_cast<OpResult>(values[next])) {
      needed.insert(result.getOwner());
      for (Value read : valuesReadFor(result))
        values.insert(read);
    }
  return needed;
}

namespace {
/// The facts of a program on values.
class Checker {
public:
  explicit Checker(func::FuncOp program) : program(program), isTrained(isTraining(program)) {
    for (const auto &byName : {parametersByName(program), parametersByOwner(program)})
      for (const auto &entry : byName)
        parameters.insert(entry.first());
    findDependents();
    findNeededByGradients();
  }

  LogicalResult run() {
    DenseSet<Operation *> forward = isTrained ? opsThatLossNeeds(program) : DenseSet<Operation *>();
    for (Operation &op : program.front().without_terminator())
      if (failed(checkOne(&op, forward.contains(&op))))
        return failure();
    return checkUpdates();
  }

private:
  void findDependents();
  void findNeededByGradients();
  LogicalResult checkOne(Operation *op, bool isForLoss);
  LogicalResult checkOrder(Operation *op);
  LogicalResult checkUpdates();

  func::FuncOp program;
  bool isTrained;
  llvm::StringSet<> parameters;
  /// What depends on an argument, what a result does, and what a gradient does.
  DenseSet<Operation *> ofArguments, live, forGradients;
};
} // namespace

void Checker::findDependents() {
  for (Operation &op : program.front().without_terminator())
    for (Value read : valuesReadBy(&op))
      if (isa<BlockArgument>(read) || ofArguments.contains(read.getDefiningOp()))
        ofArguments.insert(&op);
}

void Checker::findNeededByGradients() {
  for (Operation &op : llvm::reverse(program.front()))
    if (op.hasTrait<OpTrait::IsTerminator>() || live.contains(&op) || op.getNumResults() == 0)
      for (Value read : valuesReadBy(&op))
        if (Operation *made = read.getDefiningOp())
          live.insert(made);
  auto isGradient = [&](unsigned result) { // or reported of one
    return program.getResultAttr(result, kGradOf) || program.getResultAttr(result, kOutput);
  };
  for (OpOperand &returned : returnOf(program)->getOpOperands())
    if (isGradient(returned.getOperandNumber()))
      if (Operation *op = returned.get().getDefiningOp())
        forGradients.insert(op);
  for (Operation &op : llvm::reverse(program.front().without_terminator())) {
    if (makes(&op, TensorKind::Gradient) || makes(&op, TensorKind::Accumulator))
      forGradients.insert(&op);
    // Where the op that makes a gradient folds away, the update reads what it was made of.
    FactsAttr facts = factsOf(&op);
    bool isUpdateOfParameter = facts && facts.getPhase() == Phase::Update && !facts.getOf().empty();
    if (forGradients.contains(&op) || isUpdateOfParameter)
      for (Value read : valuesReadBy(&op))
        if (Operation *made = read.getDefiningOp())
          forGradients.insert(made);
  }
}

LogicalResult Checker::checkOne(Operation *op, bool isForLoss) {
  FactsAttr facts = factsOf(op);
  if (!ofArguments.contains(op) || isa<exec::ViewOp>(op) || (!facts && !isTrained))
    return success();
  if (failed(requireFacts(op)) || failed(checkNames(op, parameters)))
    return failure();
  Phase phase = facts.getPhase();
  // Where some ranks keep all that lives across steps, the others return nothing new.
  bool mustBeForward = isForLoss || (!isTrained && !comm::entryOf(program));
  if (phase != Phase::Forward && mustBeForward)
    return op->emitOpError() << "is " << stringifyPhase(phase) << " by its facts, but "
                             << (isForLoss ? "the loss depends on it" : "its program does not train");
  if (phase == Phase::Backward && live.contains(op) && !forGradients.contains(op))
    return op->emitOpError() << "is backward by its facts, but no gradient depends on it";
  return checkOrder(op);
}

/// A phase reads nothing that a later phase makes.
LogicalResult Checker::checkOrder(Operation *op) {
  Phase latest = *latestPhaseOf(op);
  for (Value read : valuesReadBy(op)) {
    Operation *made = makerOf(read);
    std::optional<Phase> earliest = made && ofArguments.contains(made) ? phaseOf(made) : std::nullopt;
    if (!earliest || *earliest <= latest)
      continue;
    InFlightDiagnostic diagnostic = op->emitOpError()
                                    << "is " << stringifyPhase(latest) << " by its facts, but reads what is made in "
                                    << stringifyPhase(*earliest);
    diagnostic.attachNote(made->getLoc()) << "it is made here";
    return diagnostic;
  }
  return success();
}

/// New values of parameters and of what optimizers keep for them are made in the update.
LogicalResult Checker::checkUpdates() {
  for (OpOperand &returned : returnOf(program)->getOpOperands()) {
    auto name = program.getResultAttrOfType<StringAttr>(returned.getOperandNumber(), kUpdates);
    Operation *op = makerOf(returned.get());
    if (!name || !parameters.contains(name) || !op || !ofArguments.contains(op))
      continue;
    if (latestPhaseOf(op) != Phase::Update)
      return op->emitOpError() << "is " << stringifyPhase(*phaseOf(op)) << " by its facts, but makes the new value of "
                               << name;
  }
  return success();
}

//===----------------------------------------------------------------------===//
// In memory
//===----------------------------------------------------------------------===//

/// Order, and with it what depends on what, is as it was on values.
static LogicalResult checkInMemory(exec::ProgramOp program, const llvm::StringSet<> &parameters,
                                   const llvm::StringSet<> &persistent) {
  auto nameOf = [](Value ref) {
    auto op = ref.getDefiningOp<exec::RefOp>();
    return op ? op.getBuffer() : StringRef();
  };
  bool isTrained = false;
  for (auto action : program.getOps<exec::ActionOpInterface>())
    for (Value out : action.getActionOuts())
      isTrained |= persistent.contains(nameOf(out));
  // What holds values that depend on arguments of the program.
  llvm::StringSet<> ofArguments = persistent;
  for (auto buffer : program.getOps<exec::BufferOp>())
    if (buffer.getIo())
      ofArguments.insert(buffer.getSymName());
  for (auto action : program.getOps<exec::ActionOpInterface>()) {
    bool isOfArguments =
        llvm::any_of(action.getActionIns(), [&](Value in) { return ofArguments.contains(nameOf(in)); });
    for (Value out : action.getActionOuts())
      if (isOfArguments)
        ofArguments.insert(nameOf(out));
    if (isTrained && isOfArguments && failed(requireFacts(action)))
      return failure();
    if (factsOf(action) && failed(checkNames(action, parameters)))
      return failure();
  }
  return success();
}

namespace {
struct VerifyFacts final : braid::impl::VerifyFactsPassBase<VerifyFacts> {
  void runOnOperation() final {
    markAllAnalysesPreserved();
    llvm::StringSet<> parameters, persistent;
    for (auto tensor : getOperation().getOps<exec::TensorOp>()) {
      persistent.insert(tensor.getSymName());
      if (auto parameter = dyn_cast<ParamAttr>(tensor.getValue())) {
        parameters.insert(parameter.getName());
        if (parameter.getCopyOf())
          parameters.insert(parameter.getCopyOf());
      }
    }
    for (auto program : getOperation().getOps<exec::ProgramOp>())
      if (failed(checkInMemory(program, parameters, persistent)))
        return signalPassFailure();
    for (auto program : getOperation().getOps<func::FuncOp>())
      if (!program.isExternal() && failed(Checker(program).run()))
        return signalPassFailure();
  }
};
} // namespace
