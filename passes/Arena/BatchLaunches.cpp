//===- BatchLaunches.cpp - merge many small launches into one -------------===//
//
// A launch joins an earlier launch of the same kernel if no action between them touches memory that it writes, or
// writes memory that it touches. The update of all parameters becomes one launch.
//
//===----------------------------------------------------------------------===//

#include "dialects/Exec/KernelBody.h"
#include "dialects/TG/Facts.h"
#include "lib/Memory/RecordReads.h"
#include "mlir/IR/SymbolTable.h"
#define GEN_PASS_DEF_BATCHLAUNCHESPASS
#include "passes/Arena/Passes.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/StringMap.h"

using namespace mlir;
using namespace braid;

/// Upper limit of actions that a launch moves over.
static constexpr size_t kMaxMoved = 4096;

namespace {
struct Range {
  int64_t begin, end;
  bool overlaps(Range other) const { return begin < other.end && other.begin < end; }
};

/// Part of a buffer or tensor. Two buffers that share bytes must not be live together, even if the used parts do not
/// overlap.
struct Part {
  Operation *storage;
  Range part, whole;
  bool isOnHost = false;
  bool overlaps(const Part &other) const {
    bool isSame = storage == other.storage, isOneMemory = isOnHost == other.isOnHost;
    return isSame ? part.overlaps(other.part) : isOneMemory && whole.overlaps(other.whole);
  }
};

/// The memory that an action reads and writes.
struct Access {
  SmallVector<Part> reads, writes;

  bool conflicts(const Access &other) const {
    auto meet = [](ArrayRef<Part> a, ArrayRef<Part> b) {
      return llvm::any_of(a,
                          [&](const Part &x) { return llvm::any_of(b, [&](const Part &y) { return x.overlaps(y); }); });
    };
    return meet(writes, other.writes) || meet(writes, other.reads) || meet(reads, other.writes);
  }
};

/// The actions of one program, in order, and the launches that join others.
class Batching {
public:
  Batching(exec::ProgramOp program, SymbolTable &module) : program(program), module(module), symbols(program) {}
  void run();

private:
  Part partOf(Value ref);
  void readActions();
  void join();
  void hoistReferences();
  void rewrite();
  void renumber();
  void moveReads(ArrayRef<size_t> numOuts);

  exec::ProgramOp program;
  SymbolTable &module;
  SymbolTable symbols;
  SmallVector<exec::ActionOpInterface> actions;
  SmallVector<Access> accesses;
  /// For each action, the earlier action that it joins, or itself.
  SmallVector<size_t> leader;
  SmallVector<int64_t> newNumber;
};
} // namespace

Part Batching::partOf(Value value) {
  auto ref = value.getDefiningOp<exec::RefOp>();
  Operation *storage = symbols.lookup(ref.getBuffer());
  if (!storage)
    storage = module.lookup(ref.getBuffer());
  auto range = cast<exec::ArenaRangeOpInterface>(storage);
  int64_t start = range.getBegin(), bytes = range.getSize();
  int64_t begin = start + ref.getOffset();
  return {storage,
          {begin, begin + cast<exec::RefType>(value.getType()).getSpanBytes()},
          {start, start + bytes},
          range.isOnHost()};
}

void Batching::readActions() {
  // Library calls write the scratch memory, which no reference names.
  std::optional<Part> workspace;
  for (auto buffer : program.getBody().front().getOps<exec::BufferOp>())
    if (buffer.getScratch()) {
      Range whole{static_cast<int64_t>(buffer.getOffset()),
                  static_cast<int64_t>(buffer.getOffset() + buffer.getBytes())};
      workspace = {buffer, whole, whole};
    }
  for (Operation &op : program.getBody().front()) {
    auto action = dyn_cast<exec::ActionOpInterface>(op);
    if (!action)
      continue;
    // An action that began earlier accesses its memory until here.
    auto begun = cast<exec::ActionOpInterface>(action.getActionBegin());
    Access access;
    for (Value in : begun.getActionIns())
      access.reads.push_back(partOf(in));
    for (Value out : begun.getActionOuts())
      access.writes.push_back(partOf(out));
    if (workspace && action.getWorkspaceBytes(exec::kConservativeWorkspace) > 0)
      access.writes.push_back(*workspace);
    leader.push_back(actions.size());
    actions.push_back(action);
    accesses.push_back(std::move(access));
  }
}

/// Whether launches of a kernel may be merged. A kernel that leaves partial sums may not: its number of blocks suits
/// the processor, and each block has its own rows.
static bool isBatchable(exec::KernelDefOp kernel) {
  int64_t lanes = kernel.getSpace().size() - 1;
  return llvm::none_of(kernel.getBlock()->getOps<linalg::GenericOp>(), [&](linalg::GenericOp generic) {
    return exec::kindOf(generic, lanes) == exec::GenericKind::RowReduction && exec::blockDims(generic) > 0;
  });
}

void Batching::join() {
  llvm::StringMap<size_t> last;
  llvm::StringMap<bool> batchable;
  for (size_t index = 0; index < actions.size(); ++index) {
    auto launch = dyn_cast<exec::LaunchOp>(actions[index].getOperation());
    if (!launch)
      continue;
    auto known = batchable.try_emplace(launch.getKernel(), false);
    if (known.second)
      known.first->second = isBatchable(module.lookup<exec::KernelDefOp>(launch.getKernel()));
    if (!known.first->second)
      continue;
    auto [it, isFirst] = last.try_emplace(launch.getKernel(), index);
    if (isFirst)
      continue;
    // Checks all actions from the first launch of the batch on, including launches that joined it or others behind it.
    size_t target = it->second;
    bool isFree = index - target <= kMaxMoved;
    for (size_t other = target; isFree && other < index; ++other)
      isFree = !accesses[index].conflicts(accesses[other]);
    if (isFree)
      leader[index] = target;
    else
      it->second = index;
  }
}

