//===- VerifyLibrarySizes.cpp - size limits of libraries ------------------===//

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "passes/Base/Signature.h"
#include "passes/Select/LibrarySizes.h"
#define GEN_PASS_DEF_VERIFYLIBRARYSIZESPASS
#include "passes/Select/Passes.h"

using namespace mlir;
using namespace braid;

std::optional<exec::LibraryNumber> braid::findTooLarge(exec::ActionOpInterface call, const TargetInfo &target) {
  for (exec::LibraryNumber &number : call.getLibraryNumbers(target.workspace))
    if (number.value > kLargestLibraryNumber)
      return std::move(number);
  return std::nullopt;
}

/// Returns the rows of a program's batch, or nothing if it has no batch inputs.
static std::optional<int64_t> batchOf(func::FuncOp program) {
  for (BlockArgument input : batchInputs(program))
    if (auto type = dyn_cast<RankedTensorType>(input.getType()); type && type.getRank() > 0)
      return type.getDimSize(0);
  return std::nullopt;
}

namespace {
struct VerifyLibrarySizesPass : public braid::impl::VerifyLibrarySizesPassBase<VerifyLibrarySizesPass> {
  /// Reports the call with the largest size beyond its library's limit.
  void runOnOperation() final {
    const TargetInfo *target = targetOf(getOperation());
    if (!target)
      return signalPassFailure();
    exec::ActionOpInterface worst;
    exec::LibraryNumber largest{"", 0};
    getOperation().walk([&](exec::ActionOpInterface call) {
      std::optional<exec::LibraryNumber> found = findTooLarge(call, *target);
      if (found && found->value > largest.value) {
        worst = call;
        largest = *found;
      }
    });
    if (!worst)
      return;
    signalPassFailure();
    InFlightDiagnostic diagnostic = worst.emitError();
    diagnostic << "the " << largest.what << " are " << largest.value << ", but the largest number of the library is "
               << kLargestLibraryNumber;
    std::optional<int64_t> batch = batchOf(getOperation());
    if (!batch || largest.value % *batch)
      return;
    if (int64_t fits = kLargestLibraryNumber / (largest.value / *batch))
      diagnostic << ": a batch of " << fits << " instead of " << *batch << " rows per rank and microbatch fits";
    else
      diagnostic << " even for one row of the batch: make the sequence shorter";
  }
};
} // namespace
