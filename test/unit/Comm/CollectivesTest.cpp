//===- CollectivesTest.cpp - what collectives say of themselves -----------===//

#include "dialects/Comm/Mesh.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Parser/Parser.h"
#include <gtest/gtest.h>
#include <map>
#include <set>

using namespace mlir;
using namespace braid;
using namespace braid::comm;

namespace {

class CollectivesTest : public testing::Test {
protected:
  CollectivesTest() { context.loadDialect<CommDialect, func::FuncDialect, exec::ExecDialect>(); }

  /// Returns the collective on a line of a function that the ranks of `program` run.
  CollectiveOpInterface parse(StringRef line, StringRef program = "") {
    std::string text = ("comm.mesh @mesh [dp = 4]\nfunc.func @f(%x: tensor<8x4xf32>, %b: tensor<2x4xf32>, "
                        "%r: !exec.ref<8x4xf32, [4, 1]>) attributes {comm.program = #comm.program<@mesh" +
                        program + ">} {\n" + line + "\nreturn\n}\n")
                           .str();
    module = parseSourceString<ModuleOp>(text, &context);
    CollectiveOpInterface found;
    if (module)
      module->walk([&](CollectiveOpInterface op) { found = op; });
    return found;
  }
  int64_t bytes(StringRef line, StringRef program = "") { return parse(line, program).getBytesSent(4); }

