//===- DimFlowTest.cpp - flows against what programs compute --------------===//
//
// If the indices of a dim are permuted in all arguments that a flow has reached, each value that it has reached must
// come out permuted, and each other value as before. The interpreter tells, and knows no sharding rules.
//
//===----------------------------------------------------------------------===//

#include "lib/Sharding/DimFlow.h"
#include "dialects/Comm/Comm.h"
#include "dialects/TG/TG.h"
#include "lib/Reference/Evaluator.h"
#include "lib/Sharding/CommonDims.h"
#include "lib/Sharding/TokenDims.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Parser/Parser.h"
#include "gtest/gtest.h"
#include <map>
#include <random>

using namespace mlir;
using namespace braid;
using reference::Tensor;

namespace {

/// Parts of each value, by the value's number: arguments first, then results.
using Parts = std::vector<DimParts>;

class DimFlowTest : public ::testing::Test {
protected:
  DimFlowTest() { context.loadDialect<tg::TGDialect, comm::CommDialect, func::FuncDialect, arith::ArithDialect>(); }

  /// Reads a function of these arguments and ops.
  void read(const std::string &arguments, const std::string &ops) {
    module = parseSourceString<ModuleOp>("func.func @f(" + arguments + ") {\n" + ops + "\nreturn\n}",
                                         ParserConfig(&context));
    ASSERT_TRUE(module) << ops;
    function = *module->getOps<func::FuncOp>().begin();
    values.assign(function.getArguments().begin(), function.getArguments().end());
    for (Operation &op : function.front())
      llvm::append_range(values, op.getResults());
  }

  Parts partsOf(const DimFlow &flow) {
    Parts parts;
    for (Value value : values)
      parts.emplace_back(flow.partsOf(value));
    return parts;
  }

  /// Follows a dim of an argument.
  Parts flowFrom(unsigned argument, unsigned dim) {
    DimFlow flow;
    flow.start(function.getArgument(argument), dim);
    EXPECT_TRUE(succeeded(flow.run()));
    return partsOf(flow);
  }

  /// Returns the value of each value. `permuted` are the dims to permute in arguments.
  std::vector<Tensor> run(const Parts &permuted);

  /// Returns the number of the first value that does not follow the permutation; no value if all do.
  std::optional<size_t> firstWrong(const Parts &parts);

