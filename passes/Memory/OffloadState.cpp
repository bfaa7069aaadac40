//===- OffloadState.cpp - keep optimizer state in host memory -------------===//
//
// Finds the optimizer states among the arguments and their uses, forms the groups that are copied together, and builds
// the copies.
//
//===----------------------------------------------------------------------===//

#include "dialects/Comm/Comm.h"
#include "dialects/TG/Facts.h"
#include "dialects/TG/ProgramSignature.h"
#include "lib/Actions/ActionGraph.h"
#include "lib/Memory/Persistent.h"
#include "lib/Target/TargetInfo.h"
#define GEN_PASS_DEF_OFFLOADSTATEPASS
#include "passes/Memory/Passes.h"

using namespace mlir;
using namespace braid;
using exec::ActionOpInterface;

/// Default upper limits of a group: one part in `kGroups` of all states, and `kMaxBytes` bytes.
static constexpr int64_t kGroups = 16, kMaxBytes = int64_t(64) << 20;

namespace {
/// A state that a program uses.
struct UsedState {
  BlockArgument argument;
  /// The operand that returns its new value, or null.
  OpOperand *returned = nullptr;
  int64_t bytes = 0;
  /// Numbers of the first and the last action that uses it or computes its new value.
  unsigned first = 0, last = 0;
  bool isRead = false;
  /// Number of the last collective that its first use depends on, or -1.
  int64_t ready = -1;
};

/// States that are copied together.
struct StateGroup {
  SmallVector<UsedState> states;
  int64_t bytes = 0;
  unsigned last = 0;
};

class StateOffload {
public:
  StateOffload(func::FuncOp program, int64_t groupBytes)
      : program(program), block(program.getBody().front()), graph(block), builder(program.getContext()),
        groupBytes(groupBytes) {}
  /// Offloads states. Returns whether the program has any.
  bool run();

private:
  static tg::StateAttr keptStateOf(BlockArgument argument);
  void readActions();
  void readStates();
  void readUses(UsedState &state) const;
  bool isBehindOtherPhase(unsigned first, unsigned last) const;
  std::vector<StateGroup> makeGroups() const;
  Location locationOf(ArrayRef<UsedState> states, Operation *neighbor);
  void fetch(const StateGroup &group);
  void writeBack(const StateGroup &group);

  func::FuncOp program;
  Block &block;
  ActionGraph graph;
  OpBuilder builder;
  int64_t groupBytes;
  /// For each action, the number of the last collective that it depends on, or -1.
  SmallVector<int64_t> ready;
  std::vector<UsedState> states;
};
} // namespace

//===----------------------------------------------------------------------===//
// States and their uses
//===----------------------------------------------------------------------===//

/// Returns the state that the optimizer keeps of a parameter; null for other arguments.
tg::StateAttr StateOffload::keptStateOf(BlockArgument argument) {
  tg::StateAttr state = tg::stateOf(argument);
  bool isKept = state && (state.getKind() == tg::TensorKind::Moment || state.getKind() == tg::TensorKind::Master);
  return isKept ? state : tg::StateAttr();
}

void StateOffload::readActions() {
  for (unsigned action = 0; action < graph.size(); ++action) {
    int64_t last = -1;
    for (unsigned producer : graph.reads(action)) {
      bool isCollective = isa<comm::CollectiveOpInterface>(graph.actions()[producer]);
      last = std::max(last, isCollective ? int64_t(producer) : ready[producer]);
    }
    ready.push_back(last);
  }
}

void StateOffload::readUses(UsedState &state) const {
  state.first = graph.size();
  state.last = 0;
  auto add = [&](Operation *op) {
    if (graph.contains(op)) { // otherwise the terminator
      state.first = std::min(state.first, graph.numberOf(op));
      state.last = std::max(state.last, graph.numberOf(op));
    }
  };
  graph.forEachReader(state.argument, add);
  state.isRead = state.first != graph.size();
  if (state.returned)
    graph.forEachProducer(state.returned->get(), add);
}

/// Reads the states in the order in which their updates may run. This is the order of the collectives before them. A
/// state that the program returns unchanged needs no copy.
void StateOffload::readStates() {
  tg::ProgramSignature signature(program);
  for (BlockArgument argument : block.getArguments()) {
    if (!keptStateOf(argument))
      continue;
    UsedState state{argument};
    state.returned = signature.updateOf(argument);
    if (state.returned && state.returned->get() == argument)
      state.returned = nullptr;
    state.bytes = bytesOf(TypeRange(argument.getType()));
    readUses(state);
    if (state.first == graph.size())
      continue;
    state.ready = ready[state.first];
    states.push_back(state);
  }
  llvm::stable_sort(states, [](const UsedState &a, const UsedState &b) {
    return std::pair(a.ready, a.first) < std::pair(b.ready, b.first);
  });
}

//===----------------------------------------------------------------------===//
// Groups
//===----------------------------------------------------------------------===//

static bool isOfUpdate(Operation *action) {
  return llvm::all_of(tg::factsOfTensors(action->getResults()),
                      [](tg::FactsAttr facts) { return facts && facts.getPhase() == tg::Phase::Update; });
}

