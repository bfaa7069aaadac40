//===- PrintCosts.cpp - print the FLOPs and bytes of each op --------------===//

#include "dialects/Interfaces/Interfaces.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#define GEN_PASS_DEF_PRINTCOSTSPASS
#include "passes/Primitives/Passes.h"

using namespace mlir;
using namespace braid;

namespace {
struct Cost {
  int64_t flops = 0, read = 0, written = 0;

  void operator+=(const Cost &other) {
    flops += other.flops;
    read += other.read;
    written += other.written;
  }
  void say(InFlightDiagnostic &&remark) const {
    remark << flops << " FLOP, " << read << " bytes read, " << written << " bytes written";
  }
};

struct PrintCosts final : braid::impl::PrintCostsPassBase<PrintCosts> {
  void runOnOperation() final {
    Cost total;
    getOperation().walk([&](CostOpInterface op) {
      Cost cost{op.getFlops(), op.getBytesRead(), op.getBytesWritten()};
      cost.say(op->emitRemark() << op->getName() << ": ");
      total += cost;
    });
    total.say(getOperation().emitRemark() << getOperation().getName() << ": ");
  }
};
} // namespace