  MLIRContext context;
  OwningOpRef<ModuleOp> module;
  func::FuncOp function;
  std::vector<Value> values;
};

/// Returns a tensor with the indices of a part shifted by one.
Tensor shifted(const Tensor &tensor, DimPart part) {
  Tensor result = tensor;
  reference::forEachIndex(tensor.shape, [&](ArrayRef<int64_t> index) {
    SmallVector<int64_t> to(index);
    int64_t &place = to[part.number], digit = place / part.inner % part.size;
    place += ((digit + 1) % part.size - digit) * part.inner;
    result[tensor.at(to)] = tensor[tensor.at(index)];
  });
  return result;
}

std::vector<Tensor> DimFlowTest::run(const Parts &permuted) {
  std::mt19937 random(1);
  std::map<void *, Tensor> tensors;
  for (auto [argument, parts] : llvm::zip(function.getArguments(), permuted)) {
    Tensor tensor(cast<RankedTensorType>(argument.getType()));
    for (reference::Element &element : tensor.elements)
      element = tensor.hasFloats() ? reference::ofFloat(static_cast<double>(random() % 1000) / 500 - 1)
                                   : reference::ofInt(random() % 3);
    for (DimPart part : parts)
      tensor = shifted(tensor, part);
    tensors[argument.getAsOpaquePointer()] = tensor;
  }
  for (Operation &op : function.front().without_terminator()) {
    auto operands = llvm::map_to_vector(
        op.getOperands(), [&](Value value) -> const Tensor * { return &tensors.at(value.getAsOpaquePointer()); });
    reference::Results results = reference::evaluate(&op, operands, reference::Arithmetic::F64);
    EXPECT_TRUE(succeeded(results));
    for (auto [result, tensor] : llvm::zip(op.getResults(), *results))
      tensors[result.getAsOpaquePointer()] = tensor;
  }
  std::vector<Tensor> all;
  for (Value value : values)
    all.push_back(tensors.at(value.getAsOpaquePointer()));
  return all;
}

std::optional<size_t> DimFlowTest::firstWrong(const Parts &parts) {
  std::vector<Tensor> before = run(Parts(function.getNumArguments())), after = run(parts);
  for (size_t number = 0; number < values.size(); ++number) {
    Tensor expected = before[number];
    for (DimPart part : parts[number])
      expected = shifted(expected, part);
    for (int64_t i = 0; i < expected.size(); ++i)
      if (expected.hasFloats() ? std::abs(expected.f(i) - after[number].f(i)) > 1e-9
                               : expected.n(i) != after[number].n(i))
        return number;
  }
  return std::nullopt;
}

/// A graph, a dim of an argument to start from, and the parts of all values.
struct Case {
  const char *name, *arguments, *ops;
  unsigned argument, dim;
  Parts expected;
};

const std::vector<Case> &cases() {
  static const std::vector<Case> all = {
      {"transpose",
       "%x: tensor<2x3x4xf32>",
       "%y = tg.transpose %x [2, 0, 1] : tensor<2x3x4xf32> -> tensor<4x2x3xf32>",
       0,
       1,
       {{{1, 1, 3}}, {{2, 1, 3}}}},
      {"batch of a contraction, and its gradient's sum",
       "%x: tensor<3x4xf32>, %w: tensor<4x5xf32>",
       R"(%y = tg.contract "bd,df->bf" %x, %w : (tensor<3x4xf32>, tensor<4x5xf32>) -> tensor<3x5xf32>
          %dw = tg.contract "bd,bf->df" %x, %y : (tensor<3x4xf32>, tensor<3x5xf32>) -> tensor<4x5xf32>)",
       0,
       0,
       {{{0, 1, 3}}, {}, {{0, 1, 3}}, {}}},
      {"contracted dim, back to the weight",
       "%x: tensor<3x4xf32>, %w: tensor<4x5xf32>",
       R"(%y = tg.contract "bd,df->bf" %x, %w : (tensor<3x4xf32>, tensor<4x5xf32>) -> tensor<3x5xf32>)",
       0,
       1,
       {{{1, 1, 4}}, {{0, 1, 4}}, {}}},
      {"both sides of an outer product",
       "%x: tensor<3x4xf32>",
       R"(%y = tg.contract "bd,cd->bc" %x, %x : (tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<3x3xf32>)",
       0,
       0,
       {{{0, 1, 3}}, {{0, 1, 3}, {1, 1, 3}}}},
      {"outer dim of a joined dim, and back",
       "%x: tensor<2x3x4xf32>, %w: tensor<4x5xf32>",
       R"(%r = tg.reshape %x : tensor<2x3x4xf32> -> tensor<6x4xf32>
          %y = tg.contract "rd,df->rf" %r, %w : (tensor<6x4xf32>, tensor<4x5xf32>) -> tensor<6x5xf32>
          %s = tg.reshape %y : tensor<6x5xf32> -> tensor<2x3x5xf32>)",
       0,
       0,
       {{{0, 1, 2}}, {}, {{0, 3, 2}}, {{0, 3, 2}}, {{0, 1, 2}}}},
      {"inner dim of a joined dim, and back",
       "%x: tensor<2x3x4xf32>, %w: tensor<4x5xf32>",
       R"(%r = tg.reshape %x : tensor<2x3x4xf32> -> tensor<6x4xf32>
          %y = tg.contract "rd,df->rf" %r, %w : (tensor<6x4xf32>, tensor<4x5xf32>) -> tensor<6x5xf32>
          %s = tg.reshape %y : tensor<6x5xf32> -> tensor<2x3x5xf32>)",
       0,
       1,
       {{{1, 1, 3}}, {}, {{0, 1, 3}}, {{0, 1, 3}}, {{1, 1, 3}}}},
      {"dim of one index, joined",
       "%x: tensor<1x3x4xf32>",
       R"(%r = tg.reshape %x : tensor<1x3x4xf32> -> tensor<3x4xf32>
          %s = tg.reshape %r : tensor<3x4xf32> -> tensor<1x3x4xf32>)",
       0,
       1,
       {{{1, 1, 3}}, {{0, 1, 3}}, {{1, 1, 3}}}},
      {"broadcast and reduction",
       "%x: tensor<3x4xf32>",
       R"(%b = tg.broadcast %x dims [0, 2] : tensor<3x4xf32> -> tensor<3x2x4xf32>
          %r = tg.reduce sum %x dims [0] : tensor<3x4xf32> -> tensor<4xf32>
          %m = tg.reduce max %b dims [1] : tensor<3x2x4xf32> -> tensor<3x4xf32>)",
       0,
       0,
       {{{0, 1, 3}}, {{0, 1, 3}}, {}, {{0, 1, 3}}}},
      {"rows that a gather reads",
       "%table: tensor<3x4xf32>, %i: tensor<2x5xi32>",
       "%y = tg.gather %table, %i : (tensor<3x4xf32>, tensor<2x5xi32>) -> tensor<2x5x4xf32>",
       1,
       1,
       {{}, {{1, 1, 5}}, {{1, 1, 5}}}},
      {"concat and slice along another dim",
       "%x: tensor<3x4xf32>, %z: tensor<3x2xf32>",
       R"(%c = tg.concat %x, %z dim 1 : (tensor<3x4xf32>, tensor<3x2xf32>) -> tensor<3x6xf32>
          %s = tg.slice %c dim 1 offset 1 size 3 : tensor<3x6xf32> -> tensor<3x3xf32>)",
       0,
       0,
       {{{0, 1, 3}}, {{0, 1, 3}}, {{0, 1, 3}}, {{0, 1, 3}}}},
      {"rows of a softmax and elementwise ops",
       "%x: tensor<3x4xf32>, %z: tensor<3x4xf32>",
       R"(%s = tg.softmax %x : tensor<3x4xf32>
          %y = arith.addf %s, %z : tensor<3x4xf32>)",
       0,
       0,
       {{{0, 1, 3}}, {{0, 1, 3}}, {{0, 1, 3}}, {{0, 1, 3}}}},
  };
  return all;
}

