//===- FreezeUnitsTest.cpp - the pass of docs/WritingAPass.md -------------===//
//
// Tests of a pass show its effect, the ops that it leaves alone, its refusals, and that later passes handle its result
// correctly.
//
//===----------------------------------------------------------------------===//

#include "braid/InitAll.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassRegistry.h"
#include "test/unit/Tutorial/Passes.h"
#include <gtest/gtest.h>

using namespace mlir;

namespace {

constexpr StringLiteral graph = R"(
func.func @model(%x: tensor<2x3xf32> {tg.input = "x", tg.role = #tg.role<features>},
                 %w: tensor<3x3xf32> {tg.param = #tg.param<"w", #tg.init<ones>, unit = "body">},
                 %v: tensor<1x3xf32> {tg.param = #tg.param<"v", #tg.init<ones>, unit = "head">})
    -> (tensor<f32> {tg.role = #tg.role<loss>}) {
  %h = tg.contract "bi,oi->bo" %x, %w : (tensor<2x3xf32>, tensor<3x3xf32>) -> tensor<2x3xf32>
  %y = tg.contract "bi,oi->bo" %h, %v : (tensor<2x3xf32>, tensor<1x3xf32>) -> tensor<2x1xf32>
  %loss = tg.reduce mean %y dims [0, 1] : tensor<2x1xf32> -> tensor<f32>
  return %loss : tensor<f32>
})";

/// Returns the graph after a pipeline as text, or the error.
std::string after(StringRef pipeline) {
  static bool registered = (braid::registerAllPasses(), braid::registerFreezeUnitsPass(), true);
  (void)registered;
  DialectRegistry registry;
  braid::registerAllDialects(registry);
  MLIRContext context(registry);
  std::string text;
  ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) { text += diagnostic.str(); });
  OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(graph, &context);
  PassManager manager(&context, ModuleOp::getOperationName());
  bool parses = module && (pipeline.empty() || succeeded(parsePassPipeline(pipeline, manager)));
  if (!parses || failed(manager.run(*module)))
    return text;
  llvm::raw_string_ostream(text) << *module;
  return text;
}

/// Returns whether the function returns the gradient of a parameter.
bool hasGradient(StringRef text, StringRef parameter) {
  return text.contains(("tg.grad_of = \"" + parameter + "\"").str());
}

TEST(FreezeUnits, freezesTheNamedUnitAlone) {
  std::string text = after("func.func(tg-freeze-units{units=body})");
  EXPECT_NE(text.find("unit = \"body\", frozen"), std::string::npos) << text;
  EXPECT_EQ(text.find("unit = \"head\", frozen"), std::string::npos) << text;
}

TEST(FreezeUnits, changesNothingWithoutUnits) { EXPECT_EQ(after("func.func(tg-freeze-units)"), after("")); }

TEST(FreezeUnits, leavesNoGradientToCompute) {
  std::string all = after("tg-differentiate"), some = after("func.func(tg-freeze-units{units=body}),tg-differentiate");
  EXPECT_TRUE(hasGradient(all, "w") && hasGradient(all, "v")) << all;
  EXPECT_TRUE(!hasGradient(some, "w") && hasGradient(some, "v")) << some;
  EXPECT_LT(StringRef(some).count("tg.contract"), StringRef(all).count("tg.contract"));
}

TEST(FreezeUnits, refusesAUnitThatIsNotThere) {
  EXPECT_EQ(after("func.func(tg-freeze-units{units=tail})"),
            "'func.func' op has no parameter of unit 'tail' (units: body, head)");
}

} // namespace
