//===- OverlapReader.cpp - a program of ranks as an overlap problem -------===//
//
// A computing action may move if it belongs to an update. It then computes a new value from reduced values, or an
// intermediate value that only updates read: a scaled or summed gradient, or a part of the gradients' norm.
//
//===----------------------------------------------------------------------===//

#include "passes/Overlap/OverlapReader.h"
#include "dialects/Comm/HeldStarts.h"
#include "dialects/Comm/Mesh.h"
#include "dialects/TG/ProgramSignature.h"
#include "dialects/TG/TG.h"
#include "lib/Memory/Persistent.h"
#include "lib/Memory/Reads.h"
#include "llvm/ADT/SetVector.h"
#include <set>

using namespace mlir;
using namespace braid;
using Kind = OverlapProblem::Kind;

namespace {

class Reader {
public:
  Reader(func::FuncOp function, const ActionGraph &graph, const Machine &machine)
      : function(function), block(function.getBody().front()), graph(graph), machine(machine) {}
  FailureOr<OverlapProgram> run();

private:
  LogicalResult readActions();
  void readCopy(comm::CopyOp copy, OverlapProblem::Action &entry);
  void readEdges();
  void readUpdates();
  void readKinds();
  void readWriters();
  void readUpdateParts();
  DenseSet<Value> keptValues();
  struct Sources {
    bool reductions = false, others = false;
  };
  void addSources(Value value, const DenseSet<Value> &kept, const std::vector<bool> &made, Sources &sources) const;
  std::vector<bool> madeOfReductions();
  DenseMap<unsigned, unsigned> firstUses() const;
  void readFetches();
  void readUnits();
  void readHeldStarts();