/// Moves references between actions to the front; they are pure.
void Batching::hoistReferences() {
  SmallVector<exec::RefOp> late;
  for (Operation &op : llvm::make_range(Block::iterator(actions.front()), program.getBody().front().end()))
    if (auto ref = dyn_cast<exec::RefOp>(op))
      late.push_back(ref);
  for (exec::RefOp ref : late)
    ref->moveBefore(actions.front());
}

static SmallVector<tg::FactsAttr> factsOfOuts(exec::LaunchOp launch) {
  unsigned count = launch.getOuts().size();
  return llvm::map_to_vector(llvm::seq(count),
                             [&](unsigned out) { return tg::factsOfTensor(launch.getLoc(), out, count); });
}

void Batching::rewrite() {
  hoistReferences();
  llvm::MapVector<size_t, SmallVector<exec::LaunchOp>> batches;
  for (size_t index = 0; index < actions.size(); ++index)
    if (leader[index] != index)
      batches[leader[index]].push_back(cast<exec::LaunchOp>(actions[index].getOperation()));
  for (auto &[first, members] : batches) {
    auto launch = cast<exec::LaunchOp>(actions[first].getOperation());
    SmallVector<Value> ins(launch.getIns()), outs(launch.getOuts());
    SmallVector<Location> locations{launch.getLoc()};
    SmallVector<tg::FactsAttr> facts = factsOfOuts(launch);
    for (exec::LaunchOp member : members) {
      llvm::append_range(ins, member.getIns());
      llvm::append_range(outs, member.getOuts());
      locations.push_back(member.getLoc());
      llvm::append_range(facts, factsOfOuts(member));
    }
    OpBuilder builder(launch);
    auto batch = builder.create<exec::LaunchOp>(tg::withFacts(builder.getFusedLoc(locations), facts), TypeRange(),
                                                launch.getKernel(), launch.getBatch() + members.size(), ins, outs);
    actions[first] = batch;
    launch.erase();
    for (exec::LaunchOp member : members)
      member.erase();
  }
}

/// Live ranges are action numbers, which change when launches merge.
void Batching::renumber() {
  int64_t count = 0;
  for (size_t index = 0; index < leader.size(); ++index)
    newNumber.push_back(leader[index] == index ? count++ : newNumber[leader[index]]);
  llvm::StringMap<std::pair<int64_t, int64_t>> used;
  for (size_t index = 0; index < leader.size(); ++index) {
    if (leader[index] != index)
      continue;
    auto begun = cast<exec::ActionOpInterface>(actions[index].getActionBegin());
    auto touch = [&](Value ref) {
      auto [it, isFirst] =
          used.try_emplace(ref.getDefiningOp<exec::RefOp>().getBuffer(), newNumber[index], newNumber[index]);
      it->second.second = newNumber[index];
    };
    llvm::for_each(begun.getActionIns(), touch);
    llvm::for_each(begun.getActionOuts(), touch);
  }
  int64_t total = leader.size();
  auto renumbered = [&](int64_t number) { return number < 0 ? number : number >= total ? count : newNumber[number]; };
  for (auto buffer : program.getBody().front().getOps<exec::BufferOp>()) {
    // Positions before the first and after the last action stay as they are.
    int64_t first = buffer.getFirst(), last = buffer.getLast();
    auto it = used.find(buffer.getSymName());
    bool isUsed = it != used.end();
    buffer.setFirst(isUsed && first >= 0 ? it->second.first : renumbered(first));
    buffer.setLast(isUsed && last < total ? it->second.second : renumbered(last));
  }
}

/// Updates the expected reads of the program to the new numbers of actions and outs.
void Batching::moveReads(ArrayRef<size_t> numOuts) {
  Attribute recorded = program->getAttr(exec::kReads);
  std::optional<exec::ProgramReads> reads = recorded ? exec::decodeReads(recorded) : std::nullopt;
  if (!reads || reads->actions.size() != leader.size())
    return;
  SmallVector<MovedAction> moved;
  SmallVector<int64_t> outs(leader.size(), 0);
  for (size_t index = 0; index < leader.size(); ++index) {
    int64_t &before = outs[newNumber[index]];
    moved.push_back({newNumber[index], before});
    before += numOuts[index];
  }
  program->setAttr(exec::kReads, exec::encodeReads(program.getContext(), movedReads(*reads, moved)));
}

void Batching::run() {
  readActions();
  join();
  if (llvm::all_of(llvm::enumerate(leader), [](auto entry) { return entry.value() == entry.index(); }))
    return;
  auto numOuts = llvm::map_to_vector(actions, [](auto action) -> size_t { return action.getActionOuts().size(); });
  rewrite();
  renumber();
  moveReads(numOuts);
}

namespace {
struct BatchLaunchesPass : public braid::impl::BatchLaunchesPassBase<BatchLaunchesPass> {
  void runOnOperation() final {
    SymbolTable module(getOperation());
    for (auto program : getOperation().getOps<exec::ProgramOp>())
      Batching(program, module).run();
  }
};
} // namespace
