//===- VerifyFacts.cpp - check phases against dependences -----------------===//
//
// Independent of the passes that set facts: follows values from the loss and from new parameters, and compares.
//
//===----------------------------------------------------------------------===//

#include "dialects/Comm/Comm.h"
#include "dialects/Comm/Programs.h"
#include "dialects/Exec/Exec.h"
#include "dialects/TG/Facts.h"
#include "lib/Schedule/Forward.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#define GEN_PASS_DEF_VERIFYFACTSPASS
#include "passes/Autodiff/Passes.h"
#include "passes/Base/Signature.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;
using namespace braid;
using namespace braid::tg;

namespace {
/// The names that facts of tensors may use.
struct Names {
  llvm::StringSet<> owners, units;

  void add(tg::ParamAttr parameter) {
    owners.insert(parameter.getOf());
    if (parameter.getUnit())
      units.insert(parameter.getUnit());
  }
  void add(tg::StateAttr state) {
    if (!state.getOf())
      owners.insert(state.getName());
  }
};
} // namespace

/// Checks the facts of one op's tensors on their own.
static LogicalResult checkTensors(Operation *op, ArrayRef<FactsAttr> tensors, const Names &names) {
  std::optional<Phase> phase = phaseOf(op);
  bool mayMix = isa<exec::ActionOpInterface>(op);
  for (FactsAttr facts : tensors) {
    if (!facts)
      continue;
    for (StringAttr name : facts.getOf())
      if (!names.owners.contains(name))
        return op->emitOpError() << "makes a tensor of " << name
                                 << " by its facts, but the module has no such parameter";
    if (tg::unitOf(facts) && !names.units.contains(tg::unitOf(facts)))
      return op->emitOpError() << "works for the unit " << tg::unitOf(facts)
                               << " by its facts, but no parameter belongs to the unit";
    if (facts.getPhase() != phase && !mayMix)
      return op->emitOpError() << "makes tensors in " << stringifyPhase(*phase) << " and in "
                               << stringifyPhase(facts.getPhase())
                               << " by its facts; only an action, which is made of several ops, may have two phases";
  }
  return success();
}

/// Looks through views, which belong to no phase.
static Value stripViews(Value value) {
  while (auto view = value.getDefiningOp<exec::ViewOp>())
    value = view->getOperand(0);
  return value;
}

