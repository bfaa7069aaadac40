//===- LaunchCheckTest.cpp - launches that no GPU can start ---------------===//

#include "compiler/Codegen/LaunchCheck.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/MLIRContext.h"
#include <gtest/gtest.h>

using namespace mlir;
using namespace braid;
using namespace braid::codegen;

namespace {

/// Returns the error message for such a launch; empty if there is none.
std::string verify(const LaunchNeeds &needs, StringRef arch) {
  MLIRContext context;
  OwningOpRef<ModuleOp> module = ModuleOp::create(UnknownLoc::get(&context));
  std::string said;
  ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) { said += diagnostic.str(); });
  bool isRight = succeeded(verifyLaunch(*module, "norm", needs, *lookupTarget("cuda", arch)->gpu));
  EXPECT_EQ(isRight, said.empty());
  return said;
}

constexpr int64_t maxBlocks = 2147483647;

TEST(LaunchCheck, takesWhatEveryGpuHas) {
  for (StringRef arch : {"sm_80", "sm_86", "sm_89", "sm_90", "sm_100", "sm_120"})
    EXPECT_EQ(verify({maxBlocks, 1024, 49152}, arch), "") << arch.str();
}

TEST(LaunchCheck, refusesLargeGrids) {
  EXPECT_EQ(verify({maxBlocks + 1, 256, 0}, "sm_90"),
            "kernel 'norm' is launched with 2147483648 blocks, but sm_90 allows at most 2147483647: build the graph "
            "with a smaller batch");
}

TEST(LaunchCheck, refusesLargeBlocks) {
  EXPECT_EQ(verify({1, 1056, 0}, "sm_80"), "kernel 'norm' is launched with 1056 threads a block, but sm_80 allows at "
                                           "most 1024: this is an error in Braid, please report it");
  EXPECT_EQ(verify({1, 256, 49153}, "sm_100"),
            "kernel 'norm' is launched with 49153 bytes of shared memory a block, but sm_100 allows at most 49152: "
            "this is an error in Braid, please report it");
}

} // namespace
