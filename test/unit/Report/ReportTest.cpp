//===- ReportTest.cpp - plan.json and the table ---------------------------===//

#include "compiler/Report/Report.h"
#include "dialects/TG/TG.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Parser/Parser.h"
#include "gtest/gtest.h"
#include <nlohmann/json.hpp>

using namespace braid;

namespace {

constexpr llvm::StringLiteral kModule = R"mlir(
exec.tensor @w at 0 bytes 64 category parameters : tensor<4x4xf32> = #tg.param<"w", #tg.init<zeros>>
exec.program @train arena 384 {
  exec.buffer @x at 64 bytes 64 live -1 to 1 category inputs name "features" "input" role "features" : tensor<4x4xf32>
  exec.buffer @a at 128 bytes 64 live 0 to 1 category activations name "h.0"
  exec.buffer @b at 192 bytes 64 live 1 to 2 category gradients name "h.1"
  exec.buffer @y at 256 bytes 64 live 2 to 3 category activations name "y" "result" role "y" : tensor<4x4xf32>
  exec.buffer @c at 320 bytes 64 live 1 to 1 category workspace name "workspace" scratch
  %w = exec.ref @w + 0 : <4x4xf32, [4, 1]>
  %x = exec.ref @x + 0 : <4x4xf32, [4, 1]>
  %a = exec.ref @a + 0 : <4x4xf32, [4, 1]>
  %b = exec.ref @b + 0 : <4x4xf32, [4, 1]>
  %y = exec.ref @y + 0 : <4x4xf32, [4, 1]>
  exec.matmul "ij,jk->ik"(%x, %w) outs(%a : !exec.ref<4x4xf32, [4, 1]>) : !exec.ref<4x4xf32, [4, 1]>, !exec.ref<4x4xf32, [4, 1]>
  exec.matmul "ij,jk->ik"(%x, %a) outs(%b : !exec.ref<4x4xf32, [4, 1]>) : !exec.ref<4x4xf32, [4, 1]>, !exec.ref<4x4xf32, [4, 1]>
  exec.matmul "ij,jk->ik"(%b, %b) outs(%y : !exec.ref<4x4xf32, [4, 1]>) : !exec.ref<4x4xf32, [4, 1]>, !exec.ref<4x4xf32, [4, 1]>
}
exec.program @eval arena 128 {
  exec.buffer @x at 64 bytes 64 live -1 to -1 category inputs name "features" "input" role "features" : tensor<4x4xf32>
}
)mlir";

struct ReportTest : testing::Test {
  ReportTest() {
    context.loadDialect<exec::ExecDialect, tg::TGDialect>();
    module = mlir::parseSourceString<mlir::ModuleOp>(kModule, &context);
  }
  mlir::MLIRContext context;
  mlir::OwningOpRef<mlir::ModuleOp> module;
};

TEST_F(ReportTest, PeakIsTheArenaAndTheHighestEnd) {
  ASSERT_TRUE(module);
  MemoryPlan plan = readPlan(*module, 64);
  EXPECT_EQ(plan.arenaBytes, 384);
  EXPECT_EQ(plan.largest().name, "train");
  int64_t end = 0;
  for (const PlanTensor &tensor : plan.largest().tensors)
    end = std::max(end, tensor.offset + tensor.bytes);
  EXPECT_EQ(end, plan.arenaBytes);
}

TEST_F(ReportTest, BoundIsWhereMostIsLive) {
  MemoryPlan plan = readPlan(*module, 64);
  // At action 1: w, x, a, b and the workspace.
  EXPECT_EQ(plan.programs[0].lowerBoundBytes, 320);
  EXPECT_EQ(plan.programs[0].peakAction, 1);
  EXPECT_EQ(plan.programs[0].peakOp, "matmul");
  EXPECT_EQ(plan.programs[0].liveAtPeak().size(), 5u);
  EXPECT_EQ(plan.programs[1].peakOp, "start");
}

TEST_F(ReportTest, JsonHasItsKeysInOrder) {
  std::string text = planJson(readReport(*module, 64, 1), {{"memory", 0.25}});
  auto json = nlohmann::ordered_json::parse(text);
  std::vector<std::string> keys, categories;
  for (auto &[key, value] : json.items())
    keys.push_back(key);
  EXPECT_EQ(keys, std::vector<std::string>({"arena_bytes", "predicted_step_s", "peak_bytes", "lower_bound_bytes",
                                            "peak_action", "peak_op", "by_category", "at_peak", "waiting_gradients",
                                            "tensors", "persistent", "collectives", "compile_seconds", "programs"}));
  for (auto &[key, value] : json["by_category"].items())
    categories.push_back(key);
  EXPECT_EQ(categories, std::vector<std::string>({"parameters", "gradients", "optimizer_state", "activations",
                                                  "buckets", "gathered", "workspace", "inputs", "caches"}));
  EXPECT_EQ(json["peak_bytes"], json["arena_bytes"]);
  EXPECT_EQ(json["by_category"]["activations"], 64);
  EXPECT_EQ(json["by_category"]["gathered"], 0);
  EXPECT_EQ(json["tensors"][0]["name"], "w");
  EXPECT_EQ(json["tensors"][0]["last"], 3);
  EXPECT_EQ(json["compile_seconds"]["memory"], 0.25);
  EXPECT_EQ(json["programs"]["eval"]["peak_bytes"], 128);
  EXPECT_EQ(text, planJson(readReport(*module, 64, 1), {{"memory", 0.25}}));
}

TEST_F(ReportTest, TableSaysPeakCauseAndTensor) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  printPlan(stream, readPlan(*module, 64));
  for (const char *part : {"peak 384 B (384 bytes), which is the arena", "program train: 384 B (384 bytes), 3 actions",
                           "lower bound 320 B (320 bytes), ratio 1.2000", "peak at action 1, matmul", "h.1"})
    EXPECT_NE(text.find(part), std::string::npos) << part << " is not in\n" << text;
}

} // namespace
