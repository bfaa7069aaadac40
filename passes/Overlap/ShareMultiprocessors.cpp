//===- ShareMultiprocessors.cpp - GEMMs that leave room to a collective ---===//
//
// The clocks are those of lib/Schedule/Timeline.h: computing, which stalls at waits, and the
// queues, which work in the order of starts.
//
//===----------------------------------------------------------------------===//

#include "dialects/Comm/Mesh.h"
#include "lib/Cost/Cost.h"
#include "passes/Overlap/Passes.h"
#include <array>

namespace braid {
#define GEN_PASS_DEF_SHAREMULTIPROCESSORSPASS
#include "passes/Overlap/Passes.h.inc"
} // namespace braid

using namespace mlir;
using namespace braid;

namespace {
/// What a program has come to.
class Clocks {
public:
  Clocks(const ComputeRates &compute, const LinkRates &link, const HostRates &host)
      : compute(compute), link(link), host(host) {}

  /// Carries the action out.  Returns the share of its time in which the link works.
  FailureOr<double> advance(exec::ActionOpInterface action);

private:
  FailureOr<double> secondsOf(comm::QueuedOpInterface work) const;

  const ComputeRates &compute;
  const LinkRates &link;
  const HostRates &host;
  double now = 0;
  /// When each queue has nothing left to do.
  std::array<double, comm::kNumQueues> ends = {};
  /// Of starts: when what they start is over.
  llvm::DenseMap<Operation *, double> endOf;
};
} // namespace

FailureOr<double> Clocks::secondsOf(comm::QueuedOpInterface work) const {
  if (auto copy = dyn_cast<comm::CopyOp>(work.getOperation()))
    return host.seconds(copy);
  auto collective = cast<comm::CollectiveOpInterface>(work.getOperation());
  FailureOr<comm::Mesh> mesh = comm::Mesh::require(collective, collective.getMeshAttr());
  if (failed(mesh))
    return failure();
  return link.seconds(collective, mesh->sizeOf(collective.getAxes()));
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
  double seconds = compute.seconds(action), linkEnd = ends[unsigned(comm::Queue::Ranks)];
  double beside = std::clamp(linkEnd - now, 0.0, seconds);
  now += seconds;
  return beside / seconds;
}

namespace {
struct ShareMultiprocessors final : braid::impl::ShareMultiprocessorsPassBase<ShareMultiprocessors> {
  using ShareMultiprocessorsPassBase::ShareMultiprocessorsPassBase;

  void runOnOperation() final {
    ModuleOp module = getOperation();
    const TargetInfo *target = targetOf(module);
    if (!target || failed(readRates(*target)))
      return signalPassFailure();
    if (!target->gpu || ctas == 0 || module.getOps<comm::MeshOp>().empty())
      return;
    module->setAttr(comm::CommDialect::kCtas,
                    Builder(module).getI64IntegerAttr(ctas < 0 ? target->gpu->commCtas : int64_t(ctas)));
    for (auto program : module.getOps<exec::ProgramOp>())
      if (failed(mark(program)))
        return signalPassFailure();
  }

private:
  LogicalResult readRates(const TargetInfo &target) {
    llvm::Expected<ComputeRates> computeGiven = ComputeRates::parse(compute, target);
    if (!computeGiven)
      return getOperation().emitError() << llvm::toString(computeGiven.takeError());
    llvm::Expected<LinkRates> linkGiven = LinkRates::parse(link, target);
    if (!linkGiven)
      return getOperation().emitError() << llvm::toString(linkGiven.takeError());
    computeRates = *computeGiven;
    linkRates = *linkGiven;
    hostRates = HostRates::of(target);
    return success();
  }

  /// One that is beside a collective for half of its time, or longer, leaves room to it.
  LogicalResult mark(exec::ProgramOp program) {
    Clocks clocks(*computeRates, *linkRates, *hostRates);
    for (auto action : program.getBody().getOps<exec::ActionOpInterface>()) {
      FailureOr<double> beside = clocks.advance(action);
      if (failed(beside))
        return failure();
      if (*beside >= 0.5 && isa<exec::MatmulOp>(action.getOperation()))
        action->setAttr(comm::CommDialect::kBesideCollective, UnitAttr::get(&getContext()));
    }
    return success();
  }

  std::optional<ComputeRates> computeRates;
  std::optional<LinkRates> linkRates;
  std::optional<HostRates> hostRates;
};
} // namespace
