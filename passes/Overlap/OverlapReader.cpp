//===- OverlapReader.cpp - a program of ranks as an overlap problem -------===//
//
// Actions depend on what makes their operands, through views and concats, and where
// the planner would write one value over another on who reads the old one: the new
// value of a parameter comes after all that reads the old one, and a reduction in
// place after the other readers of its operand.  Only readers that come before in
// the program count: of the others the planner keeps a copy, as it did.
//
// What computes may leave its place when it belongs to an update: it makes a new
// value of what has been reduced, or it is on the way there (a gradient scaled or
// added up, a part of their norm) and nothing else reads it.
//
//===----------------------------------------------------------------------===//

#include "passes/Overlap/OverlapReader.h"
#include "dialects/Comm/Mesh.h"
#include "dialects/TG/TG.h"
#include "lib/Memory/Reads.h"
#include "passes/Collectives/BucketRoles.h"
#include "llvm/ADT/EquivalenceClasses.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/StringMap.h"

using namespace mlir;
using namespace braid;
using Kind = OverlapProblem::Kind;

namespace {

class Reader {
public:
  Reader(func::FuncOp function, const ComputeRates &compute, const LinkRates &link, const TargetInfo &target)
      : function(function), block(function.getBody().front()), compute(compute), link(link), target(target) {}
  FailureOr<OverlapProgram> run();

private:
  using Numbers = SmallVector<unsigned, 4>;

  LogicalResult readActions();
  void addProducers(Value value, Numbers &producers) const;
  void readNeeds();
  void readUpdates();
  void readOverwritten(unsigned number);
  void addReadersBefore(Value value, unsigned number, Numbers &readers) const;
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
  void readBuffers();
  void joinInPlace(unsigned number);
  void join(Value a, Value b) { values.unionSets(a.getAsOpaquePointer(), b.getAsOpaquePointer()); }
  int64_t padded(Type type) const;

  func::FuncOp function;
  Block &block;
  const ComputeRates &compute;
  const LinkRates &link;
  const TargetInfo &target;
  OverlapProgram program;
  DenseMap<Operation *, unsigned> numbers;
  /// The argument whose memory a returned value takes.
  llvm::MapVector<Value, BlockArgument> updates;
  /// Values that share memory.
  llvm::EquivalenceClasses<void *> values;
};

} // namespace

static comm::CollectiveOpInterface collectiveIn(Operation *op) { return dyn_cast<comm::CollectiveOpInterface>(op); }

static void makeUnique(SmallVectorImpl<unsigned> &numbers) {
  llvm::sort(numbers);
  numbers.erase(std::unique(numbers.begin(), numbers.end()), numbers.end());
}

//===----------------------------------------------------------------------===//
// Actions and their order
//===----------------------------------------------------------------------===//