TEST_F(DimFlowTest, reachesWhatIsExpectedAndComputed) {
  for (const Case &one : cases()) {
    read(one.arguments, one.ops);
    Parts parts = flowFrom(one.argument, one.dim);
    EXPECT_EQ(parts, one.expected) << one.name;
    EXPECT_EQ(firstWrong(parts), std::nullopt) << one.name;
  }
}

/// A dim that the flow misses, that it invents, or of which it has other indices, is found.
TEST_F(DimFlowTest, plantedFaultsAreFound) {
  int planted = 0;
  for (const Case &one : cases()) {
    read(one.arguments, one.ops);
    for (size_t number = 0; number < values.size(); ++number) {
      auto shape = cast<RankedTensorType>(values[number].getType()).getShape();
      std::vector<DimParts> others = {{}};
      for (unsigned dim = 0; dim < shape.size(); ++dim)
        for (int64_t inner = 1; inner < shape[dim]; ++inner)
          for (int64_t size = 2; inner * size <= shape[dim]; ++size)
            if (shape[dim] % (inner * size) == 0)
              others.push_back({{dim, inner, size}});
      for (const DimParts &other : others) {
        Parts parts = one.expected;
        if (parts[number] == other)
          continue;
        parts[number] = other;
        ++planted;
        EXPECT_NE(firstWrong(parts), std::nullopt) << one.name << ", value " << number;
      }
    }
  }
  EXPECT_GT(planted, 100);
}

/// Where an op mixes the indices of a dim, and where it has no rule.
TEST_F(DimFlowTest, endsWhereIndicesAreMixed) {
  const std::pair<const char *, const char *> ends[] = {
      {"%x: tensor<4x2xf32>", "%y = tg.slice %x dim 0 offset 1 size 2 : tensor<4x2xf32> -> tensor<2x2xf32>"},
      {"%x: tensor<4x2xf32>", "%y = tg.concat %x, %x dim 0 : (tensor<4x2xf32>, tensor<4x2xf32>) -> tensor<8x2xf32>"},
      {"%x: tensor<4x2xf32>", "%y = tg.reorder %x dim 0 order [1, 0] : tensor<4x2xf32>"},
      {"%x: tensor<4x3xf32>", "%y = tg.reshape %x : tensor<4x3xf32> -> tensor<3x4xf32>"},
      {"%x: tensor<4xf32>, %i: tensor<3xi32>",
       R"(%t = tg.broadcast %x dims [0] : tensor<4xf32> -> tensor<4x2xf32>
          %y = tg.gather %t, %i : (tensor<4x2xf32>, tensor<3xi32>) -> tensor<3x2xf32>)"},
      {"%x: tensor<4xf32>", R"(%y = "builtin.unrealized_conversion_cast"(%x) : (tensor<4xf32>) -> tensor<4xf32>)"},
  };
  for (auto [arguments, ops] : ends) {
    read(arguments, ops);
    EXPECT_TRUE(flowFrom(0, 0).back().empty()) << ops;
  }
}

