//===- Decompose.cpp - composites to primitives ---------------------------===//

#include "dialects/TG/Facts.h"
#include "dialects/TG/ValueNames.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#define GEN_PASS_DEF_DECOMPOSEPASS
#include "passes/Primitives/Passes.h"

using namespace mlir;
using namespace braid;

namespace {
struct Decompose : braid::impl::DecomposePassBase<Decompose> {
  using DecomposePassBase::DecomposePassBase;

  void runOnOperation() final {
    if (failed(checkNames()))
      return signalPassFailure();
    // A decomposition may contain composites, so this repeats until none is left.
    for (SmallVector<DecomposableOpInterface> composites; collect(composites); composites.clear())
      for (DecomposableOpInterface composite : composites)
        replace(composite);
  }

private:
  LogicalResult checkNames() {
    for (const std::string &name : only) {
      auto known = RegisteredOperationName::lookup(name, &getContext());
      if (!known || !known->hasInterface<DecomposableOpInterface>())
        return getOperation().emitError() << "only=" << name << ": no composite op has this name";
    }
    return success();
  }

  bool collect(SmallVectorImpl<DecomposableOpInterface> &composites) {
    getOperation().walk([&](DecomposableOpInterface op) {
      if (only.empty() || llvm::is_contained(only, op->getName().getStringRef()))
        composites.push_back(op);
    });
    return !composites.empty();
  }

  static void replace(DecomposableOpInterface composite) {
    OpBuilder builder(composite);
    SmallVector<Value> values = composite.decompose(builder);
    // The definition names several results; a single result keeps the name of the composite.
    if (Operation *last = composite->getPrevNode();
        values.size() == 1 && last && values[0].getDefiningOp() == last && tg::valueNameOf(last->getLoc()).empty())
      last->setLoc(tg::withValueName(last->getLoc(), tg::valueNameOf(composite->getLoc())));
    tg::replaceAndTransferFacts(composite, values);
  }
};
} // namespace
