//===- LaunchCheck.cpp - checks launches against a GPU's limits -----------===//

#include "compiler/Codegen/LaunchCheck.h"
#include <algorithm>

using namespace mlir;
using namespace braid;
using namespace braid::codegen;

LogicalResult codegen::verifyLaunch(Operation *op, StringRef kernel, const LaunchNeeds &needs, const GpuInfo &gpu) {
  auto verify = [&](int64_t needed, int64_t limit, StringRef what, StringRef remedy) -> LogicalResult {
    if (needed <= limit)
      return success();
    return op->emitError() << "kernel '" << kernel << "' is launched with " << needed << " " << what << ", but "
                           << gpu.arch << " allows at most " << limit << ": " << remedy;
  };
  // Only the sizes of tensors can make a grid too large; the compiler chooses the rest.
  constexpr StringLiteral report = "this is an error in Braid, please report it";
  return success(succeeded(verify(needs.blocks, kMaxGridBlocks, "blocks", "build the graph with a smaller batch")) &&
                 succeeded(verify(needs.threads, kMaxBlockThreads, "threads a block", report)) &&
                 succeeded(verify(needs.sharedBytes, std::min(kMaxStaticBytes, gpu.blockSharedBytes),
                                  "bytes of shared memory a block", report)));
}
