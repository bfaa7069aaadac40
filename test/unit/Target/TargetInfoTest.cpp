//===- TargetInfoTest.cpp - the table of targets --------------------------===//

#include "lib/Target/TargetInfo.h"
#include "mlir/Parser/Parser.h"
#include <gtest/gtest.h>

using namespace mlir;
using namespace braid;

namespace {

const GpuInfo *gpuOf(llvm::StringRef arch) {
  const TargetInfo *target = lookupTarget("cuda", arch);
  return target ? target->gpu : nullptr;
}

TEST(TargetInfo, findsRowsByArchitecture) {
  for (llvm::StringRef arch : {"sm_80", "sm_86", "sm_89", "sm_90", "sm_100", "sm_120"}) {
    ASSERT_TRUE(gpuOf(arch)) << arch.str();
    EXPECT_EQ(gpuOf(arch)->arch, arch);
  }
  EXPECT_EQ(gpuOf("sm_90a"), gpuOf("sm_90"));
  EXPECT_EQ(gpuOf(""), gpuOf("sm_90"));
  EXPECT_EQ(lookupTarget("cpu")->gpu, nullptr);
}

TEST(TargetInfo, takesAnArchitectureBetweenRowsForTheOlder) {
  EXPECT_EQ(gpuOf("sm_87"), gpuOf("sm_86"));
  EXPECT_EQ(gpuOf("sm_103a"), gpuOf("sm_100"));
  EXPECT_EQ(gpuOf("sm_121"), gpuOf("sm_120"));
}

TEST(TargetInfo, knowsNoOthers) {
  for (llvm::StringRef arch : {"sm_75", "90", "sm_", "sm_90b", "compute_90"})
    EXPECT_FALSE(lookupTarget("cuda", arch)) << arch.str();
  EXPECT_FALSE(lookupTarget("cpu", "sm_90"));
  EXPECT_FALSE(lookupTarget("tpu"));
  EXPECT_EQ(targetNames(), "cpu, cuda");
}

/// The exact rates that an H100 is assumed to reach, because schedules depend on them.
TEST(TargetInfo, hasTheRatesOfAnH100) {
  const TargetRates &rates = lookupTarget("cuda", "sm_90")->rates;
  EXPECT_EQ(rates.matrixFlops, 50e12);
  EXPECT_EQ(rates.halfMatrixFlops, 600e12);
  EXPECT_EQ(rates.vectorFlops, 40e12);
  EXPECT_EQ(rates.bytesPerSecond, 2.8e12);
  EXPECT_EQ(rates.linkBytesPerSecond, 350e9);
}

/// These ranges exclude numbers of a data sheet that are wrong by a power of ten or of 1024.
TEST(TargetInfo, hasPlausibleRows) {
  for (llvm::StringRef arch : {"sm_80", "sm_86", "sm_89", "sm_90", "sm_100", "sm_120"}) {
    const GpuInfo &gpu = *gpuOf(arch);
    EXPECT_EQ(gpu.sharedBytes - gpu.blockSharedBytes, 1024) << arch.str(); // what the system takes
    EXPECT_EQ(gpu.registers, 65536) << arch.str();
    EXPECT_TRUE(gpu.threads == 1536 || gpu.threads == 2048) << arch.str();
    EXPECT_NEAR(gpu.bf16Flops / gpu.tf32Flops, 2, 0.1) << arch.str();
    EXPECT_GT(gpu.bytesPerSecond, gpu.linkBytesPerSecond) << arch.str();
    EXPECT_LT(gpu.bytesPerSecond, 10e12) << arch.str();
    EXPECT_GE(gpu.memoryBytes, 24'000'000'000) << arch.str();
    EXPECT_LE(gpu.memoryBytes, 180'000'000'000) << arch.str();
  }
}

TEST(TargetInfo, isWhatTheModuleSays) {
  MLIRContext context;
  context.loadDialect<exec::ExecDialect>();
  auto parse = [&](llvm::StringRef text) { return parseSourceString<ModuleOp>(text, &context); };
  OwningOpRef<ModuleOp> silent = parse("module {}");
  EXPECT_EQ(targetOf(*silent), lookupTarget("cpu"));
  EXPECT_EQ(targetText(*silent), "cpu");
  OwningOpRef<ModuleOp> gpu = parse("module attributes {exec.target = #exec.target<\"cuda\", arch = \"sm_80\">} {}");
  EXPECT_EQ(targetOf(*gpu), lookupTarget("cuda", "sm_80"));
  EXPECT_EQ(targetText(*gpu), "cuda:sm_80");
  (*silent)->setAttr(exec::ExecDialect::kTarget, targetAttr(&context, "cuda"));
  EXPECT_EQ(targetText(*silent), "cuda:sm_90");
}

} // namespace
