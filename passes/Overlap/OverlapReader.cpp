//===- OverlapReader.cpp - a program of ranks as an overlap problem -------===//
//
// Actions depend on what makes their operands, through views and concats, and where
// buffer assignment writes one value over another on who reads the old one.
//
// What computes may leave its place when it belongs to an update: it makes a new
// value of what has been reduced, or it is on the way there (a gradient scaled or
// added up, a part of their norm) and nothing else reads it.
//
//===----------------------------------------------------------------------===//

#include "passes/Overlap/OverlapReader.h"
#include "dialects/Comm/HeldStarts.h"
#include "dialects/Comm/Mesh.h"
#include "dialects/TG/ProgramSignature.h"
#include "dialects/TG/TG.h"
#include "lib/Memory/MemoryOrder.h"
#include "lib/Memory/Reads.h"
#include "llvm/ADT/MapVector.h"

using namespace mlir;
using namespace braid;
using Kind = OverlapProblem::Kind;

namespace {

class Reader {
public:
  Reader(func::FuncOp function, const ComputeRates &compute, const LinkRates &link, const HostRates &host,
         const Places *places)
      : function(function), block(function.getBody().front()), compute(compute), link(link), host(host),
        places(places) {}
  FailureOr<OverlapProgram> run();

private:
  using Numbers = SmallVector<unsigned, 4>;

  LogicalResult readActions();
  void readCopy(comm::CopyOp copy, OverlapProblem::Action &entry);
  void addProducers(Value value, Numbers &producers) const;
  void readNeeds();
  void readUpdates();
  void readMemoryOrder();
  void readKinds();
  void readWriters();
  void readUpdateParts();
  DenseSet<Value> keptValues();
  struct Sources {
    bool reductions = false, others = false;
  };
  void addSources(Value value, const DenseSet<Value> &kept, const std::vector<bool> &made, Sources &sources) const;
  std::vector<bool> madeOfReductions();
  void readUnits();
  void readHeldStarts();

  func::FuncOp function;
  Block &block;
  const ComputeRates &compute;
  const LinkRates &link;
  const HostRates &host;
  const Places *places;
  OverlapProgram program;
  /// From the host, so far.
  unsigned numFetches = 0;
  DenseMap<Operation *, unsigned> numbers;
  /// The argument whose memory a returned value takes.
  llvm::MapVector<Value, BlockArgument> updates;
};

} // namespace

static comm::CollectiveOpInterface collectiveIn(Operation *op) { return dyn_cast<comm::CollectiveOpInterface>(op); }

/// Whether a value is a tensor without dims.
static bool isNumber(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  return type && type.getRank() == 0;
}

static_assert(unsigned(comm::Queue::Ranks) == OverlapProblem::kRanks &&
              unsigned(comm::Queue::FromHost) == OverlapProblem::kFromHost &&
              unsigned(comm::Queue::ToHost) == OverlapProblem::kToHost);

static void makeUnique(SmallVectorImpl<unsigned> &numbers) {
  llvm::sort(numbers);
  numbers.erase(std::unique(numbers.begin(), numbers.end()), numbers.end());
}

//===----------------------------------------------------------------------===//
// Actions and their order
//===----------------------------------------------------------------------===//

LogicalResult braid::requireActions(func::FuncOp function) {
  for (Operation &op : function.getBody().front().without_terminator())
    if (!isa<exec::ActionOpInterface>(op) && !isa<exec::ExecDialect>(op.getDialect()) &&
        !op.hasTrait<OpTrait::ConstantLike>())
      return op.emitOpError() << "is not an action, so its time is unknown; run exec-select-calls and "
                              << "exec-form-kernels before overlap";
  return success();
}

/// What is fetched comes in the order of its first use.
void Reader::readCopy(comm::CopyOp copy, OverlapProblem::Action &entry) {
  bool isFetch = copy.getQueue() == comm::Queue::FromHost;
  entry.kind = isFetch ? Kind::Gather : Kind::Collective;
  entry.queue = unsigned(copy.getQueue());
  entry.seconds = host.seconds(copy);
  if (isFetch)
    entry.unit = numFetches++;
}