  func::FuncOp function;
  Block &block;
  const ActionGraph &graph;
  const Machine &machine;
  OverlapProgram program;
  /// New values of parameters and states.
  llvm::SetVector<Value> updates;
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

void Reader::readCopy(comm::CopyOp copy, OverlapProblem::Action &entry) {
  bool isFetch = copy.getQueue() == comm::Queue::FromHost;
  entry.kind = isFetch ? Kind::Gather : Kind::Collective;
  entry.queue = unsigned(copy.getQueue());
  entry.seconds = machine.host.seconds(copy);
}

LogicalResult Reader::readActions() {
  auto attribute = function->getAttrOfType<comm::ProgramAttr>(comm::CommDialect::kProgram);
  SymbolTableCollection tables;
  for (Operation *op : graph.actions()) {
    auto action = cast<exec::ActionOpInterface>(op);
    OverlapProblem::Action &entry = program.problem.actions.emplace_back();
    program.actions.push_back(action);
    if (auto copy = dyn_cast<comm::CopyOp>(op)) {
      readCopy(copy, entry);
      continue;
    }
    comm::CollectiveOpInterface collective = collectiveIn(action);
    if (!collective) {
      entry.seconds = machine.compute.seconds(action);
      continue;
    }
    FailureOr<comm::Mesh> mesh = comm::Mesh::require(collective, collective.getMeshAttr(), tables);
    if (failed(mesh))
      return failure();
    entry.kind = Kind::Collective;
    entry.seconds = machine.seconds(collective, *mesh);
    // Ranks with another function match this collective by its order. A barrier exists only for its order.
    entry.ordered = action->getNumResults() == 0 || (attribute && attribute.getAxis());
  }
  return success();
}

/// Reads dependences. An action that overwrites a value comes after the readers of the value.
void Reader::readEdges() {
  for (auto [number, entry] : llvm::enumerate(program.problem.actions)) {
    entry.dependences = graph.reads(number);
    for (unsigned other : graph.overwrites(number))
      if (!llvm::is_contained(entry.dependences, other))
        entry.antiDependences.push_back(other);
  }
}

/// Collects the values that take over the memory of parameters and states.
void Reader::readUpdates() {
  tg::ProgramSignature(function).forEachUpdate([&](OpOperand &returned, BlockArgument) {
    Value root = rootOf(returned.get());
    if (auto copy = root.getDefiningOp<comm::CopyOp>()) // the copied value is the new one
      root = rootOf(copy.getIns()[cast<OpResult>(root).getResultNumber()]);
    if (!isa<BlockArgument>(root))
      updates.insert(root);
  });
}

//===----------------------------------------------------------------------===//
// Movable actions
//===----------------------------------------------------------------------===//

static bool reduces(Operation *op) {
  comm::CollectiveOpInterface collective = collectiveIn(op);
  return collective && collective.getReductionKind();
}

/// Collects the actions that compute new values; those that compute them from reductions are updates.
void Reader::readWriters() {
  std::set<unsigned> writers;
  for (Value root : updates)
    graph.forEachProducer(root, [&](Operation *producer) { writers.insert(graph.numberOf(producer)); });
  program.writers.assign(writers.begin(), writers.end());
  for (unsigned number : writers) {
    OverlapProblem::Action &entry = program.problem.actions[number];
    if (entry.kind == Kind::Compute &&
        llvm::any_of(entry.dependences, [&](unsigned dependence) { return reduces(program.actions[dependence]); }))
      entry.kind = Kind::Update;
  }
}

/// Returns parameters, states and constants, and values that depend only on them.
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

/// Adds the sources of a value, without scalars and persistent values: reductions and values computed only from
/// reductions, or other values.
void Reader::addSources(Value value, const DenseSet<Value> &kept, const std::vector<bool> &made,
                        Sources &sources) const {
  if (kept.contains(value))
    return;
  Operation *op = value.getDefiningOp();
  if (op && !graph.contains(op)) {
    for (Value operand : op->getOperands())
      addSources(operand, kept, made, sources);
    return;
  }
  bool isReduced = op && (made[graph.numberOf(op)] || reduces(op));
  sources.reductions |= isReduced;
  sources.others |= !isReduced && !isNumber(value);
}

/// Returns, for each action, whether it computes only from results of reductions. Leaves out matmuls: they belong to
/// forward and backward, which may also read reduced values.
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

/// Marks actions as updates that compute from reductions and that only updates read. A collective in between (for a
/// norm) counts as the readers of its results.
void Reader::readUpdateParts() {
  std::vector<OverlapProblem::Action> &actions = program.problem.actions;
  std::vector<bool> made = madeOfReductions();
  // Whether an action other than an update reads an action's results.
  std::vector<bool> isReadElse(actions.size());
  for (unsigned number = actions.size(); number-- > 0;) {
    OverlapProblem::Action &entry = actions[number];
    if (entry.kind == Kind::Compute && made[number] && !isReadElse[number])
      entry.kind = Kind::Update;
    if (entry.kind != Kind::Update && (!entry.communicates() || isReadElse[number]))
      for (unsigned dependence : entry.dependences)
        isReadElse[dependence] = true;
  }
}

void Reader::readKinds() {
  readWriters();
  readUpdateParts();
}

/// Returns the first action that needs each action's results.
DenseMap<unsigned, unsigned> Reader::firstUses() const {
  DenseMap<unsigned, unsigned> firstUse;
  for (auto [number, entry] : llvm::enumerate(program.problem.actions))
    for (unsigned dependence : entry.dependences)
      firstUse.try_emplace(dependence, number);
  return firstUse;
}

/// Numbers copies from the host in the order of their first uses, each a unit of its own: with states of several types
/// their order in the program is another.
void Reader::readFetches() {
  std::vector<OverlapProblem::Action> &actions = program.problem.actions;
  SmallVector<std::pair<unsigned, unsigned>> fetches;
  DenseMap<unsigned, unsigned> firstUse = firstUses();
  for (auto [number, entry] : llvm::enumerate(actions))
    if (entry.kind == Kind::Gather)
      fetches.push_back({firstUse.contains(number) ? firstUse.lookup(number) : actions.size(), number});
  llvm::sort(fetches);
  for (auto [unit, fetch] : llvm::enumerate(fetches))
    actions[fetch.second].unit = unit;
}

/// Numbers the gathers of stored parameters by their units, in the order of first uses. A unit ends where another
/// begins, or where it is gathered again.
void Reader::readUnits() {
  std::vector<OverlapProblem::Action> &actions = program.problem.actions;
  // Values that depend only on parameters, with the first of these parameters.
  DenseMap<Value, BlockArgument> stored;
  for (BlockArgument argument : block.getArguments())
    if (tg::parameterOf(argument))
      stored[argument] = argument;
  for (Operation &op : block) {
    if (op.getNumOperands() && llvm::all_of(op.getOperands(), [&](Value operand) { return stored.contains(operand); }))
      for (Value result : op.getResults())
        stored[result] = stored.lookup(op.getOperand(0));
  }
  // A collective's first user must compute.
  DenseMap<unsigned, unsigned> firstUse = firstUses();
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
    if (auto unitName = program.actions[number]->getAttrOfType<StringAttr>(comm::CommDialect::kUnit))
      name = unitName;
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

/// Orders held starts behind the preceding computation.
void Reader::readHeldStarts() {
  std::optional<unsigned> computed;
  for (auto [number, entry] : llvm::enumerate(program.problem.actions)) {
    if (computed && program.actions[number]->hasAttr(comm::kHeldStart) &&
        !llvm::is_contained(entry.dependences, *computed) && !llvm::is_contained(entry.antiDependences, *computed))
      entry.antiDependences.push_back(*computed);
    if (entry.kind == Kind::Compute)
      computed = number;
  }
}

FailureOr<OverlapProgram> Reader::run() {
  if (failed(readActions()))
    return failure();
  readEdges();
  readUpdates();
  readKinds();
  readFetches();
  readUnits();
  readHeldStarts();
  return std::move(program);
}

FailureOr<OverlapProgram> braid::readOverlapProgram(func::FuncOp function, const ActionGraph &graph,
                                                    const Machine &machine) {
  return Reader(function, graph, machine).run();
}
