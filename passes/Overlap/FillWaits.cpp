//===- FillWaits.cpp - fill waits with computation ------------------------===//
//
// Combines a program as an overlap problem with the order that its memory requires (lib/Memory), a new order
// (lib/Schedule), and the memory that the program holds in the new order.
//
//===----------------------------------------------------------------------===//

#include "lib/Schedule/FillWaits.h"
#include "lib/Actions/ReorderActions.h"
#include "lib/Memory/AssignedCopy.h"
#include "lib/Memory/Size.h"
#include "passes/Overlap/OverlapReader.h"
#define GEN_PASS_DEF_FILLWAITSPASS
#include "passes/Overlap/Passes.h"

using namespace mlir;
using namespace braid;

/// Factor by which the peak of a program may grow without a memory limit.
static constexpr double kMaxPeakGrowth = 1.01;

namespace {
struct FillWaits final : braid::impl::FillWaitsPassBase<FillWaits> {
  using FillWaitsPassBase::FillWaitsPassBase;

  void runOnOperation() final {
    if (failed(readOptions()))
      return signalPassFailure();
    for (auto function : llvm::to_vector(getOperation().getOps<func::FuncOp>())) {
      bool isOfRank = function.getBody().hasOneBlock() && function->hasAttr(comm::CommDialect::kProgram);
      if (isOfRank && !function.getBody().front().getOps<comm::CollectiveOpInterface>().empty() &&
          function.getBody().front().getOps<comm::StartOp>().empty() && failed(fill(function)))
        return signalPassFailure();
    }
  }

private:
  LogicalResult readOptions();
  FailureOr<OverlapProgram> read(func::FuncOp function);
  LogicalResult fill(func::FuncOp function);

  FailureOr<Machine> machine;
  double growth = kMaxPeakGrowth;
};
} // namespace

LogicalResult FillWaits::readOptions() {
  ModuleOp module = getOperation();
  machine = machineOf(module);
  if (failed(machine))
    return failure();
  FailureOr<std::optional<int64_t>> limit = memoryLimitOf(memoryLimit, module.getLoc());
  if (failed(limit))
    return failure();
  // The limit applies to all programs together, which are not known yet.
  growth = *limit ? 1 : kMaxPeakGrowth;
  return success();
}

/// Reads a program. The order that memory requires comes from a copy with assigned buffers.
FailureOr<OverlapProgram> FillWaits::read(func::FuncOp function) {
  if (failed(requireActions(function)))
    return failure();
  FailureOr<AssignedCopy> copy = copyAndAssign(function, *machine->target);
  if (failed(copy))
    return failure();
  ActionGraph graph(function.getBody().front());
  graph.addMemoryOrder(copy->places, copy->originals);
  FailureOr<OverlapProgram> program = readOverlapProgram(function, graph, *machine);
  if (failed(program))
    return failure();
  if (llvm::Error error = check(program->problem))
    return function.emitError() << "comm-fill-waits: " << llvm::toString(std::move(error));
  return program;
}

LogicalResult FillWaits::fill(func::FuncOp function) {
  FailureOr<OverlapProgram> program = read(function);
  if (failed(program))
    return failure();
  Block &block = function.getBody().front();
  std::optional<int64_t> before;
  for (Filling filling : {Filling::DelayAndHoist, Filling::Delay}) {
    std::vector<unsigned> order = fillWaits(program->problem, filling);
    if (llvm::is_sorted(order))
      return success();
    auto actionsIn = [&](ArrayRef<unsigned> numbers) {
      return llvm::map_to_vector(numbers, [&](unsigned number) -> Operation * { return program->actions[number]; });
    };
    SmallVector<Operation *> own = llvm::map_to_vector(block, [](Operation &op) { return &op; });
    FailureOr<int64_t> old = before ? FailureOr<int64_t>(*before) : transientPeak(function, *machine->target);
    reorderActions(block, actionsIn(order));
    FailureOr<int64_t> peak = transientPeak(function, *machine->target);
    if (failed(old) || failed(peak))
      return failure();
    if (*peak <= *old * growth) {
      unsigned moved =
          llvm::count_if(llvm::enumerate(order), [](auto entry) { return entry.index() != entry.value(); });
      emitRemark(function.getLoc()) << "@" << function.getSymName() << ": " << moved << " of " << order.size()
                                    << " actions moved to shorten waits for collectives";
      return success();
    }
    before = *old;
    for (Operation *op : own)
      op->moveBefore(&block, block.end());
  }
  return success();
}
