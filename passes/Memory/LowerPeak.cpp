//===- LowerPeak.cpp - reorder actions to lower the peak ------------------===//
//
// Combines the buffers of a copy (lib/Memory), the program as a problem, its solution (lib/Schedule), and the
// application of the order. A new order may change which values share memory, so its bytes are counted again. The old
// order is restored if they are no fewer.
//
//===----------------------------------------------------------------------===//

#include "lib/Schedule/LowerPeak.h"
#include "dialects/Comm/Comm.h"
#include "dialects/Comm/HeldStarts.h"
#include "lib/Actions/ActionGraph.h"
#include "lib/Actions/ReorderActions.h"
#include "lib/Memory/AssignedCopy.h"
#include "lib/Memory/Size.h"
#define GEN_PASS_DEF_LOWERPEAKPASS
#include "passes/Memory/Passes.h"

using namespace mlir;
using namespace braid;

/// Actions behind a held start stay behind it, because they hide the collective.
static PeakProblem readProblem(const AssignedCopy &copy) {
  ActionGraph graph(copy.program.get().getBody().front());
  graph.addMemoryOrder(copy.places);
  PeakProblem problem;
  problem.buffers = copy.buffers;
  std::optional<unsigned> held;
  for (auto [number, action] : llvm::enumerate(copy.places.actions)) {
    auto &dependences = problem.dependences.emplace_back(graph.predecessors(number));
    if (action->hasAttr(comm::kHeldStart))
      held = number;
    else if (held && !exec::ActionOpInterface(action).isOrdered())
      dependences.push_back(*std::exchange(held, std::nullopt));
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
  reorderActions(block, actions);
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