/// A dim that is split goes on as both of its factors; a part that begins within a factor ends.
TEST_F(DimFlowTest, splitsDims) {
  read("%x: tensor<12xf32>", R"(%y = tg.reshape %x : tensor<12xf32> -> tensor<4x3xf32>
                                %z = tg.transpose %y [1, 0] : tensor<4x3xf32> -> tensor<3x4xf32>)");
  EXPECT_EQ(flowFrom(0, 0),
            Parts({{{0, 1, 12}, {0, 1, 3}, {0, 3, 4}}, {{1, 1, 3}, {0, 1, 4}}, {{0, 1, 3}, {1, 1, 4}}}));
  ShardingRule rule;
  rule.operands = {{{rule.add(4), rule.add(3)}}};
  EXPECT_EQ(factorsOfPart(rule, rule.operands[0], {0, 6, 2}), DimParts({{0, 2, 2}}));
  EXPECT_EQ(factorsOfPart(rule, rule.operands[0], {0, 1, 6}), DimParts({{1, 1, 3}, {0, 1, 2}}));
  EXPECT_EQ(factorsOfPart(rule, rule.operands[0], {0, 2, 6}), DimParts());
}

/// An axis that shards a dim shards the outermost factor of each dim with it, up to ops that need it whole.
TEST_F(DimFlowTest, shardsOutermostFactors) {
  read("%x: tensor<2x3x4xf32>", R"(%r = tg.reshape %x : tensor<2x3x4xf32> -> tensor<6x4xf32>
                                   %y = tg.softmax %r : tensor<6x4xf32>)");
  auto reached = [&](unsigned dim) {
    CommonDims dims;
    dims.add(function.getArgument(0), dim);
    return partsOf(dims);
  };
  EXPECT_EQ(reached(0), Parts({{{0, 1, 2}}, {{0, 3, 2}}, {{0, 3, 2}}}));
  EXPECT_EQ(reached(1), Parts({{{1, 1, 3}}, {}, {}}));
  EXPECT_EQ(reached(2), Parts({{{2, 1, 4}}, {{1, 1, 4}}, {}}));
}

/// A batch that is joined with the sequence is the batch again where they are apart.
TEST_F(DimFlowTest, keepsBatchAndSequenceApart) {
  using Kind = TokenDims::Kind;
  read("%t: tensor<2x3xi32> {tg.input = \"tokens\", tg.role = #tg.role<tokens>}, %e: tensor<3x4xf32>",
       R"(%x = tg.gather %e, %t : (tensor<3x4xf32>, tensor<2x3xi32>) -> tensor<2x3x4xf32>
          %r = tg.reshape %x : tensor<2x3x4xf32> -> tensor<6x4xf32>
          %s = tg.reshape %r : tensor<6x4xf32> -> tensor<2x3x4xf32>
          %b = tg.reduce sum %s dims [0] : tensor<2x3x4xf32> -> tensor<3x4xf32>
          %q = tg.reduce sum %s dims [1] : tensor<2x3x4xf32> -> tensor<2x4xf32>)");
  TokenDims dims(function);
  EXPECT_EQ(dims.kindOf(values[3], 0), Kind::Sequence);
  EXPECT_EQ(dims.kindOf(values[4], 0), Kind::Batch);
  EXPECT_EQ(dims.kindOf(values[4], 1), Kind::Sequence);
  EXPECT_EQ(dims.kindOf(values[4], 2), Kind::None);
  EXPECT_TRUE(dims.isSumOver(Kind::Batch, values[5]));
  EXPECT_FALSE(dims.isSumOver(Kind::Sequence, values[5]));
  EXPECT_FALSE(dims.isSumOver(Kind::Batch, values[6]));
  EXPECT_TRUE(dims.isSumOver(Kind::Sequence, values[6]));
}

/// The dims that one op links, by the outermost factor of a dim.
TEST_F(DimFlowTest, linksDimsOfOneOp) {
  read("%x: tensor<1x6x4xf32>", R"(%r = tg.reshape %x : tensor<1x6x4xf32> -> tensor<2x3x4xf32>
                                   %s = tg.reshape %x : tensor<1x6x4xf32> -> tensor<6x4xf32>)");
  Operation *split = values[1].getDefiningOp(), *drop = values[2].getDefiningOp();
  auto linked = FactorDims::through(split, values[0], 1);
  ASSERT_TRUE(linked);
  EXPECT_EQ(linked->getFactor().size, 2);
  EXPECT_EQ(linked->results.front(), 0u);
  EXPECT_TRUE(linked->areOutermost());
  EXPECT_FALSE(linked->areWhole());
  EXPECT_FALSE(FactorDims::through(split, values[1], 1)->areOutermost());
  EXPECT_TRUE(FactorDims::through(drop, values[0], 1)->areWhole());
  EXPECT_FALSE(FactorDims::through(drop, values[0], 0));
}

} // namespace
