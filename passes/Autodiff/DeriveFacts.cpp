//===- DeriveFacts.cpp - facts of a program given as text -----------------===//
//
// Goes back from new values of parameters and of their states to the gradients, through elementwise ops and ops that
// move elements. The predecessors of gradients that do not belong to forward are backward.
//
//===----------------------------------------------------------------------===//

#include "dialects/Comm/Comm.h"
#include "lib/Schedule/Forward.h"
#define GEN_PASS_DEF_DERIVEFACTSPASS
#include "passes/Autodiff/Passes.h"
#include "passes/Base/Signature.h"
#include "passes/FrontEnd/ForwardFacts.h"

using namespace mlir;
using namespace braid;
using namespace braid::tg;

static int64_t elementsOf(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  return type ? type.getNumElements() : 0;
}

/// Whether each result is the matching operand in another type, shape or layout, or on other ranks.
static bool moves(Operation *op) {
  if (isa_and_present<comm::CommDialect>(op->getDialect()))
    return op->getNumOperands() == op->getNumResults();
  return movesElements(op);
}

/// Whether the op adds up values of several ranks.
static bool reduces(Operation *op) {
  auto collective = dyn_cast<comm::CollectiveOpInterface>(op);
  return collective && collective.getReductionKind();
}

/// Returns the operands that a result depends on: for a collective, only the matching one.
static SmallVector<Value> operandsOfResult(OpResult result) {
  Operation *op = result.getOwner();
  return moves(op) ? SmallVector<Value>{op->getOperand(result.getResultNumber())} : valuesReadBy(op);
}

namespace {
class Derivation {
public:
  explicit Derivation(func::FuncOp program)
      : program(program), signature(program), units(unitsOfOps(program)), parameters(parametersByOwner(program)) {
    addSources(forwardResults(program), forward);
  }

  void run();

private:
  void addSources(ArrayRef<Value> of, DenseSet<Value> &sources) const;
  void findKept();
  void findNumbers();
  void findOwners();
  StringAttr ownerOfResult(unsigned index);
  void visit(OpResult made, StringAttr owner, SmallVectorImpl<Value> &next);
  FactsAttr factsFor(OpResult made);
  FactsAttr intermediateFacts(OpResult made, StringAttr owner);
  FactsAttr factsFor(Phase phase, StringAttr owner, TensorKind as);
  bool isOfAccumulator(Value value) const;
  void setMovedParameters();

  func::FuncOp program;
  ProgramSignature signature;
  DenseMap<Operation *, StringAttr> units;
  llvm::StringMap<BlockArgument> parameters;
  /// Values that the loss depends on.
  DenseSet<Value> forward;
  /// Parameters and states, and values that depend only on them and on constants.
  DenseSet<Value> kept;
  /// Scalars, and broadcasts of scalars.
  DenseSet<Value> numbers;
  /// For a value that leads to a new value of a parameter or of its state: the name of the parameter.
  DenseMap<Value, StringAttr> owners;
  /// Gradients, and values that they depend on.
  DenseSet<Value> gradients, backward;
};
} // namespace

void Derivation::addSources(ArrayRef<Value> of, DenseSet<Value> &sources) const {
  SmallVector<Value> work(of);
  while (!work.empty()) {
    auto made = dyn_cast<OpResult>(work.pop_back_val());
    if (made && !forward.contains(made) && sources.insert(made).second)
      llvm::append_range(work, operandsOfResult(made));
  }
}

void Derivation::findKept() {
  for (BlockArgument argument : program.getArguments())
    if (ArgumentAttrs(argument).persistent())
      kept.insert(argument);
  for (Operation &op : program.front())
    if (!reduces(&op) && llvm::all_of(valuesReadBy(&op), [&](Value read) { return kept.contains(read); }))
      kept.insert(op.result_begin(), op.result_end());
}

void Derivation::findNumbers() {
  auto isNumber = [&](Value read) { return numbers.contains(read) || kept.contains(read) || elementsOf(read) == 1; };
  for (Operation &op : program.front()) {
    SmallVector<Value> reads = valuesReadBy(&op);
    bool repeats =
        llvm::all_of(reads, isNumber) && !llvm::all_of(reads, [&](Value read) { return kept.contains(read); });
    for (Value result : op.getResults())
      if (repeats || elementsOf(result) == 1)
        numbers.insert(result);
  }
  for (BlockArgument argument : program.getArguments())
    if (elementsOf(argument) == 1)
      numbers.insert(argument);
}

//===----------------------------------------------------------------------===//
// From new values to gradients
//===----------------------------------------------------------------------===//

/// Returns the parameter that a result belongs to: as its gradient, its new value, or a new value of its state. For a
/// working copy this is the master.
StringAttr Derivation::ownerOfResult(unsigned index) {
  const ResultAttrs &result = signature.result(index);
  StringAttr name = result.gradientOf ? result.gradientOf : result.updates;
  BlockArgument argument = signature.persistent(name);
  if (ParamAttr parameter = parameterOf(argument))
    name = parameter.getOf();
  else if (StateAttr state = stateOf(argument))
    name = state.getOf();
  return name && parameters.contains(name) ? name : StringAttr();
}