  MLIRContext context;
  OwningOpRef<ModuleOp> module;
};

/// Each collective of K = 128 bytes on 4 ranks, in a function that all ranks run.
const std::map<StringRef, StringRef> &examples() {
  static const std::map<StringRef, StringRef> lines{
      {"all_reduce", "comm.all_reduce sum %x over @mesh {dp} : (tensor<8x4xf32>) -> tensor<8x4xf32>"},
      {"all_gather", "comm.all_gather %b dims [0] over @mesh {dp} : (tensor<2x4xf32>) -> tensor<8x4xf32>"},
      {"reduce_scatter", "comm.reduce_scatter sum %x dims [0] over @mesh {dp} : (tensor<8x4xf32>) -> tensor<2x4xf32>"},
      {"all_to_all", "comm.all_to_all %x split [0] concat [1] over @mesh {dp} : (tensor<8x4xf32>) -> tensor<2x16xf32>"},
      {"broadcast", "comm.broadcast %x root 0 over @mesh {dp} : (tensor<8x4xf32>) -> tensor<8x4xf32>"},
      {"reduce", "comm.reduce sum %x root 0 over @mesh {dp} : (tensor<8x4xf32>) -> tensor<8x4xf32>"},
      {"gather", "comm.gather %b dims [0] root 0 over @mesh {dp} : (tensor<2x4xf32>) -> tensor<8x4xf32>"},
      {"scatter", "comm.scatter %x dims [0] root 0 over @mesh {dp} : (tensor<8x4xf32>) -> tensor<2x4xf32>"},
      {"permute", "comm.permute %x pairs [0 -> 1] over @mesh {dp} : (tensor<8x4xf32>) -> tensor<8x4xf32>"},
      {"send", "comm.send %x to 1 over @mesh {dp} : (tensor<8x4xf32>) -> ()"},
      {"recv", "comm.recv from 1 over @mesh {dp} : () -> tensor<8x4xf32>"},
      {"barrier", "comm.barrier over @mesh {dp} : () -> ()"},
  };
  return lines;
}

/// Compares the table's facts about a kind with those of its op.
TEST_F(CollectivesTest, EveryOpHasARowThatItAgreesWith) {
  std::set<StringRef> ops, rows;
  for (RegisteredOperationName op : context.getRegisteredOperations())
    if (op.getDialectNamespace() == "comm" && op.hasInterface<CollectiveOpInterface>())
      ops.insert(op.stripDialect());
  for (const CollectiveKind &row : collectiveKinds)
    rows.insert({row.name.data(), row.name.size()});
  EXPECT_EQ(ops, rows);
  for (StringRef name : ops) {
    SCOPED_TRACE(name.str());
    ASSERT_TRUE(examples().count(name));
    CollectiveOpInterface op = parse(examples().at(name), ", dp = [0]");
    ASSERT_TRUE(op);
    const CollectiveKind &row = op.getRow();
    EXPECT_EQ(op->getName().stripDialect(), name);
    EXPECT_EQ(StringRef(row.name.data(), row.name.size()), name);
    EXPECT_EQ(op.getReductionKind().has_value(), row.reduces);
    EXPECT_EQ(op.getRootRank().has_value(), row.hasRoot());
    EXPECT_EQ(op.getPeerRank().has_value(), row.hasPeer());
    EXPECT_EQ(!op.getPairs().empty(), row.naming == Naming::Pairs);
    EXPECT_EQ(!op.getSentDims().empty(), row.sent.form == Form::Blocks);
    EXPECT_EQ(!op.getReceivedDims().empty(), row.received.form == Form::Blocks);
    auto elements = [](ArrayRef<RankedTensorType> types) { return types.empty() ? 0 : types[0].getNumElements(); };
    auto expected = [](Side side) {
      return side.participants == Participants::Nobody ? 0 : side.form == Form::Block ? 8 : 32;
    };
    EXPECT_EQ(elements(sentTypes(op)), expected(row.sent));
    EXPECT_EQ(elements(receivedTypes(op)), expected(row.received));
    auto action = cast<exec::ActionOpInterface>(op.getOperation());
    EXPECT_EQ(action.mayWriteInPlace(0, 0), row.inPlace == InPlace::Same);
    EXPECT_FALSE(action.mayWriteInPlace(0, 1));
    EXPECT_EQ(op.getBytesSent(4), row.movesNothing() ? 0 : row.bytesSent(128, 4));
  }
}

/// Of K = 128 bytes on 4 ranks.
TEST_F(CollectivesTest, SendsTheBytesOfTheBestAlgorithms) {
  const std::map<StringRef, int64_t> all{{"all_reduce", 192}, {"all_gather", 96}, {"reduce_scatter", 96},
                                         {"all_to_all", 96},  {"broadcast", 192}, {"scatter", 96},
                                         {"permute", 128},    {"barrier", 0}};
  for (auto [name, sent] : all)
    EXPECT_EQ(bytes(examples().at(name)), sent) << name.str();
  EXPECT_EQ(bytes("comm.permute %x pairs [1 -> 1] over @mesh {dp} : (tensor<8x4xf32>) -> tensor<8x4xf32>"), 0);
}

/// The same on either side of a root.
TEST_F(CollectivesTest, SendsTheSameBytesWhoeverAsks) {
  for (StringRef program : {", dp = [0]", ", dp = [1, 2, 3]"}) {
    bool isRoot = program == ", dp = [0]";
    EXPECT_EQ(bytes(isRoot ? "comm.reduce sum %x root 0 over @mesh {dp} : (tensor<8x4xf32>) -> tensor<8x4xf32>"
                           : "comm.reduce sum %x root 0 over @mesh {dp} : (tensor<8x4xf32>) -> ()",
                    program),
              192);
    EXPECT_EQ(bytes(isRoot ? "comm.gather %b dims [0] root 0 over @mesh {dp} : (tensor<2x4xf32>) -> tensor<8x4xf32>"
                           : "comm.gather %b dims [0] root 0 over @mesh {dp} : (tensor<2x4xf32>) -> ()",
                    program),
              96);
    EXPECT_EQ(bytes(isRoot ? "comm.broadcast %x root 0 over @mesh {dp} : (tensor<8x4xf32>) -> tensor<8x4xf32>"
                           : "comm.broadcast root 0 over @mesh {dp} : () -> tensor<8x4xf32>",
                    program),
              192);
    EXPECT_EQ(bytes(isRoot ? "comm.send %x to 1 over @mesh {dp} : (tensor<8x4xf32>) -> ()"
                           : "comm.recv from 0 over @mesh {dp} : () -> tensor<8x4xf32>",
                    program),
              128);
  }
}

TEST_F(CollectivesTest, WritesOverItsOwnOperandAlone) {
  auto action = [&](StringRef line) { return exec::ActionOpInterface(parse(line).getOperation()); };
  auto reduce = action("comm.all_reduce sum %x, %x over @mesh {dp} "
                       ": (tensor<8x4xf32>, tensor<8x4xf32>) -> (tensor<8x4xf32>, tensor<8x4xf32>)");
  EXPECT_TRUE(reduce.mayWriteInPlace(0, 0));
  EXPECT_FALSE(reduce.mayWriteInPlace(0, 1));
  EXPECT_TRUE(reduce.mayWriteInPlace(1, 1));
  EXPECT_FALSE(action("comm.permute %x pairs [0 -> 1] over @mesh {dp} : (tensor<8x4xf32>) -> tensor<8x4xf32>")
                   .mayWriteInPlace(0, 0));
}

TEST_F(CollectivesTest, SendsTensorsInMemoryToo) {
  CollectiveOpInterface op = parse("comm.all_reduce sum %r outs(%r : !exec.ref<8x4xf32, [4, 1]>) over @mesh {dp} "
                                   ": (!exec.ref<8x4xf32, [4, 1]>) -> ()");
  auto type = RankedTensorType::get({8, 4}, Float32Type::get(&context));
  EXPECT_EQ(sentTypes(op), SmallVector<RankedTensorType>{type});
  EXPECT_EQ(receivedTypes(op), SmallVector<RankedTensorType>{type});
  EXPECT_EQ(op.getBytesSent(4), 192);
}

/// If all ranks run the function, an unread collective may be erased, otherwise not.
TEST_F(CollectivesTest, IsPureOnlyWhereAllRanksRunIt) {
  StringRef line = "comm.all_reduce sum %x over @mesh {dp} : (tensor<8x4xf32>) -> tensor<8x4xf32>";
  EXPECT_TRUE(isMemoryEffectFree(parse(line)));
  EXPECT_FALSE(isMemoryEffectFree(parse(line, ", dp = [0, 1]")));
  std::string started = ("%t = comm.start {\n" + line +
                         "\n} : !comm.ticket<tensor<8x4xf32>>\n"
                         "%y = comm.wait %t : !comm.ticket<tensor<8x4xf32>> -> tensor<8x4xf32>")
                            .str();
  EXPECT_FALSE(isMemoryEffectFree(parse(started)));
  EXPECT_FALSE(isMemoryEffectFree(parse("comm.barrier over @mesh {dp} : () -> ()")));
}

} // namespace
