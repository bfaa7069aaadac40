//===- GatherKernels.cpp - move equal kernels together --------------------===//
//
// Moves small kernels of one kind in front of the last of them that can wait for the others:
//
//   a group   kernels that are equal except for their operands; none defines a value that an action
//             before the last kernel of the group reads
//   memory    the operands of a kernel that moves down are live longer; it stays if the program
//             would have more live bytes at its peak
//
//===----------------------------------------------------------------------===//

#include "dialects/Exec/Exec.h"
#include "lib/Memory/Lifetimes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#define GEN_PASS_DEF_GATHERKERNELSPASS
#include "passes/Kernels/Passes.h"
#include "llvm/ADT/MapVector.h"

using namespace mlir;
using namespace braid;

/// Upper limit of bytes that a kernel of a group moves. A larger kernel takes longer than its launch even on the
/// fastest GPUs; it should run while its operands are in a cache.
static constexpr int64_t kMaxBytes = 4 << 20;
/// Attribute with the number of a kernel in a copy of its program.
static constexpr StringLiteral kNumber = "exec.number";

//===----------------------------------------------------------------------===//
// Kinds and groups
//===----------------------------------------------------------------------===//

/// Returns a hash that is equal for kernels of one kind.
static llvm::hash_code hashOf(exec::KernelOp kernel) {
  llvm::hash_code hash = llvm::hash_combine(kernel.getSpaceAttr());
  for (Type type : kernel->getOperandTypes())
    hash = llvm::hash_combine(hash, type);
  kernel.getBody().walk([&](Operation *op) {
    hash = llvm::hash_combine(hash, op->getName(), op->getAttrDictionary(),
                              llvm::hash_combine_range(op->result_type_begin(), op->result_type_end()));
  });
  return hash;
}

static bool isSame(exec::KernelOp a, exec::KernelOp b) {
  return a.getSpaceAttr() == b.getSpaceAttr() && llvm::equal(a->getOperandTypes(), b->getOperandTypes()) &&
         llvm::equal(a->getResultTypes(), b->getResultTypes()) &&
         OperationEquivalence::isRegionEquivalentTo(&a.getBody(), &b.getBody(), OperationEquivalence::IgnoreLocations);
}

/// Returns the kernels of each kind, in order.
static std::vector<SmallVector<exec::KernelOp>> findKinds(Block &block) {
  std::vector<SmallVector<exec::KernelOp>> kinds;
  llvm::DenseMap<size_t, SmallVector<unsigned, 1>> byHash;
  for (auto kernel : block.getOps<exec::KernelOp>()) {
    exec::ActionCost cost = kernel.getActionCost();
    if (cost.bytesRead + cost.bytesWritten > kMaxBytes)
      continue;
    SmallVector<unsigned, 1> &known = byHash[hashOf(kernel)];
    auto *kind = llvm::find_if(known, [&](unsigned number) { return isSame(kinds[number].front(), kernel); });
    if (kind == known.end()) {
      known.push_back(kinds.size());
      kinds.emplace_back();
      kind = &known.back();
    }
    kinds[*kind].push_back(kernel);
  }
  return kinds;
}

/// Returns the first op that reads a result of `op`.
static Operation *firstReader(Operation *op) {
  Operation *first = op->getBlock()->getTerminator();
  for (Operation *user : op->getUsers())
    if (user->isBeforeInBlock(first))
      first = user;
  return first;
}

using Group = SmallVector<exec::KernelOp>;

