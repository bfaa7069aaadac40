//===- FuseKernels.cpp - merge kernels ------------------------------------===//
//
// In program order, merges each kernel with the kernels that produce its operands and with earlier
// kernels that read the same tensors. A merge requires
//
//   one space     a common refinement in which every shared tensor has the same
//                 dims: values are read at the row and lane of their definition
//   no cycle      no op between the two that depends on one and feeds the other
//   no sum over rows between them: it is complete only when its kernel is
//
//===----------------------------------------------------------------------===//

#include "dialects/Comm/Comm.h"
#include "dialects/Comm/HeldStarts.h"
#include "dialects/Exec/Views.h"
#include "dialects/TG/Facts.h"
#include "lib/Actions/ActionOrder.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "passes/Base/Signature.h"
#include "passes/Kernels/KernelNames.h"
#include "passes/Kernels/KernelSpace.h"
#define GEN_PASS_DEF_FUSEKERNELSPASS
#include "passes/Kernels/Passes.h"

using namespace mlir;
using namespace braid;

//===----------------------------------------------------------------------===//
// Merging two kernels of one space
//===----------------------------------------------------------------------===//

/// Whether two operands are the same tensor at the same coordinates.
static bool isSameRead(Value a, Value b) {
  if (a == b)
    return true;
  auto left = a.getDefiningOp<exec::ViewOp>(), right = b.getDefiningOp<exec::ViewOp>();
  return left && right && a.getType() == b.getType() && left.getSource() == right.getSource() &&
         left.getOffset() == right.getOffset() && left.getStrides() == right.getStrides();
}

/// Returns the number of the result of `kernel` that `operand` is, whole and in order.
static std::optional<unsigned> resultRead(Value operand, exec::KernelOp kernel) {
  if (auto view = operand.getDefiningOp<exec::ViewOp>(); view && exec::isReshape(view))
    operand = view.getSource();
  auto result = dyn_cast<OpResult>(operand);
  if (!result || result.getOwner() != kernel)
    return std::nullopt;
  return result.getResultNumber();
}

namespace {
/// A kernel that is being built from two.
struct Merger {
  exec::KernelOp first, second;
  Region region;
  SmallVector<Value> operands;
  SmallVector<Value> yielded, replaced;

  void addFirstKernel();
  void addSecondKernel();
  exec::KernelOp finish();
};
} // namespace

void Merger::addFirstKernel() {
  region.takeBody(first.getBody());
  operands.assign(first.getIns().begin(), first.getIns().end());
  Operation *yield = region.front().getTerminator();
  for (auto [result, value] : llvm::zip(first.getResults(), yield->getOperands()))
    if (isReadElsewhere(result, second)) {
      yielded.push_back(value);
      replaced.push_back(result);
    }
}

void Merger::addSecondKernel() {
  Block &body = region.front(), &other = *second.getBlock();
  Operation *yield = body.getTerminator();
  for (auto [value, argument] : llvm::zip(second.getIns(), other.getArguments())) {
    if (auto result = resultRead(value, first)) {
      argument.replaceAllUsesWith(yield->getOperand(*result));
      continue;
    }
    auto *known = llvm::find_if(operands, [value = value](Value operand) { return isSameRead(operand, value); });
    unsigned index = known - operands.begin();
    if (known == operands.end()) {
      operands.push_back(value);
      body.addArgument(argument.getType(), argument.getLoc());
    }
    argument.replaceAllUsesWith(body.getArgument(index));
  }
  Operation *otherYield = other.getTerminator();
  for (auto [result, value] : llvm::zip(second.getResults(), otherYield->getOperands())) {
    yielded.push_back(value);
    replaced.push_back(result);
  }
  yield->erase();
  body.getOperations().splice(body.end(), other.getOperations(), other.begin(), Block::iterator(otherYield));
}

exec::KernelOp Merger::finish() {
  OpBuilder builder(second);
  Location loc = first.getLoc();
  auto merged = builder.create<exec::KernelOp>(loc, ValueRange(yielded).getTypes(),
                                               fusedName(first.getName(), second.getName(), first.getContext()),
                                               operands, ValueRange(), first.getSpace());
  merged.getBody().takeBody(region);
  builder.setInsertionPointToEnd(merged.getBlock());
  builder.create<exec::YieldOp>(loc, yielded);
  for (auto [before, after] : llvm::zip(replaced, merged.getResults()))
    before.replaceAllUsesWith(after);
  return merged;
}