LogicalResult Reader::readActions() {
  auto attribute = function->getAttrOfType<comm::ProgramAttr>(comm::CommDialect::kProgram);
  SymbolTableCollection tables;
  for (auto action : block.getOps<exec::ActionOpInterface>()) {
    OverlapProblem::Action &entry = program.problem.actions.emplace_back();
    numbers[action] = program.actions.size();
    program.actions.push_back(action);
    if (auto copy = dyn_cast<comm::CopyOp>(action.getOperation())) {
      readCopy(copy, entry);
      continue;
    }
    comm::CollectiveOpInterface collective = collectiveIn(action);
    if (!collective) {
      entry.seconds = compute.seconds(action);
      continue;
    }
    FailureOr<comm::Mesh> mesh = comm::Mesh::require(collective, collective.getMeshAttr(), tables);
    if (failed(mesh))
      return failure();
    entry.kind = Kind::Collective;
    entry.seconds = link.seconds(collective, mesh->sizeOf(collective.getAxes()));
    // Ranks with another function match this one in its order; a barrier is nothing
    // but order.
    entry.ordered = action->getNumResults() == 0 || (attribute && attribute.getAxis());
  }
  return success();
}

/// The actions that make a value, through views and concats.
void Reader::addProducers(Value value, Numbers &producers) const {
  Operation *op = value.getDefiningOp();
  if (!op)
    return;
  if (auto found = numbers.find(op); found != numbers.end())
    producers.push_back(found->second);
  else
    for (Value operand : op->getOperands())
      addProducers(operand, producers);
}

void Reader::readNeeds() {
  for (auto [number, action] : llvm::enumerate(program.actions)) {
    Numbers &needs = program.problem.actions[number].needs;
    for (Value operand : action->getOperands())
      addProducers(operand, needs);
    makeUnique(needs);
  }
}

/// What takes the memory of parameters and states.
void Reader::readUpdates() {
  tg::ProgramSignature signature(function);
  for (OpOperand &returned : block.getTerminator()->getOpOperands()) {
    BlockArgument argument = signature.updatedBy(returned.getOperandNumber());
    Value root = rootOf(returned.get());
    if (!argument || isa<BlockArgument>(root))
      continue;
    if (auto copy = root.getDefiningOp<comm::CopyOp>()) // the one that made the new value is asked for
      root = rootOf(copy.getIns()[cast<OpResult>(root).getResultNumber()]);
    updates[root] = argument;
  }
}

/// What writes over a value comes after who reads it.
void Reader::readMemoryOrder() {
  for (auto [entry, before] : llvm::zip_equal(program.problem.actions, memoryOrder(*places)))
    for (unsigned other : before)
      if (!llvm::is_contained(entry.needs, other))
        entry.after.push_back(other);
}

//===----------------------------------------------------------------------===//
// What may move
//===----------------------------------------------------------------------===//

static bool reduces(Operation *op) {
  comm::CollectiveOpInterface collective = collectiveIn(op);
  return collective && collective.getReductionKind();
}

/// Those that make new values, and as updates those that make them of reductions.
void Reader::readWriters() {
  Numbers writers;
  for (auto &[root, argument] : updates)
    addProducers(root, writers);
  makeUnique(writers);
  program.writers.assign(writers.begin(), writers.end());
  for (unsigned number : writers) {
    OverlapProblem::Action &entry = program.problem.actions[number];
    if (entry.kind == Kind::Compute &&
        llvm::any_of(entry.needs, [&](unsigned need) { return reduces(program.actions[need]); }))
      entry.kind = Kind::Update;
  }
}

/// Parameters, states and constants, and what is made of them alone.
DenseSet<Value> Reader::keptValues() {
  DenseSet<Value> kept;
  for (BlockArgument argument : block.getArguments())
    if (tg::ArgumentAttrs(argument).persistent())
      kept.insert(argument);
  for (Operation &op : block)
    if (llvm::all_of(op.getOperands(), [&](Value operand) { return kept.contains(operand); }))
      kept.insert(op.result_begin(), op.result_end());
  return kept;
}

/// What a value is made of, beside numbers and what is kept: reductions, and what has
/// been made of them alone, or something else.
void Reader::addSources(Value value, const DenseSet<Value> &kept, const std::vector<bool> &made,
                        Sources &sources) const {
  if (kept.contains(value))
    return;
  Operation *op = value.getDefiningOp();
  auto found = numbers.find(op);
  if (op && found == numbers.end()) {
    for (Value operand : op->getOperands())
      addSources(operand, kept, made, sources);
    return;
  }
  bool isReduced = op && (made[found->second] || reduces(op));
  sources.reductions |= isReduced;
  sources.others |= !isReduced && !isNumber(value);
}

