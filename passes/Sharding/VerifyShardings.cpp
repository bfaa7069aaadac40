//===- VerifyShardings.cpp - check that ops and shardings fit rules -------===//

#include "lib/Sharding/VerifyShardings.h"
#include "lib/Sharding/GlobalFunction.h"
#define GEN_PASS_DEF_VERIFYSHARDINGSPASS
#include "passes/Sharding/Passes.h"

using namespace mlir;
using namespace braid;
using namespace braid::comm;

namespace {
struct VerifyShardings : braid::impl::VerifyShardingsPassBase<VerifyShardings> {
  void runOnOperation() final {
    func::FuncOp function = getOperation();
    markAllAnalysesPreserved();
    FailureOr<std::optional<GlobalMesh>> global = meshOfGlobal(function);
    if (succeeded(global) && (!*global || !isSharded(function)))
      return;
    if (failed(global) || failed(verifyShardings(function, (*global)->symbol, (*global)->mesh)))
      signalPassFailure();
  }

private:
  static bool isSharded(func::FuncOp function) {
    return llvm::any_of(function.getBody().front(),
                        [](Operation &op) { return op.hasAttr(CommDialect::kShardings) || isa<ReshardOp>(op); });
  }
};
} // namespace
