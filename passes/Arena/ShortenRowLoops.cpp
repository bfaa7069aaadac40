//===- ShortenRowLoops.cpp - shorten loops over lanes ---------------------===//

#include "dialects/Exec/KernelBody.h"
#include "dialects/Exec/LanePatterns.h"
#include "lib/Target/TargetInfo.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#define GEN_PASS_DEF_SHORTENROWLOOPSPASS
#include "passes/Arena/Passes.h"
#include "llvm/ADT/SmallPtrSet.h"

using namespace mlir;
using namespace braid;
using linalg::GenericOp;

/// Upper limit of lanes per row that the threads of a block keep in registers between two loops.
static constexpr int64_t kKeptLanes = 16384;

/// Whether the loop of the maximum should compute this sum. Exponentials with other readers are better kept in
/// registers if they fit.
static bool isOnline(GenericOp sum, int64_t lanes, int64_t laneCount) {
  std::optional<exec::ExponentialSum> found = laneCount > 1 ? exec::findExponentialSum(sum, lanes) : std::nullopt;
  bool isShared = found && found->exponential != sum && !found->exponential->hasOneUse();
  return found && (!isShared || laneCount > kKeptLanes);
}

//===----------------------------------------------------------------------===//
// Functions whose results are rounded
//===----------------------------------------------------------------------===//

static bool isRoundedIn(OpOperand &use);

/// Whether every use of `value` is rounded to bf16, or is a sum that is approximate anyway.
static bool isRounded(Value value) {
  return llvm::all_of(value.getUses(), [](OpOperand &use) { return isRoundedIn(use); });
}

static bool isRoundedIn(OpOperand &use) {
  Operation *user = use.getOwner();
  if (isa<linalg::YieldOp>(user))
    return isRounded(user->getParentOp()->getResult(0));
  if (auto generic = dyn_cast<GenericOp>(user))
    return generic->hasAttr(exec::kOnline) || isRounded(generic.getMatchingBlockArgument(&use));
  if (isa<arith::TruncFOp>(user))
    return user->getResult(0).getType().isBF16();
  bool isElementwise = user->getNumResults() == 1 && user->hasTrait<OpTrait::Elementwise>();
  return isElementwise && user->getResult(0).getType().isF32() && isRounded(user->getResult(0));
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

namespace {
struct ShortenRowLoopsPass : public braid::impl::ShortenRowLoopsPassBase<ShortenRowLoopsPass> {
  using ShortenRowLoopsPassBase::ShortenRowLoopsPassBase;

  void runOnOperation() final {
    const TargetInfo *target = targetOf(getOperation());
    if (!target)
      return signalPassFailure();
    for (auto kernel : getOperation().getOps<exec::KernelDefOp>())
      mark(kernel, /*isGpu=*/target->gpu);
  }

private:
  void mark(exec::KernelDefOp kernel, bool isGpu) {
    int64_t lanes = static_cast<int64_t>(kernel.getSpace().size()) - 1, laneCount = kernel.getSpace().back();
    auto unit = UnitAttr::get(&getContext());
    for (auto generic : kernel.getBody().front().getOps<GenericOp>())
      if (online && isGpu && isOnline(generic, lanes, laneCount))
        generic->setAttr(exec::kOnline, unit);
      else if (picked && laneCount > 1 && exec::findPickedLane(generic, lanes))
        generic->setAttr(exec::kPicked, unit);
    if (approximate)
      kernel.walk([&](arith::ArithFastMathInterface op) {
        if (isa<math::ExpOp, math::TanhOp>(op) && op->getResult(0).getType().isF32() && isRounded(op->getResult(0)))
          op->setAttr(op.getFastMathAttrName(),
                      arith::FastMathFlagsAttr::get(&getContext(),
                                                    op.getFastMathFlagsAttr().getValue() | arith::FastMathFlags::afn));
      });
  }
};
} // namespace
