//===- DeriveFacts.cpp - the facts of a program that comes as text --------===//
//
// Goes from new values of parameters and of their state back to the gradients that they
// are made of, along what works element by element or moves elements.  What gradients
// depend on is backward.
//
//===----------------------------------------------------------------------===//

#include "dialects/Comm/Comm.h"
#include "lib/Schedule/Forward.h"
#include "passes/Graph/ForwardFacts.h"
#include "passes/Graph/Passes.h"
#include "passes/Graph/Signature.h"

namespace braid {
#define GEN_PASS_DEF_DERIVEFACTSPASS
#include "passes/Graph/Passes.h.inc"
} // namespace braid

using namespace mlir;
using namespace braid;
using namespace braid::tg;

static int64_t elementsOf(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  return type ? type.getNumElements() : 0;
}

/// Whether each result is an operand, in another type, shape or place, or on other ranks.
static bool moves(Operation *op) {
  if (isa_and_present<comm::CommDialect>(op->getDialect()))
    return op->getNumOperands() == op->getNumResults();
  return op->getNumOperands() == 1 && op->getNumResults() == 1 && op->getNumRegions() == 0 &&
         elementsOf(op->getOperand(0)) == elementsOf(op->getResult(0));
}

namespace {
class Derivation {
public:
  explicit Derivation(func::FuncOp program)
      : program(program), units(unitsOfOps(program)), forward(forwardOps(program)),
        parameters(parametersByOwner(program)) {
    for (const auto &entry : parametersByName(program))
      parameters.insert({entry.first(), entry.second});
  }

  void run();

private:
  void findKept();
  void findNumbers();
  void findOwners();
  StringAttr ownerOfResult(unsigned index);
  void visit(Operation *op, StringAttr owner, SmallVectorImpl<std::pair<Operation *, StringAttr>> &work);
  void findBackward();
  void setPhase(Operation *op);
  void setOnTheWay(Operation *op, StringAttr owner);
  void set(Operation *op, Phase phase, StringAttr of = {}, TensorKind as = TensorKind::Gradient);
  void setGathered();

  func::FuncOp program;
  DenseMap<Operation *, StringAttr> units;
  DenseSet<Operation *> forward;
  llvm::StringMap<BlockArgument> parameters;
  /// Parameters and states, and what is made of them and of constants alone.
  DenseSet<Value> kept;
  /// Numbers, and tensors that repeat them.
  DenseSet<Value> numbers;
  /// The parameter that an op's results become a new value of, or of what is kept for it.
  DenseMap<Operation *, StringAttr> owners;
  /// What makes gradients, and what that depends on.
  DenseSet<Operation *> gradients, backward;
};
} // namespace