/// Moves the bodies of two kernels of one space into a new kernel. Results of the first that the second reads become
/// values inside, and remain results only if another op reads them. The new kernel has the first's location; the
/// caller sets it after the last merge. The old kernels are then read only by each other and by views without readers.
static exec::KernelOp mergeKernels(exec::KernelOp first, exec::KernelOp second) {
  Merger merger{first, second, {}, {}, {}, {}};
  merger.addFirstKernel();
  merger.addSecondKernel();
  return merger.finish();
}

//===----------------------------------------------------------------------===//
// Choice of kernels
//===----------------------------------------------------------------------===//

/// Upper limit of pointers of a kernel; more would spill registers.
static constexpr size_t kMaxPointers = 40;
/// Kernels with more library calls and collectives between them than this stay separate, because a merge would extend
/// the live ranges of their operands and results. Between forward and a later phase no call is allowed: forward would
/// save values that backward recomputes, in more bytes than their operands.
static constexpr int64_t kMaxCallsBetween = 4;
/// Upper limit of other readers of a tensor to try.
static constexpr size_t kMaxSiblings = 16;

namespace {
class Fusion {
public:
  explicit Fusion(Block &block);

  void run();

private:
  bool fuseWithProducer(exec::KernelOp kernel);
  bool fuseWithSibling(exec::KernelOp kernel);
  bool fuseWithScalar(exec::KernelOp kernel);
  bool tryFuse(exec::KernelOp first, exec::KernelOp second);
  bool waitsForScalar(exec::KernelOp first, exec::KernelOp second, const CommonSpace &common);
  bool readsInPlace(exec::KernelOp first, exec::KernelOp second, const CommonSpace &common, bool &reads);
  bool sharesRead(exec::KernelOp first, exec::KernelOp second, const CommonSpace &common);
  exec::KernelOp move(exec::KernelOp kernel, ArrayRef<int64_t> space, const DimSplits &splits);

  /// How many other actions precede the first and the last part of a kernel in the original program.
  struct Span {
    int64_t first, last;
    int64_t length() const { return last - first; }
  };
  static Span join(Span a, Span b) { return {std::min(a.first, b.first), std::max(a.last, b.last)}; }

  /// The parts of a merged kernel: their spans in all other actions and in library calls alone, their locations and
  /// their phases.
  struct Origin {
    /// Steps belong to rings: each begins with a collective that does not start early.
    Span actions, calls, steps;
    llvm::SmallSetVector<Location, 2> locations;
    /// Whether there are parts of forward, and of later phases.
    bool hasForward = false, hasLater = false;
  };

  Block &block;
  ActionOrder order;
  llvm::DenseMap<Operation *, Origin> origins;
  exec::KernelOp merged;
  /// The last visited kernel that computes scalars in one row.
  exec::KernelOp scalars;
};
} // namespace

Fusion::Fusion(Block &block) : block(block), order(block) {
  int64_t actions = 0, calls = 0, steps = 0;
  for (Operation &op : block) {
    if (isa<exec::KernelOp>(op)) {
      std::optional<tg::Phase> phase = tg::phaseOf(&op);
      Origin &origin =
          origins[&op] = {{actions, actions},        {calls, calls}, {steps, steps}, {}, phase == tg::Phase::Forward,
                          phase > tg::Phase::Forward};
      origin.locations.insert(op.getLoc());
    } else if (isa<exec::ActionOpInterface>(op)) {
      ++actions;
      calls += !isa<comm::CollectiveOpInterface>(op);
      steps += op.hasAttr(comm::kHeldStart);
    }
  }
}

/// Whether `second` reads results of `first` only whole, in order, and at the coordinates of their definition.
bool Fusion::readsInPlace(exec::KernelOp first, exec::KernelOp second, const CommonSpace &common, bool &reads) {
  for (auto [index, operand] : llvm::enumerate(second.getIns())) {
    if (order.producerOf(operand) != first)
      continue;
    std::optional<unsigned> result = resultRead(operand, first);
    if (!result)
      return false;
    auto made = resultDimsOf(first, *result), read = operandDimsOf(second, index);
    if (!made || !read || splitDims(*made, common.first) != splitDims(*read, common.second))
      return false;
    reads = true;
  }
  return true;
}

