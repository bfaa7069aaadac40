//===- OrderAttention.cpp - summation order of attention gradients --------===//

#include "dialects/Exec/Exec.h"
#include "lib/Cost/Machine.h"
#include "lib/Memory/LeadingDimPadding.h"
#include "lib/Memory/Lifetimes.h"
#include "lib/Memory/Persistent.h"
#include "lib/Memory/Placement.h"
#include "lib/Memory/Size.h"
#include "lib/Target/TargetInfo.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "passes/Select/LibrarySizes.h"
#define GEN_PASS_DEF_ORDERATTENTIONPASS
#include "passes/Select/Passes.h"
#include "llvm/Support/Format.h"

using namespace mlir;
using namespace braid;
using exec::SumOrder;

//===----------------------------------------------------------------------===//
// The arena without a plan
//===----------------------------------------------------------------------===//

namespace {
/// The programs of a module whose values have buffers, but no offsets.
class UnplacedPrograms {
public:
  /// Assigns buffers in a copy of the module; the module itself does not change.
  static FailureOr<UnplacedPrograms> read(ModuleOp module, int64_t rowAlignment, const TargetInfo &target);

  /// Returns the size of the planner's arena if library calls share `workspace` bytes of scratch memory.
  FailureOr<int64_t> arenaBytes(int64_t workspace) const;

private:
  UnplacedPrograms(ModuleOp module, const TargetInfo &target) : copy(module.clone()), target(&target) {}

  OwningOpRef<ModuleOp> copy;
  const TargetInfo *target;
  SmallVector<func::FuncOp> programs;
  PersistentTensors tensors;
  std::vector<Places> places;
};
} // namespace

FailureOr<UnplacedPrograms> UnplacedPrograms::read(ModuleOp module, int64_t rowAlignment, const TargetInfo &target) {
  UnplacedPrograms read(module, target);
  read.programs = llvm::to_vector(read.copy->getOps<func::FuncOp>());
  FailureOr<PersistentTensors> tensors = PersistentTensors::collect(read.programs, target.alignment, rowAlignment);
  if (failed(tensors))
    return failure();
  read.tensors = std::move(*tensors);
  for (func::FuncOp program : read.programs) {
    FailureOr<Places> places = assignBuffers(program, rowAlignment);
    if (failed(places))
      return failure();
    read.places.push_back(std::move(*places));
  }
  return read;
}

/// Returns the buffers of a program; the scratch memory of calls comes first.
static PlacementProblem problemOf(const Places &places, int64_t workspace, const TargetInfo &target) {
  PlacementProblem problem;
  problem.alignment = target.alignment;
  for (const LiveBuffer &buffer : liveBuffers(places, workspace, target))
    if (buffer.isAtBase)
      problem.buffers.push_back({workspace, buffer.users.front(), buffer.users.back(), /*fixed=*/0});
  for (const Storage &storage : places.storages) {
    bool isUnused = storage.kind == Storage::Kind::Transient && !storage.writer;
    if (storage.kind != Storage::Kind::Persistent && !storage.isOnHost && !isUnused)
      problem.buffers.push_back({storage.bytes, storage.first, storage.last, {}});
  }
  return problem;
}