/// Returns the fewest groups that kinds and readers allow.
static std::vector<Group> findGroups(Block &block) {
  std::vector<Group> groups;
  for (ArrayRef<exec::KernelOp> kind : findKinds(block)) {
    Operation *end = nullptr;
    for (exec::KernelOp kernel : kind) {
      Operation *reader = firstReader(kernel);
      bool joins = end && kernel->isBeforeInBlock(end);
      if (!joins)
        groups.emplace_back();
      groups.back().push_back(kernel);
      end = joins && end->isBeforeInBlock(reader) ? end : reader;
    }
  }
  llvm::erase_if(groups, [](const Group &group) { return group.size() < 2; });
  return groups;
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

namespace {
/// The actions of a program on a line of slots, with free slots as targets of moves.
class Line {
public:
  Line(const Places &places, ArrayRef<Group> groups, const TargetInfo &target);
  /// Moves a kernel in front of the last kernel of its group, if the program then needs no more memory. Returns
  /// whether it moved.
  bool move(size_t kernel);

private:
  /// The slots of a kernel in a group: the present one, and the one after a move.
  struct Slots {
    int64_t action = -1;
    unsigned now = 0, then = 0;
  };
  std::vector<Slots> slots;
  std::vector<LiveBuffer> buffers;
  std::optional<LiveBytes> live;
};
} // namespace

Line::Line(const Places &places, ArrayRef<Group> groups, const TargetInfo &target) {
  SmallVector<size_t> firsts, lasts; // kernel numbers of each group
  for (const Group &group : groups) {
    firsts.push_back(slots.size());
    slots.resize(slots.size() + group.size());
    lasts.push_back(slots.size() - 1);
  }
  std::vector<ActionSlots> actions;
  unsigned next = 0;
  for (auto [index, action] : llvm::enumerate(places.actions)) {
    auto number = action->getAttrOfType<IntegerAttr>(kNumber);
    const auto *last = number ? llvm::find(lasts, static_cast<size_t>(number.getInt())) : lasts.end();
    if (last != lasts.end())
      for (size_t kernel = firsts[last - lasts.begin()]; kernel < *last; ++kernel)
        slots[kernel].then = next++;
    if (number) {
      slots[number.getInt()].action = index;
      slots[number.getInt()].now = next;
    }
    actions.push_back({next, next});
    ++next;
  }
  buffers = liveBuffers(places, workspaceBytes(places.actions, target), target);
  live.emplace(buffers, actions, next);
}

bool Line::move(size_t kernel) {
  const Slots &slot = slots[kernel];
  if (slot.action < 0 || slot.then <= slot.now)
    return false;
  int64_t before = live->peak();
  live->move(slot.action, {slot.then, slot.then});
  if (live->peak() <= before)
    return true;
  live->move(slot.action, {slot.now, slot.now});
  return false;
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

/// Assigns buffers in a copy of the program in which kernels of groups are numbered.
static FailureOr<Line> lineOf(func::FuncOp program, ArrayRef<Group> groups, const TargetInfo &target) {
  OpBuilder builder(program);
  int64_t number = 0;
  for (const Group &group : groups)
    for (exec::KernelOp kernel : group)
      kernel->setAttr(kNumber, builder.getI64IntegerAttr(number++));
  auto copy = cast<func::FuncOp>(builder.clone(*program));
  for (const Group &group : groups)
    for (exec::KernelOp kernel : group)
      kernel->removeAttr(kNumber);
  FailureOr<Places> places = assignBuffers(copy, /*rowAlignment=*/0);
  FailureOr<Line> line = failure();
  if (succeeded(places))
    line.emplace(*places, groups, target);
  copy.erase();
  return line;
}

static LogicalResult gather(func::FuncOp program, const TargetInfo &target) {
  std::vector<Group> groups = findGroups(program.getBody().front());
  if (groups.empty())
    return success();
  FailureOr<Line> line = lineOf(program, groups, target);
  if (failed(line))
    return failure();
  size_t first = 0;
  for (const Group &group : groups) {
    // The kernel nearest to the last one moves first, because it extends live ranges least.
    Operation *end = exec::KernelOp(group.back());
    for (size_t index = group.size() - 1; index-- > 0;)
      if (line->move(first + index)) {
        exec::KernelOp kernel = group[index];
        kernel->moveBefore(end);
        end = kernel;
      }
    first += group.size();
  }
  return success();
}

namespace {
struct GatherKernels final : braid::impl::GatherKernelsPassBase<GatherKernels> {
  void runOnOperation() final {
    const TargetInfo *target = targetOf(getOperation());
    if (!target)
      return signalPassFailure();
    for (auto program : llvm::to_vector(getOperation().getOps<func::FuncOp>()))
      if (program.getBody().hasOneBlock() && failed(gather(program, *target)))
        return signalPassFailure();
  }
};
} // namespace