/// Whether `second` needs a sum over all lanes that `first` computes in a single row. Elementwise ops run on all
/// threads in a separate kernel, which then does not depend on its length either.
bool Fusion::waitsForScalar(exec::KernelOp first, exec::KernelOp second, const CommonSpace &common) {
  if (common.space.size() > 1 || common.space.back() == 1)
    return false;
  bool readsScalar = llvm::any_of(second.getIns(), [&](Value operand) {
    return order.producerOf(operand) == first && cast<RankedTensorType>(operand.getType()).getRank() == 0;
  });
  return readsScalar && second.getSpace() != ArrayRef<int64_t>{1};
}

static bool isScalar(Type type) { return cast<RankedTensorType>(type).getRank() == 0; }

/// Whether a kernel computes scalars from scalars alone; it costs little more than its launch.
static bool isScalar(exec::KernelOp kernel) {
  return llvm::all_of(kernel->getOperandTypes(), [](Type type) { return isScalar(type); }) &&
         llvm::all_of(kernel->getResultTypes(), [](Type type) { return isScalar(type); });
}

/// Whether a kernel has a single row and computes only scalars.
static bool computesOnlyScalars(exec::KernelOp kernel) {
  return kernel.getSpace().size() == 1 && !kernel.getActionIns().empty() &&
         llvm::all_of(kernel->getResultTypes(), [](Type type) { return isScalar(type); });
}

/// Whether both kernels read some tensor of the whole space at the same coordinates.
bool Fusion::sharesRead(exec::KernelOp first, exec::KernelOp second, const CommonSpace &common) {
  for (auto [i, a] : llvm::enumerate(first.getIns()))
    for (auto [j, b] : llvm::enumerate(second.getIns())) {
      auto source = [](Value value) -> std::pair<Value, bool> {
        auto view = value.getDefiningOp<exec::ViewOp>();
        return view && exec::isReshape(view) ? std::pair(Value(view.getSource()), true) : std::pair(value, false);
      };
      if (source(a).first != source(b).first && !isSameRead(a, b))
        continue;
      auto left = operandDimsOf(first, i), right = operandDimsOf(second, j);
      if (!left || !right)
        continue;
      SmallVector<int64_t> dims = splitDims(*left, common.first);
      if (dims.size() == common.space.size() && dims == splitDims(*right, common.second))
        return true;
    }
  return false;
}

exec::KernelOp Fusion::move(exec::KernelOp kernel, ArrayRef<int64_t> space, const DimSplits &splits) {
  exec::KernelOp moved = moveToSpace(kernel, space, splits);
  if (moved != kernel) {
    order.replace(kernel, moved);
    Origin origin = std::move(origins[kernel]);
    origins.erase(kernel);
    origins[moved] = std::move(origin);
    if (scalars == kernel)
      scalars = moved;
    kernel.erase();
  }
  return moved;
}

/// Erases an op and the views that read it, which have no other readers.
static void eraseWithViews(Operation *op) {
  for (Operation *user : llvm::make_early_inc_range(op->getUsers()))
    eraseWithViews(user);
  op->erase();
}

bool Fusion::tryFuse(exec::KernelOp first, exec::KernelOp second) {
  if (first->getNumOperands() + second->getNumOperands() + first->getNumResults() + second->getNumResults() >
      kMaxPointers)
    return false;
  Span actions = join(origins[first].actions, origins[second].actions);
  Span calls = join(origins[first].calls, origins[second].calls);
  bool hasForward = origins[first].hasForward || origins[second].hasForward;
  bool hasLater = origins[first].hasLater || origins[second].hasLater;
  // Merging steps of a ring would keep their results in memory until the last step.
  Span steps = join(origins[first].steps, origins[second].steps);
  if (actions.length() > kMaxCallsBetween || steps.length() > 0 || (hasForward && hasLater && calls.length() > 0))
    return false;
  std::optional<CommonSpace> common = commonSpace(first, second);
  if (!common)
    return false;
  int64_t blocksFirst = blockDimsOf(first), blocksSecond = blockDimsOf(second);
  auto splitBlocks = [](int64_t blocks, const DimSplits &splits) {
    return splitDims(llvm::to_vector(llvm::seq<int64_t>(0, blocks)), splits).size();
  };
  if (blocksFirst >= 0 && blocksSecond >= 0 &&
      splitBlocks(blocksFirst, common->first) != splitBlocks(blocksSecond, common->second))
    return false;
  bool reads = false;
  if (waitsForScalar(first, second, *common) || !readsInPlace(first, second, *common, reads) ||
      (!reads && !sharesRead(first, second, *common) && !(computesOnlyScalars(first) && isScalar(second))))
    return false;
  if ((common->space != first.getSpace() && !isSplittable(first)) ||
      (common->space != second.getSpace() && !isSplittable(second)))
    return false;
  FailureOr<ActionOrder::Between> between = order.between(first, second);
  if (failed(between))
    return false;
  first = move(first, common->space, common->first);
  second = move(second, common->space, common->second);
  merged = mergeKernels(first, second);
  order.merge(first, second, merged, *between);
  Origin origin = std::move(origins[first]);
  origin.actions = actions, origin.calls = calls;
  origin.locations.insert(origins[second].locations.begin(), origins[second].locations.end());
  origin.hasForward = hasForward, origin.hasLater = hasLater;
  origins.erase(first);
  origins.erase(second);
  origins[merged] = std::move(origin);
  if (scalars == first || scalars == second)
    scalars = {};
  second.erase();
  eraseWithViews(first);
  return true;
}