/// For each action, whether it computes only from the results of reductions.  Matmuls
/// belong to forward and backward, which may also read reduced values.
std::vector<bool> Reader::madeOfReductions() {
  DenseSet<Value> kept = keptValues();
  std::vector<bool> made(program.actions.size());
  for (auto [number, action] : llvm::enumerate(program.actions)) {
    if (collectiveIn(action) || action.getActionCost().matrixFlops != 0)
      continue;
    Sources sources;
    for (Value operand : action->getOperands())
      addSources(operand, kept, made, sources);
    made[number] = sources.reductions && !sources.others;
  }
  return made;
}

/// What is made of reductions, and read by nothing but updates, is part of them; a
/// collective in between (of a norm) reads for those that read its results.
void Reader::readUpdateParts() {
  std::vector<OverlapProblem::Action> &actions = program.problem.actions;
  std::vector<bool> made = madeOfReductions();
  // Whether something else reads an action's results.
  std::vector<bool> isReadElse(actions.size());
  for (unsigned number = actions.size(); number-- > 0;) {
    OverlapProblem::Action &entry = actions[number];
    if (entry.kind == Kind::Compute && made[number] && !isReadElse[number])
      entry.kind = Kind::Update;
    if (entry.kind != Kind::Update && (!entry.communicates() || isReadElse[number]))
      for (unsigned need : entry.needs)
        isReadElse[need] = true;
  }
}

void Reader::readKinds() {
  readWriters();
  readUpdateParts();
}

/// Gathers of stored parameters, numbered by their units in the order of first uses.
/// A unit ends where another begins, or where it is gathered again.
void Reader::readUnits() {
  std::vector<OverlapProblem::Action> &actions = program.problem.actions;
  // What parameters alone decide, and the first parameter.
  DenseMap<Value, BlockArgument> stored;
  for (BlockArgument argument : block.getArguments())
    if (tg::parameterOf(argument))
      stored[argument] = argument;
  for (Operation &op : block) {
    if (op.getNumOperands() && llvm::all_of(op.getOperands(), [&](Value operand) { return stored.contains(operand); }))
      for (Value result : op.getResults())
        stored[result] = stored.lookup(op.getOperand(0));
  }
  // The first user of each collective, if that computes.
  DenseMap<unsigned, unsigned> firstUse;
  for (auto [number, entry] : llvm::enumerate(actions))
    for (unsigned need : entry.needs)
      firstUse.try_emplace(need, number);
  SmallVector<std::pair<unsigned, unsigned>> gathers;
  for (auto [number, entry] : llvm::enumerate(actions)) {
    auto use = firstUse.find(number);
    if (entry.kind != Kind::Collective || entry.ordered || use == firstUse.end() ||
        actions[use->second].kind != Kind::Compute)
      continue;
    comm::CollectiveOpInterface collective = collectiveIn(program.actions[number]);
    OperandRange sent = collective.getSent();
    if (!collective.getReductionKind() && !sent.empty() &&
        llvm::all_of(sent, [&](Value value) { return stored.contains(value); }))
      gathers.push_back({use->second, number});
  }
  llvm::sort(gathers);
  unsigned unit = 0;
  StringAttr last;
  DenseSet<Value> seen;
  for (auto &[use, number] : gathers) {
    auto first = stored.lookup(collectiveIn(program.actions[number]).getSent().front());
    StringAttr name = tg::parameterOf(first).getUnit();
    if (auto told = program.actions[number]->getAttrOfType<StringAttr>(comm::CommDialect::kUnit))
      name = told;
    if (!seen.empty() && (name != last || seen.contains(first))) {
      ++unit;
      seen.clear();
    }
    last = name;
    seen.insert(first);
    actions[number].kind = Kind::Gather;
    actions[number].unit = unit;
  }
}

/// What may not start early comes after what computes before it.
void Reader::readHeldStarts() {
  std::optional<unsigned> computed;
  for (auto [number, entry] : llvm::enumerate(program.problem.actions)) {
    if (computed && program.actions[number]->hasAttr(comm::kHeldStart) && !llvm::is_contained(entry.needs, *computed) &&
        !llvm::is_contained(entry.after, *computed))
      entry.after.push_back(*computed);
    if (entry.kind == Kind::Compute)
      computed = number;
  }
}

FailureOr<OverlapProgram> Reader::run() {
  if (failed(readActions()))
    return failure();
  readNeeds();
  readUpdates();
  readKinds();
  readUnits();
  if (places)
    readMemoryOrder();
  readHeldStarts();
  return std::move(program);
}

FailureOr<OverlapProgram> braid::readOverlapProgram(func::FuncOp function, const ComputeRates &compute,
                                                    const LinkRates &link, const HostRates &host,
                                                    const Places *places) {
  return Reader(function, compute, link, host, places).run();
}
