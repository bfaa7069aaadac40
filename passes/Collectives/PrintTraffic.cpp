//===- PrintTraffic.cpp - print what each collective sends ----------------===//

#include "dialects/Comm/Mesh.h"
#define GEN_PASS_DEF_PRINTTRAFFICPASS
#include "passes/Collectives/Passes.h"
#include "llvm/ADT/MapVector.h"

using namespace mlir;
using namespace braid;
using namespace braid::comm;

namespace {
struct Traffic {
  int64_t collectives = 0, bytes = 0;

  void operator+=(int64_t sent) {
    ++collectives;
    bytes += sent;
  }
  void say(Diagnostic &remark) const {
    remark << collectives << (collectives == 1 ? " collective, " : " collectives, ") << bytes << " bytes sent";
  }
};

/// Prints ` over {dp, tp}: `.
Diagnostic &operator<<(Diagnostic &remark, AxesAttr axes) {
  remark << " over {";
  llvm::interleaveComma(axes.getNames(), remark, [&](StringAttr name) { remark << name.getValue(); });
  return remark << "}: ";
}

struct PrintTraffic final : braid::impl::PrintTrafficPassBase<PrintTraffic> {
  void runOnOperation() final {
    Traffic total;
    llvm::MapVector<AxesAttr, Traffic> byAxes;
    WalkResult walked = getOperation().walk([&](CollectiveOpInterface op) {
      FailureOr<Mesh> mesh = Mesh::require(op, op.getMeshAttr());
      if (failed(mesh))
        return WalkResult::interrupt();
      int64_t ranks = mesh->sizeOf(op.getAxes()), bytes = op.getBytesSent(ranks);
      InFlightDiagnostic remark = op->emitRemark();
      *remark.getUnderlyingDiagnostic() << op->getName() << op.getAxes() << ranks
                                        << (ranks == 1 ? " rank, " : " ranks, ") << bytes << " bytes sent";
      total += bytes;
      byAxes[op.getAxes()] += bytes;
      return WalkResult::advance();
    });
    if (walked.wasInterrupted())
      return signalPassFailure();
    InFlightDiagnostic remark = getOperation().emitRemark() << getOperation().getName() << ": ";
    total.say(*remark.getUnderlyingDiagnostic());
    for (auto &[axes, traffic] : byAxes)
      traffic.say(*remark.getUnderlyingDiagnostic() << ";" << axes);
    markAllAnalysesPreserved();
  }
};
} // namespace