/// Returns the values that a result depends on: for a kernel, those that its body reads for it; for a bucket, the
/// matching operand.
static SmallVector<Value> valuesReadForResult(OpResult result) {
  auto wait = dyn_cast<comm::WaitOp>(result.getOwner());
  auto collective = wait ? wait.getStart().getCollective() : dyn_cast<comm::CollectiveOpInterface>(result.getOwner());
  if (collective && collective.getSent().size() == result.getOwner()->getNumResults())
    return {collective.getSent()[result.getResultNumber()]};
  if (comm::CopyOp copy = comm::copyOf(result.getOwner()))
    return {copy.getIns()[result.getResultNumber()]};
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

namespace {
/// Cached lookup of the values that results depend on.
class Reads {
public:
  /// Valid until the next call.
  ArrayRef<Value> of(OpResult result) {
    auto [found, isNew] = known.try_emplace(result);
    if (isNew)
      found->second = valuesReadForResult(result);
    return found->second;
  }

  /// Returns some values and all values that they depend on.
  DenseSet<Value> sourcesOf(ArrayRef<Value> made) {
    SetVector<Value> all(made.begin(), made.end());
    for (unsigned next = 0; next < all.size(); ++next)
      if (auto result = dyn_cast<OpResult>(all[next]))
        for (Value read : of(result))
          all.insert(read);
    return DenseSet<Value>(all.begin(), all.end());
  }

private:
  DenseMap<Value, SmallVector<Value>> known;
};

/// Checks the facts of a program in value form.
class Checker {
public:
  Checker(func::FuncOp program, const Names &names) : program(program), names(names), isTrained(isTraining(program)) {
    findSources();
  }

  LogicalResult run() {
    for (Operation &op : program.front().without_terminator())
      if (failed(checkOp(&op)))
        return failure();
    return checkUpdates();
  }

private:
  void findSources();
  LogicalResult checkOp(Operation *op);
  LogicalResult checkPhase(OpResult made, FactsAttr facts);
  LogicalResult checkOrder(OpResult made, Phase phase);
  LogicalResult checkUpdates();

  func::FuncOp program;
  const Names &names;
  bool isTrained;
  Reads reads;
  /// Values that depend on arguments, and values that results, the loss and gradients depend on.
  DenseSet<Value> ofArguments, live, forLoss, forGradients;
};
} // namespace

void Checker::findSources() {
  ofArguments.insert(program.getArguments().begin(), program.getArguments().end());
  SmallVector<Value> gradients;
  for (Operation &op : program.front().without_terminator())
    for (OpResult result : op.getResults()) {
      FactsAttr facts = factsOfTensor(result);
      if (llvm::any_of(reads.of(result), [&](Value read) { return ofArguments.contains(read); }))
        ofArguments.insert(result);
      // If the op that defines a gradient was folded away, the update reads the predecessors of the gradient.
      if (facts && (tg::isGradient(facts) || (facts.getPhase() == Phase::Update && tg::kindOf(facts))))
        gradients.push_back(result);
    }
  ProgramSignature signature(program);
  auto isGradient = [&](unsigned result) { // or a report of one, or a value kept for another function's gradients
    StateAttr state = stateOf(signature.updatedArgument(result));
    return signature.result(result).gradientOf || signature.result(result).output || (state && state.isOfMicrobatch());
  };
  for (OpOperand &returned : returnOf(program)->getOpOperands())
    if (isGradient(returned.getOperandNumber()))
      gradients.push_back(returned.get());
  live = reads.sourcesOf(llvm::to_vector(returnOf(program).getOperands()));
  forGradients = reads.sourcesOf(gradients);
  if (isTrained)
    forLoss = reads.sourcesOf(forwardResults(program));
}

LogicalResult Checker::checkOp(Operation *op) {
  auto isOfArguments = [&](Value value) { return ofArguments.contains(value); };
  bool isWork = op->getNumResults() ? llvm::any_of(op->getResults(), isOfArguments)
                                    : llvm::any_of(valuesReadBy(op), isOfArguments);
  if (isa<exec::ViewOp>(op) || !isWork || (!factsOf(op) && !isTrained))
    return success();
  if (failed(requireFacts(op)) || failed(checkTensors(op, factsOfTensors(op->getResults()), names)))
    return failure();
  if (isa<comm::StartOp>(op))
    return success(); // the wait holds the facts
  for (OpResult result : op->getResults()) {
    if (!isOfArguments(result))
      continue;
    FactsAttr facts = factsOfTensor(result);
    if (!facts)
      return op->emitOpError() << "has no facts of result #" << result.getResultNumber()
                               << "; a list has the facts of each result";
    if (failed(checkPhase(result, facts)) || failed(checkOrder(result, facts.getPhase())))
      return failure();
  }
  return success();
}

LogicalResult Checker::checkPhase(OpResult made, FactsAttr facts) {
  Operation *op = made.getOwner();
  Phase phase = facts.getPhase();
  bool isForLoss = forLoss.contains(made);
  // If only some ranks keep persistent values, the other ranks return no new ones.
  bool mustBeForward = isForLoss || (!isTrained && !comm::entryOf(program));
  if (phase != Phase::Forward && mustBeForward)
    return op->emitOpError() << "is " << stringifyPhase(phase) << " by its facts, but "
                             << (isForLoss ? "the loss depends on it" : "its program does not train");
  if (phase == Phase::Backward && live.contains(made) && !forGradients.contains(made))
    return op->emitOpError() << "is backward by its facts, but no gradient depends on it";
  return success();
}

/// Checks that no phase reads a value of a later phase.
LogicalResult Checker::checkOrder(OpResult made, Phase phase) {
  // Other ops do not tell which operands each result depends on, so the latest phase of their results counts.
  if (!isa<exec::KernelOp, comm::QueuedOpInterface, comm::WaitOp>(made.getOwner()))
    for (FactsAttr facts : factsOfTensors(made.getOwner()->getResults()))
      phase = facts ? std::max(phase, facts.getPhase()) : phase;
  for (Value read : reads.of(made)) {
    Value source = stripViews(read);
    FactsAttr facts = ofArguments.contains(source) ? factsOfTensor(source) : FactsAttr();
    if (!facts || facts.getPhase() <= phase)
      continue;
    InFlightDiagnostic diagnostic = made.getOwner()->emitOpError()
                                    << "is " << stringifyPhase(phase) << " by its facts, but reads a value made in "
                                    << stringifyPhase(facts.getPhase());
    diagnostic.attachNote(source.getLoc()) << "it is made here";
    return diagnostic;
  }
  return success();
}

/// Checks that new values of parameters and of optimizer state are computed in the update.
LogicalResult Checker::checkUpdates() {
  ProgramSignature signature(program);
  for (OpOperand &returned : returnOf(program)->getOpOperands()) {
    ParamAttr parameter = parameterOf(signature.updatedArgument(returned.getOperandNumber()));
    Value made = stripViews(returned.get());
    FactsAttr facts = factsOfTensor(made);
    if (!parameter || !facts || !ofArguments.contains(made))
      continue;
    if (facts.getPhase() != Phase::Update)
      return made.getDefiningOp()->emitOpError() << "is " << stringifyPhase(facts.getPhase())
                                                 << " by its facts, but makes the new value of " << parameter.getName();
  }
  return success();
}

//===----------------------------------------------------------------------===//
// In memory
//===----------------------------------------------------------------------===//

/// In memory form, order and dependences equal those of the value form.
static LogicalResult checkInMemory(exec::ProgramOp program, const Names &names, const llvm::StringSet<> &persistent) {
  auto nameOf = [](Value ref) {
    auto op = ref.getDefiningOp<exec::RefOp>();
    return op ? op.getBuffer() : StringRef();
  };
  bool isTrained = false;
  for (auto action : program.getOps<exec::ActionOpInterface>())
    for (Value out : action.getActionOuts())
      isTrained |= persistent.contains(nameOf(out));
  // Buffers with values that depend on arguments of the program.
  llvm::StringSet<> ofArguments = persistent;
  for (auto buffer : program.getOps<exec::BufferOp>())
    if (buffer.getIo())
      ofArguments.insert(buffer.getSymName());
  for (auto action : program.getOps<exec::ActionOpInterface>()) {
    bool isOfArguments =
        llvm::any_of(action.getActionIns(), [&](Value in) { return ofArguments.contains(nameOf(in)); });
    SmallVector<FactsAttr> facts;
    for (auto [index, out] : llvm::enumerate(action.getActionOuts())) {
      facts.push_back(factsOfTensor(action.getLoc(), index, action.getActionOuts().size()));
      if (isOfArguments)
        ofArguments.insert(nameOf(out));
    }
    if (isTrained && isOfArguments && failed(requireFacts(action)))
      return failure();
    if (failed(checkTensors(action, facts, names)))
      return failure();
  }
  return success();
}

namespace {
struct VerifyFacts final : braid::impl::VerifyFactsPassBase<VerifyFacts> {
  void runOnOperation() final {
    markAllAnalysesPreserved();
    Names names;
    llvm::StringSet<> persistent;
    auto add = [&](Attribute tensor) {
      if (auto parameter = dyn_cast_if_present<ParamAttr>(tensor))
        names.add(parameter);
      if (auto state = dyn_cast_if_present<StateAttr>(tensor))
        names.add(state);
    };
    for (auto tensor : getOperation().getOps<exec::TensorOp>()) {
      persistent.insert(tensor.getSymName());
      add(tensor.getValue());
    }
    for (auto pack : getOperation().getOps<exec::PackOp>())
      persistent.insert(pack.getSymName());
    for (auto program : getOperation().getOps<func::FuncOp>())
      for (unsigned i = 0; i < program.getNumArguments(); ++i)
        add(ArgumentAttrs(program, i).persistent());
    for (auto program : getOperation().getOps<exec::ProgramOp>())
      if (failed(checkInMemory(program, names, persistent)))
        return signalPassFailure();
    for (auto program : getOperation().getOps<func::FuncOp>())
      if (!program.isExternal() && failed(Checker(program, names).run()))
        return signalPassFailure();
  }
};
} // namespace
