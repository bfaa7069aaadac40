//===- MeshTest.cpp - ranks, groups and who runs a program ----------------===//

#include "dialects/Comm/Sharding.h"
#include "mlir/IR/Builders.h"
#include <gtest/gtest.h>

using namespace mlir;
using namespace braid::comm;

namespace {

class MeshTest : public testing::Test {
protected:
  MeshTest() { context.loadDialect<CommDialect>(); }

  StringAttr name(StringRef text) { return StringAttr::get(&context, text); }
  AxesAttr axes(ArrayRef<StringRef> names) {
    return AxesAttr::get(&context, llvm::map_to_vector(names, [&](StringRef text) { return name(text); }));
  }
  FlatSymbolRefAttr symbol() { return FlatSymbolRefAttr::get(&context, "mesh"); }
  ProgramAttr program() { return ProgramAttr::get(&context, symbol(), StringAttr(), {}); }
  ProgramAttr program(StringRef axis, ArrayRef<int64_t> coordinates) {
    return ProgramAttr::get(&context, symbol(), name(axis), coordinates);
  }
  Mesh mesh(ArrayRef<StringRef> names, ArrayRef<int64_t> sizes) {
    return Mesh(llvm::map_to_vector(names, [&](StringRef text) { return name(text); }), sizes);
  }
  RankedTensorType tensor(ArrayRef<int64_t> shape) { return RankedTensorType::get(shape, Float32Type::get(&context)); }

  MLIRContext context;
};

using Ranks = SmallVector<int64_t>;

TEST_F(MeshTest, NumbersRanksRowMajor) {
  Mesh m = mesh({"dp", "tp"}, {2, 4});
  EXPECT_EQ(m.getNumRanks(), 8);
  EXPECT_EQ(m.coordinate(6, name("dp")), 1);
  EXPECT_EQ(m.coordinate(6, name("tp")), 2);
  EXPECT_EQ(m.sizeOf(axes({"tp", "dp"})), 8);
  EXPECT_EQ(m.sizeOf(axes({})), 1);
  EXPECT_EQ(m.str(), "{dp = 2, tp = 4}");
}

TEST_F(MeshTest, NumbersGroupsInTheOrderOfTheirAxes) {
  Mesh m = mesh({"dp", "tp"}, {2, 3});
  EXPECT_EQ(m.groupOf(4, axes({"tp"})), (Ranks{3, 4, 5}));
  EXPECT_EQ(m.groupOf(4, axes({"dp"})), (Ranks{1, 4}));
  EXPECT_EQ(m.groupOf(4, axes({"dp", "tp"})), (Ranks{0, 1, 2, 3, 4, 5}));
  EXPECT_EQ(m.groupOf(4, axes({"tp", "dp"})), (Ranks{0, 3, 1, 4, 2, 5}));
  EXPECT_EQ(m.groupOf(4, axes({})), (Ranks{4}));
}

TEST_F(MeshTest, ARankHasItsNumberInItsGroup) {
  Mesh m = mesh({"a", "b", "c"}, {2, 3, 2});
  for (AxesAttr group : {axes({}), axes({"b"}), axes({"c", "a"}), axes({"a", "c"}), axes({"c", "b", "a"})})
    for (int64_t rank = 0; rank < m.getNumRanks(); ++rank) {
      Ranks members = m.groupOf(rank, group);
      ASSERT_EQ(static_cast<int64_t>(members.size()), m.sizeOf(group));
      EXPECT_EQ(members[m.numberInGroup(rank, group)], rank);
      for (int64_t member : members)
        EXPECT_EQ(m.groupOf(member, group), members);
    }
}

TEST_F(MeshTest, KnowsWhichRanksRunAProgram) {
  Mesh m = mesh({"pp", "dp"}, {2, 2});
  for (int64_t rank = 0; rank < 4; ++rank) {
    EXPECT_TRUE(m.runs(ProgramAttr(), rank));
    EXPECT_TRUE(m.runs(program(), rank));
    EXPECT_EQ(m.runs(program("pp", {1}), rank), rank >= 2);
    EXPECT_EQ(m.runs(program("dp", {0, 1}), rank), true);
  }
}

/// By the definition, rank by rank.
Members countMembers(const Mesh &mesh, ProgramAttr program, AxesAttr axes, int64_t number) {
  bool some = false, all = true;
  for (int64_t rank = 0; rank < mesh.getNumRanks(); ++rank)
    if (mesh.runs(program, rank)) {
      bool has = mesh.numberInGroup(rank, axes) == number;
      some |= has;
      all &= has;
    }
  return all ? Members::All : some ? Members::Some : Members::None;
}

TEST_F(MeshTest, CountsTheMembersWithANumberLikeTheDefinition) {
  Mesh m = mesh({"pp", "dp", "one"}, {3, 2, 1});
  for (ProgramAttr ranks :
       {ProgramAttr(), program(), program("pp", {0}), program("pp", {2, 0}), program("dp", {1}), program("one", {0})})
    for (AxesAttr group : {axes({}), axes({"pp"}), axes({"dp"}), axes({"one"}), axes({"one", "pp"}), axes({"dp", "pp"}),
                           axes({"pp", "dp"})})
      for (int64_t number = 0; number < m.sizeOf(group); ++number)
        EXPECT_EQ(m.membersWithNumber(ranks, group, number), countMembers(m, ranks, group, number))
            << group.str() << " number " << number;
}

TEST_F(MeshTest, ShardsTensorsIntoBlocks) {
  EXPECT_EQ(blockType(tensor({8, 4}), 0, 4), tensor({2, 4}));
  EXPECT_EQ(wholeType(tensor({2, 4}), 0, 4), tensor({8, 4}));
  EXPECT_EQ(blockType(tensor({3, 3}), kFlat, 4), tensor({3}));
  EXPECT_EQ(blockType(tensor({}), kFlat, 4), tensor({1}));
  EXPECT_EQ(flatRange(9, 4), 3);
  EXPECT_EQ(flatRange(8, 4), 2);
  EXPECT_EQ(flatRange(0, 4), 0);
}

TEST_F(MeshTest, ShardsDimsBeforeTheFlatOrder) {
  Mesh m = mesh({"dp", "tp"}, {2, 4});
  ShardingAttr sharding = ShardingAttr::replicated(symbol(), 2);
  EXPECT_TRUE(sharding.isReplicated());
  EXPECT_EQ(localType(tensor({8, 6}), sharding, m), tensor({8, 6}));
  ShardingAttr dims = sharding.withDims({axes({"tp"}), axes({"dp"})});
  EXPECT_EQ(localType(tensor({8, 6}), dims, m), tensor({2, 3}));
  ShardingAttr flat = sharding.withDims({axes({}), axes({"dp"})}).withFlat(axes({"tp"}));
  EXPECT_EQ(localDimsType(tensor({3, 6}), flat, m), tensor({3, 3}));
  EXPECT_EQ(localType(tensor({3, 6}), flat, m), tensor({3}));
}

} // namespace
