//===- CollectivesTest.cpp - what collectives say of themselves -----------===//

#include "dialects/Comm/Mesh.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Parser/Parser.h"
#include <gtest/gtest.h>

using namespace mlir;
using namespace braid;
using namespace braid::comm;

namespace {

class CollectivesTest : public testing::Test {
protected:
  CollectivesTest() { context.loadDialect<CommDialect, func::FuncDialect, exec::ExecDialect>(); }

  /// The collective of a line in a function that the ranks with `program` run.
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

/// Of K = 128 bytes on 4 ranks.
TEST_F(CollectivesTest, SendsTheBytesOfTheBestAlgorithms) {
  EXPECT_EQ(bytes("comm.all_reduce sum %x over @mesh {dp} : (tensor<8x4xf32>) -> tensor<8x4xf32>"), 192);
  EXPECT_EQ(bytes("comm.all_gather %b dims [0] over @mesh {dp} : (tensor<2x4xf32>) -> tensor<8x4xf32>"), 96);
  EXPECT_EQ(bytes("comm.reduce_scatter sum %x dims [0] over @mesh {dp} : (tensor<8x4xf32>) -> tensor<2x4xf32>"), 96);
  EXPECT_EQ(bytes("comm.all_to_all %x split [0] concat [1] over @mesh {dp} "
                  ": (tensor<8x4xf32>) -> tensor<2x16xf32>"),
            96);
  EXPECT_EQ(bytes("comm.broadcast %x root 0 over @mesh {dp} : (tensor<8x4xf32>) -> tensor<8x4xf32>"), 192);
  EXPECT_EQ(bytes("comm.scatter %x dims [0] root 0 over @mesh {dp} : (tensor<8x4xf32>) -> tensor<2x4xf32>"), 96);
  EXPECT_EQ(bytes("comm.permute %x pairs [0 -> 1] over @mesh {dp} : (tensor<8x4xf32>) -> tensor<8x4xf32>"), 128);
  EXPECT_EQ(bytes("comm.permute %x pairs [1 -> 1] over @mesh {dp} : (tensor<8x4xf32>) -> tensor<8x4xf32>"), 0);
  EXPECT_EQ(bytes("comm.barrier over @mesh {dp} : () -> ()"), 0);
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

TEST_F(CollectivesTest, OnlyAllReduceWritesOverItsOwnOperand) {
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

/// Where all ranks run the function it may go with its result, and not otherwise.
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