/// Continues with the operands that an op moves or works on elementwise. If there are none, or if the op reads a
/// forward value, the op's result is the gradient.
void Derivation::visit(OpResult made, StringAttr owner, SmallVectorImpl<Value> &next) {
  SmallVector<Value> from;
  for (Value read : operandsOfResult(made)) {
    bool isKept = kept.contains(read) || numbers.contains(read);
    if (isKept && !reduces(made.getOwner()))
      continue;
    bool isSame = moves(made.getOwner()) || elementsOf(read) == elementsOf(made);
    if (isKept || isa<BlockArgument>(read) || forward.contains(read) || !isSame) {
      gradients.insert(made);
      return;
    }
    from.push_back(read);
  }
  for (Value read : from)
    if (owners.try_emplace(read, owner).second)
      next.push_back(read);
}

void Derivation::findOwners() {
  SmallVector<Value> work;
  for (OpOperand &returned : returnOf(program)->getOpOperands()) {
    StringAttr owner = ownerOfResult(returned.getOperandNumber());
    Value made = returned.get();
    if (owner && isa<OpResult>(made) && !forward.contains(made) && !kept.contains(made) &&
        owners.try_emplace(made, owner).second)
      work.push_back(made);
  }
  while (!work.empty()) {
    Value made = work.pop_back_val();
    visit(cast<OpResult>(made), owners.lookup(made), work);
  }
}

//===----------------------------------------------------------------------===//
// Facts
//===----------------------------------------------------------------------===//

FactsAttr Derivation::factsFor(Phase phase, StringAttr owner, TensorKind as) {
  return getFacts(program.getContext(), phase, parameterOf(parameters.lookup(owner)).getUnit(), owner, as);
}

bool Derivation::isOfAccumulator(Value value) const {
  auto argument = dyn_cast<BlockArgument>(value);
  StateAttr state = argument ? stateOf(argument) : StateAttr();
  return state && state.isAccumulator();
}

/// Returns the facts of a value between a gradient and a new value. Sums and moves of gradients are backward; ops that
/// read a scalar or a parameter or state are update.
FactsAttr Derivation::intermediateFacts(OpResult made, StringAttr owner) {
  SmallVector<Value> reads = operandsOfResult(made);
  auto madeBefore = [&](Value read, auto is) {
    FactsAttr facts = factsOfTensor(read);
    return facts && is(facts);
  };
  bool isOfUpdate = llvm::any_of(reads, [&](Value read) {
    return madeBefore(read, [](FactsAttr facts) { return facts.getPhase() == Phase::Update; });
  });
  bool isOfParameter = llvm::any_of(reads, [&](Value read) {
    return madeBefore(read,
                      [](FactsAttr facts) { return facts.getPhase() == Phase::Update && tg::isParameter(facts); });
  });
  bool readsKept = llvm::any_of(reads, [&](Value read) { return kept.contains(read) && elementsOf(read) > 1; });
  bool readsNumber = llvm::any_of(reads, [&](Value read) { return numbers.contains(read); });
  if (llvm::any_of(reads, [&](Value read) { return isOfAccumulator(read); }))
    return factsFor(Phase::Backward, owner, TensorKind::Accumulator);
  if (!isOfUpdate && !readsKept && !readsNumber)
    return factsFor(Phase::Backward, owner, TensorKind::Gradient);
  return factsFor(Phase::Update, owner, readsKept || isOfParameter ? TensorKind::Parameter : TensorKind::Gradient);
}

FactsAttr Derivation::factsFor(OpResult made) {
  StringAttr owner = owners.lookup(made);
  if (gradients.contains(made))
    return factsFor(Phase::Backward, owner, TensorKind::Gradient);
  if (owner && !backward.contains(made) && !forward.contains(made))
    return intermediateFacts(made, owner);
  Phase phase = forward.contains(made) ? Phase::Forward : backward.contains(made) ? Phase::Backward : Phase::Update;
  return getFacts(program.getContext(), phase, units.lookup(made.getOwner()));
}

/// Ops that only move a stored parameter return that parameter.
void Derivation::setMovedParameters() {
  DenseMap<Value, ParamAttr> stored;
  for (auto &[name, parameter] : parameters)
    stored[parameter] = parameterOf(parameter);
  for (Operation &op : program.front().without_terminator()) {
    SmallVector<FactsAttr> facts = factsOfTensors(op.getResults());
    for (OpResult result : op.getResults())
      if (ParamAttr parameter =
              moves(&op) && !reduces(&op) ? stored.lookup(operandsOfResult(result).front()) : ParamAttr()) {
        facts[result.getResultNumber()] = factsOfParameter(parameter, facts[result.getResultNumber()].getPhase());
        stored[result] = parameter;
      }
    op.setLoc(withFacts(op.getLoc(), facts));
  }
}

void Derivation::run() {
  if (!isTraining(program)) {
    setForwardFacts(program);
    return setMovedParameters();
  }
  findKept();
  findNumbers();
  findOwners();
  addSources(llvm::to_vector(gradients), backward);
  for (Operation &op : program.front().without_terminator())
    if (op.getNumOperands() != 0) {
      auto facts = llvm::map_to_vector(op.getResults(), [&](OpResult made) { return factsFor(made); });
      op.setLoc(withFacts(op.getLoc(), facts));
    }
  setMovedParameters();
  setFactsOfUpdates(program);
}

namespace {
struct DeriveFacts final : braid::impl::DeriveFactsPassBase<DeriveFacts> {
  void runOnOperation() final {
    for (auto program : getOperation().getOps<func::FuncOp>())
      if (!program.isExternal() && program.getBody().hasOneBlock())
        Derivation(program).run();
  }
};
} // namespace
