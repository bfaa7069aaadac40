//===- ShareMultiprocessors.cpp - leave room to collectives in GEMMs ------===//
//
// Uses the clocks of lib/Schedule/Timeline.h: one for computation, which stalls at waits, and one for each queue,
// which works in the order of starts.
//
//===----------------------------------------------------------------------===//

#include "lib/Cost/Machine.h"
#define GEN_PASS_DEF_SHAREMULTIPROCESSORSPASS
#include "passes/Overlap/Passes.h"
#include <array>

using namespace mlir;
using namespace braid;

namespace {
/// The clocks at a position in a program.
class Clocks {
public:
  explicit Clocks(const Machine &machine) : machine(machine) {}

  /// Advances the clocks by the action. Returns the share of its time in which the link is busy.
  FailureOr<double> advance(exec::ActionOpInterface action);

private:
  FailureOr<double> secondsOf(comm::QueuedOpInterface work) const;

  const Machine &machine;
  double now = 0;
  /// When each queue becomes idle.
  std::array<double, comm::kNumQueues> ends = {};
  /// For each start, when its work ends.
  llvm::DenseMap<Operation *, double> endOf;
};
} // namespace

FailureOr<double> Clocks::secondsOf(comm::QueuedOpInterface work) const {
  if (auto copy = dyn_cast<comm::CopyOp>(work.getOperation()))
    return machine.host.seconds(copy);
  auto collective = cast<comm::CollectiveOpInterface>(work.getOperation());
  FailureOr<comm::Mesh> mesh = comm::Mesh::require(collective, collective.getMeshAttr());
  if (failed(mesh))
    return failure();
  return machine.seconds(collective, *mesh);
}

FailureOr<double> Clocks::advance(exec::ActionOpInterface action) {
  auto start = dyn_cast<comm::StartOp>(action.getOperation());
  if (auto work = start ? start.getWork() : dyn_cast<comm::QueuedOpInterface>(action.getOperation())) {
    FailureOr<double> seconds = secondsOf(work);
    if (failed(seconds))
      return failure();
    double &end = ends[unsigned(work.getQueue())];
    end = std::max(end, now) + *seconds;
    endOf[action] = end;
    now = start ? now : end;
    return 0;
  }
  if (Operation *begin = action.getActionBegin(); begin != action) {
    now = std::max(now, endOf.lookup(begin));
    return 0;
  }
  double seconds = machine.compute.seconds(action), linkEnd = ends[unsigned(comm::Queue::Ranks)];
  double overlapSeconds = std::clamp(linkEnd - now, 0.0, seconds);
  now += seconds;
  return overlapSeconds / seconds;
}

namespace {
struct ShareMultiprocessors final : braid::impl::ShareMultiprocessorsPassBase<ShareMultiprocessors> {
  using ShareMultiprocessorsPassBase::ShareMultiprocessorsPassBase;

  void runOnOperation() final {
    ModuleOp module = getOperation();
    FailureOr<Machine> machine = machineOf(module);
    if (failed(machine))
      return signalPassFailure();
    const GpuInfo *gpu = machine->target->gpu;
    if (!gpu || ctas == 0 || module.getOps<comm::MeshOp>().empty())
      return;
    module->setAttr(comm::CommDialect::kCtas,
                    Builder(module).getI64IntegerAttr(ctas < 0 ? gpu->commCtas : int64_t(ctas)));
    for (auto program : module.getOps<exec::ProgramOp>())
      if (failed(mark(program, *machine)))
        return signalPassFailure();
  }

private:
  /// Marks the matmuls that overlap a collective for at least half of their time; they leave room to it.
  LogicalResult mark(exec::ProgramOp program, const Machine &machine) {
    Clocks clocks(machine);
    for (auto action : program.getBody().getOps<exec::ActionOpInterface>()) {
      FailureOr<double> overlapShare = clocks.advance(action);
      if (failed(overlapShare))
        return failure();
      if (*overlapShare >= 0.5 && isa<exec::MatmulOp>(action.getOperation()))
        action->setAttr(comm::CommDialect::kBesideCollective, UnitAttr::get(&getContext()));
    }
    return success();
  }
};
} // namespace