/// Whether an action other than an update stands between two actions.
bool StateOffload::isBehindOtherPhase(unsigned first, unsigned last) const {
  for (unsigned number = first + 1; number < last; ++number)
    if (!isOfUpdate(graph.actions()[number]))
      return true;
  return false;
}

std::vector<StateGroup> StateOffload::makeGroups() const {
  int64_t all = 0;
  for (const UsedState &state : states)
    all += state.bytes;
  int64_t maxGroupBytes = groupBytes ? groupBytes : std::min(kMaxBytes, all / kGroups);
  std::vector<StateGroup> groups;
  for (const UsedState &state : states) {
    bool joins = !groups.empty() && groups.back().states.back().ready == state.ready &&
                 groups.back().bytes + state.bytes <= maxGroupBytes &&
                 !isBehindOtherPhase(groups.back().last, state.first);
    StateGroup &group = joins ? groups.back() : groups.emplace_back();
    group.states.push_back(state);
    group.bytes += state.bytes;
    group.last = std::max(group.last, state.last);
  }
  return groups;
}

//===----------------------------------------------------------------------===//
// Copies
//===----------------------------------------------------------------------===//

/// Returns the location of copies. They belong to the update, with facts for the state of each tensor.
Location StateOffload::locationOf(ArrayRef<UsedState> states, Operation *neighbor) {
  MLIRContext *context = program.getContext();
  SmallVector<tg::FactsAttr> facts;
  for (const UsedState &state : states) {
    tg::StateAttr attribute = keptStateOf(state.argument);
    facts.push_back(tg::getFacts(context, tg::Phase::Update, /*unit=*/{}, attribute.getOf(), attribute.getKind()));
  }
  return tg::withFacts(neighbor->getLoc(), facts);
}

/// Fetches a group before its first use, for all uses on the device.
void StateOffload::fetch(const StateGroup &group) {
  SmallVector<UsedState> read = llvm::to_vector(group.states);
  llvm::erase_if(read, [](const UsedState &state) { return !state.isRead; });
  if (read.empty())
    return;
  Operation *before = graph.actions()[read.front().first];
  SmallVector<Value> values;
  for (const UsedState &state : read) {
    values.push_back(state.argument);
    for (Operation *user : state.argument.getUsers()) // a view may stand before the fetch
      if (Operation *reader = block.findAncestorOpInBlock(*user); reader->isBeforeInBlock(before))
        before = reader;
  }
  builder.setInsertionPoint(before);
  auto copy = builder.create<comm::CopyOp>(locationOf(read, before), values, comm::Memory::Device);
  for (auto [state, fetched] : llvm::zip_equal(read, copy.getResults()))
    state.argument.replaceUsesWithIf(
        fetched, [&](OpOperand &use) { return use.getOwner() != copy && use.getOwner() != block.getTerminator(); });
}

/// Writes a group back, behind its last use and the producers of its new values.
void StateOffload::writeBack(const StateGroup &group) {
  SmallVector<UsedState> written = llvm::to_vector(group.states);
  llvm::erase_if(written, [](const UsedState &state) { return !state.returned; });
  if (written.empty())
    return;
  Operation *lastAction = graph.actions()[group.last];
  SmallVector<Value> values;
  for (const UsedState &state : written) {
    values.push_back(state.returned->get());
    if (Operation *op = values.back().getDefiningOp(); op && lastAction->isBeforeInBlock(op))
      lastAction = op;
  }
  builder.setInsertionPointAfter(lastAction);
  auto copy = builder.create<comm::CopyOp>(locationOf(written, lastAction), values, comm::Memory::Host);
  for (auto [state, back] : llvm::zip_equal(written, copy.getResults()))
    state.returned->set(back);
}

bool StateOffload::run() {
  bool any = false;
  for (BlockArgument argument : program.getArguments())
    if (keptStateOf(argument)) {
      program.setArgAttr(argument.getArgNumber(), exec::kHost, builder.getUnitAttr());
      any = true;
    }
  readActions();
  readStates();
  for (const StateGroup &group : makeGroups()) {
    fetch(group);
    writeBack(group);
  }
  return any;
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

namespace {
struct OffloadState final : braid::impl::OffloadStatePassBase<OffloadState> {
  using OffloadStatePassBase::OffloadStatePassBase;

  void runOnOperation() final {
    ModuleOp module = getOperation();
    const TargetInfo *target = targetOf(module);
    if (!target)
      return signalPassFailure();
    if (!target->gpu) {
      module.emitError() << "the " << target->name
                         << " target has only the memory of the host, so no state can be offloaded to it";
      return signalPassFailure();
    }
    bool any = false;
    for (auto program : module.getOps<func::FuncOp>())
      if (program.getBody().hasOneBlock())
        any |= StateOffload(program, groupBytes).run();
    if (any)
      return;
    module.emitError() << "no program has state of an optimizer (moments, or f32 masters of bf16 parameters) that "
                          "could be kept in the host's memory";
    signalPassFailure();
  }
};
} // namespace
