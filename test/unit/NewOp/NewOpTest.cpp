//===- NewOpTest.cpp - an op that no pass and no printer has heard of -----===//
//
// This file defines the op's dialect. The op has only what a new op needs: a definition and a gradient. Everything else
// follows: a fused kernel for each target, and all these kernels have equal bodies.
//
//===----------------------------------------------------------------------===//

#include "braid/InitAll.h"
#include "compiler/Codegen/Codegen.h"
#include "dialects/TG/TGBuilder.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"
#include <gtest/gtest.h>
#include <regex>

using namespace mlir;

namespace {

/// y = x / (1 + |x|), elementwise.
class SoftsignOp : public Op<SoftsignOp, OpTrait::OneOperand, OpTrait::OneResult, OpTrait::ZeroRegions,
                             OpTrait::ZeroSuccessors, braid::DecomposableOpInterface::Trait,
                             braid::DifferentiableOpInterface::Trait, MemoryEffectOpInterface::Trait> {
public:
  using Op::Op;
  static StringRef getOperationName() { return "probe.softsign"; }
  static ArrayRef<StringRef> getAttributeNames() { return {}; }
  void getEffects(SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>> &) {}

  SmallVector<Value> decompose(OpBuilder &builder) {
    braid::tg::TensorBuilder t(builder, getLoc());
    Value x = getOperation()->getOperand(0);
    return {t.div(x, t.add(t.constantLike(x, 1.0), t.make<math::AbsFOp>(x)))};
  }

  /// dx = dy / (1 + |x|)^2
  SmallVector<Value> buildVJP(OpBuilder &builder, ArrayRef<Value> resultGradients, ArrayRef<bool>) {
    braid::tg::TensorBuilder t(builder, getLoc());
    Value x = getOperation()->getOperand(0), d = t.add(t.constantLike(x, 1.0), t.make<math::AbsFOp>(x));
    return {t.div(resultGradients[0], t.mul(d, d))};
  }
};

class ProbeDialect : public Dialect {
public:
  explicit ProbeDialect(MLIRContext *context) : Dialect("probe", context, TypeID::get<ProbeDialect>()) {
    addOperations<SoftsignOp>();
  }
  static StringRef getDialectNamespace() { return "probe"; }
};

constexpr StringLiteral graph = R"(
func.func @model(%x: tensor<8x64xf32> {tg.input = "x", tg.role = #tg.role<features>},
                 %w: tensor<64x64xf32> {tg.param = #tg.param<"w", #tg.init<normal, 0.0, 0.5>>})
    -> (tensor<f32> {tg.role = #tg.role<loss>}) {
  %h = tg.contract "bi,oi->bo" %x, %w : (tensor<8x64xf32>, tensor<64x64xf32>) -> tensor<8x64xf32>
  %y = "probe.softsign"(%h) : (tensor<8x64xf32>) -> tensor<8x64xf32>
  %z = arith.mulf %y, %x : tensor<8x64xf32>
  %loss = tg.reduce mean %z dims [0, 1] : tensor<8x64xf32> -> tensor<f32>
  return %loss : tensor<f32>
})";

/// The passes that the driver runs for a target.
std::string pipeline(const std::string &target) {
  return "exec-set-target{name=" + target +
         "},func.func(tg-transpose-weights),tg-make-programs,canonicalize,cse,tg-differentiate{function=train},"
         "func.func(tg-apply-optimizer{optimizer=sgd}),tg-remove-hooks,canonicalize,cse,func.func("
         "exec-select-epilogues,tg-decompose,tg-verify-primitives),func.func(exec-select-calls,exec-form-kernels,"
         "exec-fuse-kernels),exec-verify-values,exec-plan-memory,exec-outline-kernels,exec-batch-launches,"
         "exec-verify-plan,exec-verify-memory";
}

/// Returns the text of the kernels for a target.
std::string kernelsFor(const std::string &target) {
  static bool registered = (braid::registerAllPasses(), true);
  (void)registered;
  DialectRegistry registry;
  braid::registerAllDialects(registry);
  registry.insert<ProbeDialect>();
  MLIRContext context(registry);
  OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(graph, &context);
  PassManager manager(&context, ModuleOp::getOperationName());
  if (!module || failed(parsePassPipeline(pipeline(target), manager)) || failed(manager.run(*module)))
    return "";
  auto sources = braid::generateSources(*module, /*planJson=*/"{}");
  return failed(sources) ? "" : sources->front().text;
}

/// Returns the calculations of kernels without the parts that depend on the target: widths, counts of remaining lanes,
/// and types of indices.
std::vector<std::string> calculations(std::string text) {
  text = std::regex_replace(text, std::regex("<W>|<T>|, n\\b"), "");
  const std::regex calculation("(V|float) t\\d+ = .*;");
  std::vector<std::string> lines;
  for (std::sregex_iterator it(text.begin(), text.end(), calculation), end; it != end; ++it)
    lines.push_back(it->str());
  return lines;
}

TEST(NewOp, hasAKernelOnEveryTarget) {
  std::string cpu = kernelsFor("cpu"), cuda = kernelsFor("cuda");
  ASSERT_NE(cpu, "");
  ASSERT_NE(cuda, "");
  EXPECT_EQ(cpu.find("__global__"), std::string::npos);
  EXPECT_NE(cuda.find("__global__"), std::string::npos);
  // |x| in the definition and in the gradient.
  for (const std::string &text : {cpu, cuda})
    EXPECT_EQ(StringRef(text).count("abs("), 3u) << text; // @train's twice, and @eval's
}

TEST(NewOp, computesTheSameOnEveryTarget) {
  std::vector<std::string> cpu = calculations(kernelsFor("cpu")), cuda = calculations(kernelsFor("cuda"));
  EXPECT_GE(cpu.size(), 6u);
  EXPECT_EQ(cpu, cuda);
}

} // namespace