bool Fusion::fuseWithProducer(exec::KernelOp kernel) {
  llvm::SmallSetVector<Operation *, 8> producers;
  for (Value operand : kernel.getIns())
    if (auto producer = dyn_cast_or_null<exec::KernelOp>(order.producerOf(operand)))
      producers.insert(producer);
  return llvm::any_of(producers, [&](Operation *producer) { return tryFuse(cast<exec::KernelOp>(producer), kernel); });
}

bool Fusion::fuseWithSibling(exec::KernelOp kernel) {
  llvm::SmallSetVector<Operation *, 8> siblings;
  for (Value operand : kernel.getIns()) {
    // Scalars are too small to save reads.
    if (cast<RankedTensorType>(operand.getType()).getRank() == 0)
      continue;
    auto view = operand.getDefiningOp<exec::ViewOp>();
    order.addReaders(view ? view.getSource() : operand, siblings);
  }
  size_t tried = 0;
  for (Operation *sibling : siblings) {
    auto other = dyn_cast<exec::KernelOp>(sibling);
    if (!other || other == kernel || !order.precedes(other, kernel))
      continue;
    if (++tried > kMaxSiblings)
      return false;
    if (tryFuse(other, kernel))
      return true;
  }
  return false;
}

/// Merges kernels of independent scalars into one launch.
bool Fusion::fuseWithScalar(exec::KernelOp kernel) {
  return scalars && scalars != kernel && isScalar(kernel) && order.precedes(scalars, kernel) &&
         tryFuse(scalars, kernel);
}

/// Returns the location of a merged kernel. Each result has the facts of its part.
static Location locationOf(exec::KernelOp kernel, ArrayRef<Location> parts) {
  auto ofEach = llvm::map_to_vector(kernel.getBlock()->getTerminator()->getOperands(), [](Value result) {
    Operation *part = result.getDefiningOp();
    return part ? tg::factsOf(part) : tg::FactsAttr();
  });
  return tg::withFacts(FusedLoc::get(kernel.getContext(), parts), ofEach);
}

void Fusion::run() {
  SmallVector<exec::KernelOp> kernels(block.getOps<exec::KernelOp>());
  // Kernels are merged only into the visited kernel, so kernels further on still exist.
  for (exec::KernelOp kernel : kernels) {
    merged = kernel;
    while (fuseWithProducer(merged) || fuseWithSibling(merged) || fuseWithScalar(merged))
      ;
    if (computesOnlyScalars(merged))
      scalars = merged;
  }
  for (auto &[kernel, origin] : origins)
    kernel->setLoc(locationOf(cast<exec::KernelOp>(kernel), origin.locations.getArrayRef()));
  order.apply();
  for (auto view : llvm::make_early_inc_range(block.getOps<exec::ViewOp>()))
    if (view.getType() == view.getSource().getType() && exec::isReshape(view))
      view.replaceAllUsesWith(view.getSource());
  eraseDeadOps(block);
}

namespace {
struct FuseKernelsPass : public braid::impl::FuseKernelsPassBase<FuseKernelsPass> {
  using FuseKernelsPassBase::FuseKernelsPassBase;

  void runOnOperation() final {
    if (!getOperation().isExternal())
      Fusion(getOperation().getBody().front()).run();
  }
};
} // namespace
