#include "dialects/TG/ProgramSignature.h"
#include "dialects/TG/TG.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Parser/Parser.h"
#include <gtest/gtest.h>

using namespace mlir;
using namespace braid::tg;

namespace {
/// Results come in another order than the arguments that they update, and not all of them update one.
constexpr char text[] = R"(
func.func @train(%x: tensor<2xf32> {tg.input = "x", tg.role = #tg.role<features>},
                 %w: tensor<2xf32> {tg.param = #tg.param<"w", #tg.init<zeros>>},
                 %m: tensor<2xf32> {tg.state = #tg.state<"w.m", #tg.init<zeros>, of = "w", kind = moment>},
                 %v: tensor<2xf32> {tg.param = #tg.param<"v", #tg.init<zeros>>})
    -> (tensor<2xf32> {tg.role = #tg.role<loss>}, tensor<2xf32> {tg.updates = "w.m"}, tensor<2xf32> {tg.updates = "w"},
        tensor<2xf32> {tg.grad_of = "v"}, tensor<2xf32> {tg.grad_of = "x"}, tensor<2xf32> {tg.updates = "gone"},
        tensor<2xf32> {tg.output = "norm"}) {
  return %x, %m, %w, %v, %x, %x, %x : tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>,
                                      tensor<2xf32>, tensor<2xf32>
})";

class ProgramSignatureTest : public testing::Test {
protected:
  ProgramSignatureTest() {
    context.loadDialect<TGDialect, func::FuncDialect>();
    module = parseSourceString<ModuleOp>(text, &context);
    program = *module->getOps<func::FuncOp>().begin();
  }
  MLIRContext context;
  OwningOpRef<ModuleOp> module;
  func::FuncOp program;
};

TEST_F(ProgramSignatureTest, RelatesResultsToTheArgumentsThatTheyUpdate) {
  ProgramSignature signature(program);
  EXPECT_EQ(signature.updatedArgument(1), program.getArgument(2));
  EXPECT_EQ(signature.updatedArgument(2), program.getArgument(1));
  for (unsigned other : {0, 3, 4, 5, 6})
    EXPECT_FALSE(signature.updatedArgument(other)) << other;
  ASSERT_TRUE(signature.updateOf(program.getArgument(1)));
  EXPECT_EQ(signature.updateOf(program.getArgument(1))->getOperandNumber(), 2u);
  EXPECT_EQ(updatedTensorName(*signature.updateOf(program.getArgument(2))).getValue(), "w.m");
  EXPECT_FALSE(signature.updateOf(program.getArgument(0)));
  EXPECT_FALSE(signature.updateOf(program.getArgument(3)));
  EXPECT_TRUE(signature.updatesParameters());
  program.removeResultAttr(2, StringAttr::get(&context, kUpdates));
  EXPECT_FALSE(ProgramSignature(program).updatesParameters()); // but a state
}

TEST_F(ProgramSignatureTest, RelatesGradientsToParametersAlone) {
  ProgramSignature signature(program);
  EXPECT_EQ(signature.parameterOfGradient(3), program.getArgument(3));
  for (unsigned other : {0, 1, 2, 4, 5, 6})
    EXPECT_FALSE(signature.parameterOfGradient(other)) << other;
}

TEST_F(ProgramSignatureTest, TellsParametersStatesAndInputsApart) {
  EXPECT_EQ(ArgumentAttrs(program.getArgument(0)).input.getValue(), "x");
  EXPECT_FALSE(ArgumentAttrs(program.getArgument(0)).persistent());
  EXPECT_EQ(ArgumentAttrs(program, 1).persistentName().getValue(), "w");
  EXPECT_EQ(ArgumentAttrs(program, 2).persistentName().getValue(), "w.m");
  EXPECT_TRUE(parameterOf(program.getArgument(1)));
  EXPECT_FALSE(parameterOf(program.getArgument(2)));
  EXPECT_EQ(stateOf(program.getArgument(2)).getOf().getValue(), "w");
  EXPECT_FALSE(stateOf(Value()));
  EXPECT_TRUE(ResultAttrs(program, 0).hasRole(Role::Loss));
  EXPECT_FALSE(ResultAttrs(program, 6).hasRole(Role::Loss));
  EXPECT_EQ(ResultAttrs(program, 3).text(), "tg.grad_of = \"v\"");
}
} // namespace
