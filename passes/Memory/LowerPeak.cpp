//===- LowerPeak.cpp - actions in an order that holds less ----------------===//
//
// The parts: buffers of a copy (lib/Memory), the program as a problem, its solution
// (lib/Schedule), the order applied.  Another order may let other values share memory, so what it
// holds is counted again, and the old order comes back if that is no less.
//
//===----------------------------------------------------------------------===//

#include "lib/Schedule/LowerPeak.h"
#include "dialects/Comm/Comm.h"
#include "dialects/Comm/HeldStarts.h"
#include "lib/Memory/AssignedCopy.h"
#include "lib/Memory/MemoryOrder.h"
#include "lib/Memory/PutInOrder.h"
#include "lib/Memory/Reads.h"
#include "lib/Memory/Size.h"
#include "passes/Memory/Passes.h"

namespace braid {
#define GEN_PASS_DEF_LOWERPEAKPASS
#include "passes/Memory/Passes.h.inc"
} // namespace braid

using namespace mlir;
using namespace braid;
using exec::ActionOpInterface;

/// What other ranks see keeps its order.
static bool isInOrder(ActionOpInterface action) {
  return action.isOrdered() || isa<comm::CollectiveOpInterface>(action.getOperation());
}

/// An action comes behind those that make what it reads, and behind those that read what it
/// overwrites.  What follows a collective that does not start early stays behind it, because it hides it.
static PeakProblem readProblem(const AssignedCopy &copy) {
  PeakProblem problem;
  problem.buffers = copy.buffers;
  problem.needs = memoryOrder(copy.places);
  DenseMap<Operation *, unsigned> numbers;
  std::optional<unsigned> previous, held;
  for (auto [index, action] : llvm::enumerate(copy.places.actions)) {
    unsigned number = numbers[action] = index;
    SmallVector<unsigned, 4> &needs = problem.needs[number];
    for (Value used : usesOf(action))
      forEachProducer(used, [&](Operation *producer) { needs.push_back(numbers.at(producer)); });
    if (isInOrder(action)) {
      if (previous)
        needs.push_back(*previous);
      previous = number;
      if (action->hasAttr(comm::kHeldStart))
        held = number;
    } else if (held) {
      needs.push_back(*std::exchange(held, std::nullopt));
    }
    llvm::sort(needs);
    needs.erase(std::unique(needs.begin(), needs.end()), needs.end());
  }
  return problem;
}

static LogicalResult lower(func::FuncOp program, const TargetInfo &target) {
  FailureOr<AssignedCopy> copy = copyAndAssign(program, target);
  if (failed(copy))
    return failure();
  std::vector<unsigned> order = lowerPeak(readProblem(*copy));
  if (llvm::is_sorted(order))
    return success();
  SmallVector<Operation *> actions, old;
  for (unsigned action : order)
    if (Operation *original = copy->originals[action])
      actions.push_back(original);
  Block &block = program.getBody().front();
  for (Operation &op : block)
    old.push_back(&op);
  FailureOr<int64_t> before = transientPeak(program, target);
  putInOrder(block, actions);
  FailureOr<int64_t> after = transientPeak(program, target);
  if (failed(before) || failed(after))
    return failure();
  if (*after < *before) {
    emitRemark(program.getLoc()) << "@" << program.getSymName() << ": another order of the same actions holds "
                                 << formatSize(*after) << " at its peak instead of " << formatSize(*before);
    return success();
  }
  for (Operation *op : old)
    op->moveBefore(&block, block.end());
  return success();
}

namespace {
struct LowerPeak final : braid::impl::LowerPeakPassBase<LowerPeak> {
  void runOnOperation() final {
    const TargetInfo *target = targetOf(getOperation());
    if (!target)
      return signalPassFailure();
    for (auto program : llvm::to_vector(getOperation().getOps<func::FuncOp>()))
      if (program.getBody().hasOneBlock() && failed(lower(program, *target)))
        return signalPassFailure();
  }
};
} // namespace
