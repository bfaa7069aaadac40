//===- LayoutSearchTest.cpp - the search against every layout there is ----===//

#include "lib/Sharding/LayoutSearch.h"
#include "dialects/Comm/Comm.h"
#include "dialects/TG/TG.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Parser/Parser.h"
#include "gtest/gtest.h"
#include <random>

using namespace mlir;
using namespace braid;

namespace {

class LayoutSearchTest : public ::testing::Test {
protected:
  LayoutSearchTest() {
    context.loadDialect<tg::TGDialect, comm::CommDialect, func::FuncDialect, arith::ArithDialect>();
  }

  func::FuncOp parse(const std::string &text) {
    module = parseSourceString<ModuleOp>(text, &context);
    EXPECT_TRUE(module) << text;
    return *module->getOps<func::FuncOp>().begin();
  }

  MLIRContext context;
  OwningOpRef<ModuleOp> module;
};

/// Returns the cheapest choice by enumeration, which is possible for up to a few million choices.
std::optional<Cost> cheapest(const MinimumCost &problem) {
  size_t choices = 1;
  for (unsigned variable = 0; variable < problem.numVariables(); ++variable)
    if ((choices *= problem.numValues(variable)) > 300000)
      return std::nullopt;
  std::vector<unsigned> values(problem.numVariables());
  Cost best = Cost::impossible();
  for (size_t choice = 0; choice < choices; ++choice) {
    size_t rest = choice;
    for (unsigned variable = 0; variable < values.size(); ++variable) {
      values[variable] = rest % problem.numValues(variable);
      rest /= problem.numValues(variable);
    }
    best = std::min(best, problem.costOf(values));
  }
  return best;
}

/// A chain of products and activations; some numbers of ranks divide their widths.
std::string randomChain(std::mt19937 &random) {
  auto width = [&] { return 1 + random() % 7; };
  unsigned layers = 1 + random() % 2;
  std::vector<unsigned> widths(layers + 1);
  for (unsigned &entry : widths)
    entry = width();
  auto type = [](unsigned rows, unsigned columns) {
    return "tensor<" + std::to_string(rows) + "x" + std::to_string(columns) + "xf32>";
  };
  std::string text =
                  "func.func @model(%x0: " + type(4, widths[0]) + " {tg.input = \"x\", tg.role = #tg.role<features>}",
              body;
  for (unsigned i = 0; i < layers; ++i) {
    std::string number = std::to_string(i), next = std::to_string(i + 1);
    text += ", %w" + number + ": " + type(widths[i], widths[i + 1]) + " {tg.param = #tg.param<\"w" + number +
            "\", #tg.init<ones>>}";
    std::string product = random() % 2 ? "%y" + next : "%x" + next;
    body += "  " + product + " = tg.contract \"bd,df->bf\" %x" + number + ", %w" + number + " : (" +
            type(4, widths[i]) + ", " + type(widths[i], widths[i + 1]) + ") -> " + type(4, widths[i + 1]) + "\n";
    if (product[1] == 'y')
      body += "  %x" + next + " = tg.gelu tanh " + product + " : " + type(4, widths[i + 1]) + "\n";
  }
  std::string result = type(4, widths[layers]);
  return text + ") -> " + result + " {\n" + body + "  return %x" + std::to_string(layers) + " : " + result + "\n}\n";
}

TEST_F(LayoutSearchTest, isTheCheapestOfAllLayouts) {
  std::mt19937 random(3);
  int compared = 0;
  for (int round = 0; round < 60; ++round) {
    std::string text = randomChain(random);
    func::FuncOp model = parse(text);
    LayoutSearch search(model, {/*ranks=*/2, /*sequence=*/random() % 2 == 0});
    std::optional<LayoutChoice> choice = search.run();
    ASSERT_TRUE(choice);
    std::optional<Cost> best = cheapest(search.problem());
    if (!best)
      continue;
    ++compared;
    EXPECT_EQ(choice->cost, *best) << text;
  }
  EXPECT_GT(compared, 20);
}

/// Columns, then rows. Names and the order of arguments have no effect.
TEST_F(LayoutSearchTest, isThatOfMegatronForAnMlp) {
  const char *const texts[] = {
      R"(func.func @model(%x: tensor<4x8xf32> {tg.input = "x", tg.role = #tg.role<features>},
           %a: tensor<8x16xf32> {tg.param = #tg.param<"a", #tg.init<ones>>},
           %b: tensor<16x8xf32> {tg.param = #tg.param<"b", #tg.init<ones>>}) -> tensor<4x8xf32> {
           %h = tg.contract "bd,df->bf" %x, %a : (tensor<4x8xf32>, tensor<8x16xf32>) -> tensor<4x16xf32>
           %g = tg.gelu tanh %h : tensor<4x16xf32>
           %y = tg.contract "bd,df->bf" %g, %b : (tensor<4x16xf32>, tensor<16x8xf32>) -> tensor<4x8xf32>
           return %y : tensor<4x8xf32>
         })",
      R"(func.func @model(%second: tensor<16x8xf32> {tg.param = #tg.param<"zz", #tg.init<ones>>},
           %first: tensor<8x16xf32> {tg.param = #tg.param<"q", #tg.init<ones>>},
           %x: tensor<4x8xf32> {tg.input = "x", tg.role = #tg.role<features>}) -> tensor<4x8xf32> {
           %h = tg.contract "df,bd->bf" %first, %x : (tensor<8x16xf32>, tensor<4x8xf32>) -> tensor<4x16xf32>
           %g = tg.gelu tanh %h : tensor<4x16xf32>
           %y = tg.contract "bd,df->bf" %g, %second : (tensor<4x16xf32>, tensor<16x8xf32>) -> tensor<4x8xf32>
           return %y : tensor<4x8xf32>
         })"};
  for (const char *text : texts) {
    func::FuncOp model = parse(text);
    std::optional<LayoutChoice> choice = LayoutSearch(model, {/*ranks=*/4}).run();
    ASSERT_TRUE(choice);
    ASSERT_EQ(choice->weights.size(), 2u);
    for (auto [weight, dim] : choice->weights)
      EXPECT_EQ(dim, cast<RankedTensorType>(weight.getType()).getDimSize(0) == 8 ? 1 : 0);
    EXPECT_TRUE(choice->held.empty() && choice->needed.empty());
  }
}

} // namespace