FailureOr<int64_t> UnplacedPrograms::arenaBytes(int64_t workspace) const {
  int64_t bytes = 0;
  for (auto [program, programPlaces] : llvm::zip(programs, places)) {
    PlacementProblem problem = problemOf(programPlaces, workspace, *target);
    if (llvm::Error error = check(problem)) {
      func::FuncOp(program).emitError() << "placing buffers: " << llvm::toString(std::move(error));
      return failure();
    }
    bytes = std::max(bytes, tensors.bytesBelow(program, target->alignment) + solve(problem).bytes);
  }
  return bytes;
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

/// A fixed order may cost up to these shares of the arena and of the predicted time.
static constexpr double kMemoryShare = 0.1, kTimeShare = 0.02;

namespace {
struct OrderAttentionPass : public braid::impl::OrderAttentionPassBase<OrderAttentionPass> {
  using OrderAttentionPassBase::OrderAttentionPassBase;

  void runOnOperation() final {
    calls.clear();
    getOperation().walk([&](exec::AttentionGradOp call) {
      if (!call.getTiles())
        calls.push_back(call);
    });
    machine = machineOf(getOperation());
    if (failed(machine))
      return signalPassFailure();
    target = machine->target;
    FailureOr<std::optional<int64_t>> limit = memoryLimitOf(memoryLimit, getOperation().getLoc());
    FailureOr<int64_t> padded = rowAlignmentOf(rowAlignment, *target, getOperation().getLoc());
    if (failed(limit) || failed(padded) ||
        (!calls.empty() && failed(order == AttentionOrder::Auto ? choose(*limit, *padded) : applyRequestedOrder())))
      signalPassFailure();
  }

private:
  /// Sets the order of all calls.
  void set(SumOrder chosen) {
    for (exec::AttentionGradOp call : calls)
      call.setOrder(chosen);
  }

  LogicalResult applyRequestedOrder() {
    if (order == AttentionOrder::Serial && !target->workspace.attention.hasSerial)
      return calls.front().emitError() << "the attention library of target '" << targetText(getOperation())
                                       << "' has no serial order: choose "
                                       << (target->workspace.attention.fixedTakesScores
                                               ? "any or fixed"
                                               : "fixed, which takes no more memory here");
    set(order == AttentionOrder::Any     ? SumOrder::Any
        : order == AttentionOrder::Fixed ? SumOrder::Fixed
                                         : SumOrder::Serial);
    return success();
  }

  /// Returns the scratch bytes of all programs with the present order.
  int64_t workspace() {
    SmallVector<exec::ActionOpInterface> actions;
    getOperation().walk([&](exec::ActionOpInterface action) { actions.push_back(action); });
    return workspaceBytes(actions, *target);
  }

  std::optional<exec::LibraryNumber> firstTooLarge() {
    for (exec::AttentionGradOp call : calls)
      if (std::optional<exec::LibraryNumber> found = findTooLarge(call, *target))
        return found;
    return std::nullopt;
  }

  /// Returns the predicted seconds of the programs with these calls, without communication.
  double seconds() {
    llvm::SetVector<Operation *> programs;
    for (exec::AttentionGradOp call : calls)
      programs.insert(call->getParentOp());
    double seconds = 0;
    for (Operation *program : programs)
      program->walk([&](exec::ActionOpInterface action) {
        if (!isa<comm::QueuedOpInterface>(action.getOperation()))
          seconds += machine->compute.seconds(action);
      });
    return seconds;
  }

  LogicalResult choose(std::optional<int64_t> limit, int64_t padded) {
    set(SumOrder::Any);
    int64_t anyOrderBytes = workspace();
    double leastSeconds = seconds();
    bool anyFits = !firstTooLarge();
    set(SumOrder::Fixed);
    int64_t fixedOrderBytes = workspace();
    double extraSeconds = seconds() - leastSeconds;
    if (std::optional<exec::LibraryNumber> found = firstTooLarge(); found && anyFits)
      return fallBackToAnyOrder("the " + found->what + " would be " + std::to_string(found->value) +
                                ", above the largest number of the library");
    std::string costs;
    llvm::raw_string_ostream text(costs);
    bool exceedsShares = false, breaksLimit = false;
    if (fixedOrderBytes > anyOrderBytes) {
      FailureOr<UnplacedPrograms> programs = UnplacedPrograms::read(getOperation(), padded, *target);
      if (failed(programs))
        return failure();
      FailureOr<int64_t> arena = programs->arenaBytes(fixedOrderBytes), minArena = programs->arenaBytes(anyOrderBytes);
      if (failed(arena) || failed(minArena))
        return failure();
      text << formatSize(fixedOrderBytes) << " of scratch memory instead of " << formatSize(anyOrderBytes)
           << ", an arena of " << formatSize(*arena) << " instead of " << formatSize(*minArena) << ", and ";
      breaksLimit = limit && *arena > *limit;
      exceedsShares = *arena - *minArena > kMemoryShare * *arena;
    }
    text << llvm::format("%.3g ms more than the predicted %.3g ms", 1e3 * extraSeconds, 1e3 * leastSeconds);
    if (breaksLimit)
      return fallBackToAnyOrder("a fixed order would take " + costs + "; the memory limit is " + formatSize(*limit));
    if (exceedsShares || extraSeconds > kTimeShare * leastSeconds)
      return fallBackToAnyOrder("a fixed order would take " + costs);
    if (fixedOrderBytes > anyOrderBytes)
      calls.front().emitRemark()
          << "gradients of attention are summed in a fixed order, so their bits are the same in every run: it takes "
          << costs;
    return success();
  }

  LogicalResult fallBackToAnyOrder(const std::string &reason) {
    set(SumOrder::Any);
    InFlightDiagnostic remark = calls.front().emitRemark();
    remark << "gradients of attention are summed in any order, so their last bits differ from run to run: " << reason;
    if (target->workspace.attention.hasSerial)
      remark << "; a serial order costs time instead of memory, and needs cuDNN 9.25";
    return success();
  }

  SmallVector<exec::AttentionGradOp> calls;
  FailureOr<Machine> machine;
  const TargetInfo *target = nullptr;
};
} // namespace