LogicalResult Reader::readActions() {
  auto attribute = function->getAttrOfType<comm::ProgramAttr>(comm::CommDialect::kProgram);
  SymbolTableCollection tables;
  for (Operation &op : block.without_terminator()) {
    auto action = dyn_cast<exec::ActionOpInterface>(op);
    if (!action && !isa<exec::ExecDialect>(op.getDialect()) && !op.hasTrait<OpTrait::ConstantLike>())
      return op.emitOpError() << "is not an action, so its time is unknown; run exec-select-calls and "
                              << "exec-form-kernels before overlap";
    if (!action)
      continue;
    OverlapProblem::Action &entry = program.problem.actions.emplace_back();
    numbers[action] = program.actions.size();
    program.actions.push_back(action);
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

/// Actions before `number` that read `value` or what is a view or part of it.
void Reader::addReadersBefore(Value value, unsigned number, Numbers &readers) const {
  for (Operation *user : value.getUsers()) {
    if (auto found = numbers.find(user); found != numbers.end()) {
      if (found->second < number)
        readers.push_back(found->second);
    } else if (user->getNumResults() == 1) {
      addReadersBefore(user->getResult(0), number, readers);
    }
  }
}

/// What takes the memory of parameters and states, and whom it has to wait for.
void Reader::readUpdates() {
  llvm::StringMap<BlockArgument> persistent;
  for (BlockArgument argument : block.getArguments()) {
    unsigned index = argument.getArgNumber();
    if (auto param = function.getArgAttrOfType<tg::ParamAttr>(index, tg::kParam))
      persistent[param.getName()] = argument;
    if (auto state = function.getArgAttrOfType<tg::StateAttr>(index, tg::kState))
      persistent[state.getName()] = argument;
  }
  for (OpOperand &returned : block.getTerminator()->getOpOperands()) {
    auto name = function.getResultAttrOfType<StringAttr>(returned.getOperandNumber(), tg::kUpdates);
    auto argument = name ? persistent.find(name) : persistent.end();
    Value root = rootOf(returned.get());
    if (argument == persistent.end() || isa<BlockArgument>(root))
      continue;
    updates[root] = argument->second;
    Numbers writers;
    addProducers(root, writers);
    for (unsigned writer : writers)
      addReadersBefore(argument->second, writer, program.problem.actions[writer].after);
  }
}

/// What moves, and would write over an operand, comes after its other readers.
void Reader::readOverwritten(unsigned number) {
  exec::ActionOpInterface action = program.actions[number];
  OverlapProblem::Action &entry = program.problem.actions[number];
  for (OpResult result : action->getResults())
    for (auto [index, operand] : llvm::enumerate(action.getActionIns())) {
      Value root = rootOf(operand);
      if (!isa<BlockArgument>(root) && operand.getType() == result.getType() &&
          (action.mayWriteInPlace(result.getResultNumber(), index) ||
           action.getTiedIn(result.getResultNumber()) == int64_t(index)))
        addReadersBefore(root, number, entry.after);
    }
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
  for (BlockArgument argument : block.getArguments()) {
    unsigned index = argument.getArgNumber();
    if (function.getArgAttr(index, tg::kParam) || function.getArgAttr(index, tg::kState))
      kept.insert(argument);
  }
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
  for (auto [number, entry] : llvm::enumerate(program.problem.actions)) {
    if (entry.kind != Kind::Compute)
      readOverwritten(number);
    makeUnique(entry.after);
    llvm::erase_if(entry.after,
                   [&, needs = &entry.needs](unsigned other) { return llvm::is_contained(*needs, other); });
  }
}

/// Gathers of stored parameters, numbered by their units in the order of first uses.
/// A unit ends where another begins, or where it is gathered again.
void Reader::readUnits() {
  std::vector<OverlapProblem::Action> &actions = program.problem.actions;
  // What parameters alone decide, and the first parameter.
  DenseMap<Value, BlockArgument> stored;
  for (BlockArgument argument : block.getArguments())
    if (function.getArgAttr(argument.getArgNumber(), tg::kParam))
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
    auto name = function.getArgAttrOfType<tg::ParamAttr>(first.getArgNumber(), tg::kParam).getUnit();
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

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

int64_t Reader::padded(Type type) const {
  int64_t bytes = bytesOf(TypeRange(type));
  return (bytes + target.alignment - 1) / target.alignment * target.alignment;
}

/// The planner writes a result over an operand that dies there.
void Reader::joinInPlace(unsigned number) {
  exec::ActionOpInterface action = program.actions[number];
  DenseSet<Value> overwritten;
  for (OpResult result : action->getResults())
    for (Value operand : action.getActionIns())
      if (Value root = rootOf(operand); operand.getType() == result.getType() && !isa<BlockArgument>(root) &&
                                        mayOverwrite(root, action, result.getResultNumber()) &&
                                        overwritten.insert(root).second) {
        join(root, result);
        break;
      }
}

/// Values that share memory are one buffer; persistent memory is none.
void Reader::readBuffers() {
  for (Operation &op : block)
    if (!isa<exec::ActionOpInterface>(op) && op.getNumResults() == 1)
      for (Value operand : op.getOperands())
        join(operand, op.getResult(0));
  for (auto &[root, argument] : updates)
    join(root, argument);
  for (unsigned number = 0; number < program.actions.size(); ++number)
    joinInPlace(number);

  llvm::MapVector<void *, OverlapProblem::Buffer> buffers;
  DenseSet<void *> persistent;
  auto bufferOf = [&](Value value) -> OverlapProblem::Buffer & {
    OverlapProblem::Buffer &buffer = buffers[values.getOrInsertLeaderValue(value.getAsOpaquePointer())];
    buffer.bytes = std::max(buffer.bytes, padded(value.getType()));
    return buffer;
  };
  for (BlockArgument argument : block.getArguments()) {
    unsigned index = argument.getArgNumber();
    if (function.getArgAttr(index, tg::kParam) || function.getArgAttr(index, tg::kState)) {
      persistent.insert(values.getOrInsertLeaderValue(argument.getAsOpaquePointer()));
      program.problem.baseBytes += padded(argument.getType());
    } else {
      bufferOf(argument).fromStart = true;
    }
  }
  int64_t workspace = 0;
  for (auto [number, action] : llvm::enumerate(program.actions)) {
    workspace = std::max(workspace, action.getWorkspaceBytes(target.workspace));
    for (Value operand : action->getOperands())
      bufferOf(operand).users.push_back(number);
    for (Value result : action->getResults())
      bufferOf(result).users.push_back(number);
  }
  program.problem.baseBytes += workspace;
  for (Value returned : block.getTerminator()->getOperands())
    bufferOf(returned).toEnd = true;
  for (auto &[leader, buffer] : buffers) {
    if (persistent.contains(leader))
      continue;
    makeUnique(buffer.users);
    program.problem.buffers.push_back(std::move(buffer));
  }
}

FailureOr<OverlapProgram> Reader::run() {
  if (failed(readActions()))
    return failure();
  readNeeds();
  readUpdates();
  readKinds();
  readUnits();
  readBuffers();
  return std::move(program);
}

FailureOr<OverlapProgram> braid::readOverlapProgram(func::FuncOp function, const ComputeRates &compute,
                                                    const LinkRates &link, const TargetInfo &target) {
  return Reader(function, compute, link, target).run();
}