void Derivation::findKept() {
  for (BlockArgument argument : program.getArguments())
    if (program.getArgAttr(argument.getArgNumber(), kParam) || program.getArgAttr(argument.getArgNumber(), kState))
      kept.insert(argument);
  for (Operation &op : program.front())
    if (llvm::all_of(valuesReadBy(&op), [&](Value read) { return kept.contains(read); }))
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

/// The parameter whose gradient or new value a result is, or that of what is kept for it.
StringAttr Derivation::ownerOfResult(unsigned index) {
  auto gradOf = program.getResultAttrOfType<StringAttr>(index, kGradOf);
  auto updates = program.getResultAttrOfType<StringAttr>(index, kUpdates);
  if (!gradOf && !updates)
    return {};
  StringAttr name = gradOf ? gradOf : updates;
  for (BlockArgument argument : program.getArguments())
    if (auto state = program.getArgAttrOfType<StateAttr>(argument.getArgNumber(), kState);
        state && state.getName() == name)
      name = state.getOf();
  if (BlockArgument parameter = name ? parameters.lookup(name) : BlockArgument())
    return parameterOf(parameter).getName();
  return {};
}

/// Goes on to the operands that an op works on element by element, or moves.  Without any,
/// or where it reads anything of forward, it makes the gradient.
void Derivation::visit(Operation *op, StringAttr owner, SmallVectorImpl<std::pair<Operation *, StringAttr>> &work) {
  SmallVector<Operation *> next;
  bool makesGradient = true;
  for (Value operand : op->getOperands()) {
    Operation *made = operand.getDefiningOp();
    if (kept.contains(operand) || numbers.contains(operand))
      continue;
    bool isSame = moves(op) || elementsOf(operand) == elementsOf(op->getResult(0));
    if (!made || forward.contains(made) || !isSame) {
      gradients.insert(op);
      return;
    }
    next.push_back(made);
    makesGradient = false;
  }
  if (makesGradient)
    return;
  for (Operation *made : next)
    if (owners.try_emplace(made, owner).second)
      work.push_back({made, owner});
}

void Derivation::findOwners() {
  SmallVector<std::pair<Operation *, StringAttr>> work;
  for (OpOperand &returned : returnOf(program)->getOpOperands()) {
    StringAttr owner = ownerOfResult(returned.getOperandNumber());
    Operation *op = returned.get().getDefiningOp();
    if (owner && op && !forward.contains(op) && !kept.contains(returned.get()) && owners.try_emplace(op, owner).second)
      work.push_back({op, owner});
  }
  while (!work.empty()) {
    auto [op, owner] = work.pop_back_val();
    visit(op, owner, work);
  }
}

void Derivation::findBackward() {
  SmallVector<Operation *> work(gradients.begin(), gradients.end());
  while (!work.empty()) {
    Operation *op = work.pop_back_val();
    if (!forward.contains(op) && backward.insert(op).second)
      for (Value read : valuesReadBy(op))
        if (Operation *made = read.getDefiningOp())
          work.push_back(made);
  }
}

//===----------------------------------------------------------------------===//
// Facts
//===----------------------------------------------------------------------===//

void Derivation::set(Operation *op, Phase phase, StringAttr of, TensorKind as) {
  StringAttr unit = of ? parameterOf(parameters.lookup(of)).getUnit() : units.lookup(op);
  setFacts(op, phase, unit);
  if (of)
    op->setLoc(withTensor(op->getLoc(), of, as));
}

/// Between a gradient and the new value: sums and moves of gradients are backward, what
/// reads a number or anything kept is update.
void Derivation::setOnTheWay(Operation *op, StringAttr owner) {
  auto isKept = [&](Value operand) { return kept.contains(operand) && elementsOf(operand) > 1; };
  bool isOfUpdate = llvm::any_of(op->getOperands(), [&](Value operand) {
    Operation *made = operand.getDefiningOp();
    return made && phaseOf(made) == Phase::Update;
  });
  bool readsKept = llvm::any_of(op->getOperands(), isKept);
  bool readsNumber = llvm::any_of(op->getOperands(), [&](Value operand) { return numbers.contains(operand); });
  bool addsUp = readsKept && llvm::any_of(op->getUsers(), [&](Operation *user) {
                  return isa<func::ReturnOp>(user) && program.getName() == "accumulate";
                });
  if (addsUp)
    return set(op, Phase::Backward, owner, TensorKind::Accumulator);
  if (!isOfUpdate && !readsKept && !readsNumber)
    return set(op, Phase::Backward, owner, TensorKind::Gradient);
  bool makesParameter = readsKept || llvm::any_of(op->getOperands(), [&](Value operand) {
                          Operation *made = operand.getDefiningOp();
                          return made && makes(made, TensorKind::Parameter);
                        });
  set(op, Phase::Update, owner, makesParameter ? TensorKind::Parameter : TensorKind::Gradient);
}

void Derivation::setPhase(Operation *op) {
  if (forward.contains(op))
    return set(op, Phase::Forward);
  StringAttr owner = owners.lookup(op);
  if (backward.contains(op))
    return set(op, Phase::Backward, gradients.contains(op) ? owner : StringAttr());
  return owner ? setOnTheWay(op, owner) : set(op, Phase::Update);
}

/// What moves a stored parameter makes a parameter.
void Derivation::setGathered() {
  DenseMap<Value, StringAttr> stored;
  for (auto &[name, parameter] : parameters)
    stored[parameter] = parameterOf(parameter).getName();
  for (Operation &op : program.front().without_terminator()) {
    SmallVector<StringAttr> names;
    for (Value operand : op.getOperands())
      if (StringAttr name = stored.lookup(operand))
        names.push_back(name);
    if (names.empty() || !moves(&op) || names.size() != op.getNumOperands())
      continue;
    op.setLoc(withTensor(op.getLoc(), names, TensorKind::Parameter));
    for (auto [name, result] : llvm::zip_equal(names, op.getResults()))
      stored[result] = name;
  }
}

void Derivation::run() {
  if (!isTraining(program)) {
    setForwardFacts(program);
    return setGathered();
  }
  findKept();
  findNumbers();
  findOwners();
  findBackward();
  for (Operation &op : program.front().without_terminator())
    if (op.getNumOperands() != 0)
      setPhase(&op);
  setGathered();
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
