//===- StreamStores.cpp - stores that bypass the caches -------------------===//
//
// Runs in memory form, after launches are final. The distance to the next use of a byte is the number of bytes moved
// before that use, because these evict cache lines. It counts the bytes of the actions in between and of the launch
// itself. The latter stand for the launch's work behind the write and the reader's work before the read.
//
//===----------------------------------------------------------------------===//

#include "dialects/Exec/KernelBody.h"
#include "lib/Target/TargetInfo.h"
#include "mlir/IR/SymbolTable.h"
#define GEN_PASS_DEF_STREAMSTORESPASS
#include "passes/Arena/Passes.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/MapVector.h"
#include <optional>

using namespace mlir;
using namespace braid;

namespace {
/// The actions of a program, and the actions that use each storage.
class Uses {
public:
  Uses(exec::ProgramOp program, SymbolTable &module);

  /// Returns the bytes moved by this action and up to the next action that uses the storage, or nothing if there is
  /// none.
  std::optional<int64_t> bytesUntilNextUse(Operation *action, Operation *storage) const;
  /// Returns the bytes moved before the first use of a storage, if there is one.
  std::optional<int64_t> bytesUntilFirstUse(Operation *storage) const;
  /// Returns the bytes moved by this action and after it.
  int64_t bytesUntilEnd(Operation *action) const { return moved.back() - moved[numbers.lookup(action)]; }
  Operation *storageOf(Value ref) const;

private:
  SymbolTable &module;
  SymbolTable symbols;
  llvm::DenseMap<Operation *, int64_t> numbers;
  llvm::DenseMap<Operation *, SmallVector<int64_t>> users; // action numbers, ascending
  SmallVector<int64_t> moved{0};                           // bytes moved before each action, and after the last
};
} // namespace

Uses::Uses(exec::ProgramOp program, SymbolTable &module) : module(module), symbols(program) {
  for (auto action : program.getBody().front().getOps<exec::ActionOpInterface>()) {
    int64_t number = numbers[action] = numbers.size();
    auto begun = cast<exec::ActionOpInterface>(action.getActionBegin());
    for (ValueRange refs : {ValueRange(begun.getActionIns()), ValueRange(begun.getActionOuts())})
      for (Value ref : refs)
        users[storageOf(ref)].push_back(number);
    exec::ActionCost cost = action.getActionCost();
    moved.push_back(moved.back() + cost.bytesRead + cost.bytesWritten);
  }
}

Operation *Uses::storageOf(Value value) const {
  StringRef name = value.getDefiningOp<exec::RefOp>().getBuffer();
  Operation *local = symbols.lookup(name);
  return local ? local : module.lookup(name);
}

std::optional<int64_t> Uses::bytesUntilNextUse(Operation *action, Operation *storage) const {
  int64_t number = numbers.lookup(action);
  auto it = users.find(storage);
  for (int64_t user : it == users.end() ? ArrayRef<int64_t>() : ArrayRef<int64_t>(it->second))
    if (user > number)
      return moved[user] - moved[number];
  return std::nullopt;
}

std::optional<int64_t> Uses::bytesUntilFirstUse(Operation *storage) const {
  auto it = users.find(storage);
  return it == users.end() ? std::nullopt : std::optional(moved[it->second.front()]);
}

namespace {
struct StreamStores final : braid::impl::StreamStoresPassBase<StreamStores> {
  using StreamStoresPassBase::StreamStoresPassBase;

  void runOnOperation() final {
    const TargetInfo *target = targetOf(getOperation());
    if (!target)
      return signalPassFailure();
    if (target->streamDistance == 0)
      return;
    distance = target->streamDistance;
    SymbolTable module(getOperation());
    programs.clear();
    for (auto program : getOperation().getOps<exec::ProgramOp>())
      programs.emplace_back(program, module);
    llvm::MapVector<Operation *, SmallVector<int64_t>> gains;
    for (auto [number, program] : llvm::enumerate(getOperation().getOps<exec::ProgramOp>()))
      for (auto launch : program.getOps<exec::LaunchOp>())
        addGains(launch, programs[number], gains[module.lookup(launch.getKernel())]);
    for (auto &[kernel, outs] : gains)
      mark(cast<exec::KernelDefOp>(kernel), outs);
  }

private:
  /// Adds, for each out of a kernel, the bytes that need not be read before they are written, minus those that must be
  /// read from memory again.
  void addGains(exec::LaunchOp launch, const Uses &uses, SmallVector<int64_t> &gains) const {
    size_t numOuts = launch.getOuts().size() / launch.getBatch();
    gains.resize(numOuts);
    for (auto [i, out] : llvm::enumerate(launch.getOuts())) {
      int64_t bytes = cast<exec::RefType>(out.getType()).getSpanBytes();
      gains[i % numOuts] += isFar(launch, uses, uses.storageOf(out)) ? bytes : -bytes;
    }
  }

  /// Whether the next use of the launch's output is far away.
  bool isFar(exec::LaunchOp launch, const Uses &uses, Operation *storage) const {
    if (std::optional<int64_t> next = uses.bytesUntilNextUse(launch, storage))
      return *next >= distance;
    if (!isa<exec::TensorOp, exec::PackOp>(storage))
      return true; // results are read after the program
    int64_t rest = uses.bytesUntilEnd(launch);
    return llvm::none_of(programs, [&](const Uses &program) {
      std::optional<int64_t> first = program.bytesUntilFirstUse(storage);
      return first && rest + *first < distance;
    });
  }

  static void mark(exec::KernelDefOp kernel, ArrayRef<int64_t> gains) {
    SmallVector<int64_t> streamed;
    for (auto [i, tie] : llvm::enumerate(kernel.getTies()))
      if (tie < 0 && gains[i] > 0)
        streamed.push_back(i);
    if (!streamed.empty())
      kernel->setAttr(exec::kStreamed, DenseI64ArrayAttr::get(kernel.getContext(), streamed));
  }

  int64_t distance = 0;
  std::vector<Uses> programs;
};
} // namespace
