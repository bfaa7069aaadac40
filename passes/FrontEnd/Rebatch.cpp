//===- Rebatch.cpp - change the batch size of a graph ---------------------===//

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "passes/FrontEnd/BatchDims.h"
#define GEN_PASS_DEF_REBATCHPASS
#include "passes/FrontEnd/Passes.h"

using namespace mlir;
using namespace braid;

namespace {
struct Rebatch final : braid::impl::RebatchPassBase<Rebatch> {
  using RebatchPassBase::RebatchPassBase;

  void runOnOperation() final {
    func::FuncOp function = getOperation();
    if (function.isExternal())
      return;
    if (batch > 0 && factor > 1) {
      function.emitError() << "tg-rebatch takes either a batch or a factor, found batch=" << batch.value
                           << " and factor=" << factor.value;
      return signalPassFailure();
    }
    FailureOr<BatchDims> dims = BatchDims::find(function);
    if (failed(dims))
      return signalPassFailure();
    if (dims->size() % factor) {
      function.emitError() << "the batch of " << dims->size() << " does not divide into " << factor.value
                           << " microbatches of equal size";
      return signalPassFailure();
    }
    if (failed(dims->resize(function, batch > 0 ? batch.value : dims->size() / factor)))
      signalPassFailure();
  }
};
} // namespace
