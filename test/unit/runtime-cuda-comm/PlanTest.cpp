//===- PlanTest.cpp - which calls a collective becomes --------------------===//

#include "gpu/CollectivePlan.h"

#include <gtest/gtest.h>

using namespace braid;

namespace {

constexpr size_t width = 4;
std::byte arena[4096], scratch[4096];

// An operation on f32 of rank `me` of n; segments are places and counts of elements.
class Plan {
public:
  struct Part {
    size_t send, recv;
    int64_t count;
    int32_t sendRows = 1, recvRows = 1;
  };

  Plan(br_collective kind, int n, int me, const std::vector<Part> &parts, bool sameTables = true, int root = 0,
       bool communicatesAlone = false) {
    group.me = me;
    for (int rank = 0; rank < n; ++rank)
      group.ranks.push_back(rank);
    std::vector<br_segment> segments;
    for (const Part &p : parts)
      segments.push_back({arena + p.send * width, arena + p.recv * width, p.count, p.sendRows, p.recvRows});
    operation.assign(
        {kind, BR_SUM, BR_F32, 0, root, nullptr, 0, segments.data(), static_cast<int32_t>(segments.size())}, group, 1);
    plan = planCollective(operation, scratch, sameTables, communicatesAlone);
  }

  // "all_reduce 0>8 x4": places in the arena, s in scratch memory, - for none.
  std::string text() const {
    constexpr const char *names[] = {"all_reduce", "reduce_scatter", "all_gather", "reduce",
                                     "broadcast",  "send",           "recv"};
    std::string text;
    for (const StridedCopy &c : plan.before)
      text += "copy " + place(c.from) + ">" + place(c.to) + " " + std::to_string(c.rows) + "x" +
              std::to_string(c.width / width) + "; ";
    for (const Move &m : plan.moves)
      text += std::string(names[static_cast<int>(m.kind)]) + " " + place(m.from) + ">" + place(m.to) + " x" +
              std::to_string(m.count) + (m.peer == operation.group->me ? "" : " @" + std::to_string(m.peer)) + "; ";
    for (const StridedCopy &c : plan.after)
      text += "copy " + place(c.from) + ">" + place(c.to) + " " + std::to_string(c.rows) + "x" +
              std::to_string(c.width / width) + "; ";
    for (const ZeroFill &z : plan.zeros)
      text += "zero " + place(z.at) + " x" + std::to_string(z.bytes / width) + "; ";
    return text;
  }
  size_t scratchBytes() const { return plan.scratchBytes; }

private:
  static std::string place(const std::byte *at) {
    if (!at)
      return "-";
    bool isScratch = at >= scratch && at < scratch + sizeof scratch;
    return (isScratch ? "s" : "") + std::to_string((at - (isScratch ? scratch : arena)) / width);
  }

  Group group;
  Operation operation;
  CollectivePlan plan;
};

TEST(CollectivePlan, joinsTensorsThatLieSideBySide) {
  std::vector<Plan::Part> parts = {{0, 100, 4}, {4, 104, 0}, {4, 104, 8}, {12, 120, 4}};
  EXPECT_EQ(Plan(BR_ALL_REDUCE, 2, 0, parts).text(), "all_reduce 0>100 x12; all_reduce 12>120 x4; ");
  // The same calls on a rank that has no result.
  EXPECT_EQ(Plan(BR_REDUCE, 2, 1, parts).text(), "reduce 0>- x12 @0; reduce 12>- x4 @0; ");
  EXPECT_EQ(Plan(BR_REDUCE, 2, 0, parts).text(), "reduce 0>100 x12; reduce 12>120 x4; ");
}

TEST(CollectivePlan, joinsNothingWhereArenasDiffer) {
  std::vector<Plan::Part> parts = {{0, 100, 4}, {4, 104, 8}};
  EXPECT_EQ(Plan(BR_ALL_REDUCE, 2, 0, parts, /*sameTables=*/false).text(),
            "all_reduce 0>100 x4; all_reduce 4>104 x8; ");
  EXPECT_EQ(Plan(BR_SEND, 2, 0, parts, true, 1).text(), "send 0>- x4 @1; send 4>- x8 @1; ");
}

TEST(CollectivePlan, gathersEqualBlocksInOneCall) {
  EXPECT_EQ(Plan(BR_ALL_GATHER, 4, 1, {{0, 100, 8}}).text(), "all_gather 0>100 x2; ");
  EXPECT_EQ(Plan(BR_REDUCE_SCATTER, 4, 1, {{100, 0, 8}}).text(), "reduce_scatter 100>0 x2; ");
}

// 7 elements of 3 ranks: blocks of 3, 3 and 1, and two of padding.
TEST(CollectivePlan, leavesShortBlocksShort) {
  EXPECT_EQ(Plan(BR_REDUCE_SCATTER, 3, 2, {{100, 0, 7}}).text(),
            "reduce 100>- x3 @0; reduce 103>- x3 @1; reduce 106>0 x1; zero 1 x2; ");
  EXPECT_EQ(Plan(BR_ALL_GATHER, 3, 2, {{0, 100, 7}}).text(),
            "copy 0>106 1x1; send 0>- x1 @0; recv ->100 x3 @0; send 0>- x1 @1; recv ->103 x3 @1; ");
  // The block is already in place.
  EXPECT_EQ(Plan(BR_ALL_GATHER, 3, 2, {{106, 100, 7}}).text(),
            "send 106>- x1 @0; recv ->100 x3 @0; send 106>- x1 @1; recv ->103 x3 @1; ");
}

TEST(CollectivePlan, movesNothingOfBlocksThatAreEmpty) {
  EXPECT_EQ(Plan(BR_SCATTER, 4, 3, {{100, 0, 3}}).text(), "zero 0 x1; ");
  EXPECT_EQ(Plan(BR_SCATTER, 4, 0, {{100, 0, 3}}).text(), "copy 100>0 1x1; send 101>- x1 @1; send 102>- x1 @2; ");
}

// Two rows of two blocks of three.
TEST(CollectivePlan, packsBlocksThatAreCutFromRows) {
  Plan gather(BR_ALL_GATHER, 2, 0, {{0, 100, 12, 1, 2}});
  EXPECT_EQ(gather.text(), "all_gather 0>s0 x6; copy s0>100 2x3; copy s6>103 2x3; ");
  EXPECT_EQ(gather.scratchBytes(), 256u);
  EXPECT_EQ(Plan(BR_REDUCE_SCATTER, 2, 1, {{100, 0, 12, 2, 1}}).text(),
            "copy 100>s0 2x3; copy 103>s6 2x3; reduce_scatter s0>0 x6; ");
  EXPECT_EQ(Plan(BR_ALL_TO_ALL, 2, 0, {{0, 100, 12, 2, 1}}).text(),
            "copy 0>s0 2x3; copy 3>s6 2x3; copy s0>100 1x6; send s6>- x6 @1; recv ->106 x6 @1; ");
}

TEST(CollectivePlan, needsNobodyForARankAlone) {
  EXPECT_EQ(Plan(BR_ALL_REDUCE, 1, 0, {{0, 100, 5}}).text(), "copy 0>100 1x5; ");
  EXPECT_EQ(Plan(BR_ALL_GATHER, 1, 0, {{0, 0, 5, 1, 5}}).text(), "");
  EXPECT_EQ(Plan(BR_BARRIER, 1, 0, {}).text(), "");
  // Except if the library itself is tested.
  auto check = [](br_collective kind, const std::vector<Plan::Part> &parts) {
    return Plan(kind, 1, 0, parts, true, 0, /*communicatesAlone=*/true).text();
  };
  EXPECT_EQ(check(BR_ALL_REDUCE, {{0, 100, 5}}), "all_reduce 0>100 x5; ");
  EXPECT_EQ(check(BR_ALL_GATHER, {{0, 100, 5}}), "all_gather 0>100 x5; ");
  EXPECT_EQ(check(BR_REDUCE_SCATTER, {{0, 100, 5}}), "reduce_scatter 0>100 x5; ");
  EXPECT_EQ(check(BR_BROADCAST, {{0, 100, 5}}), "broadcast 0>100 x5; ");
  EXPECT_EQ(check(BR_BARRIER, {}), "all_reduce s0>s0 x1; ");
}

TEST(CollectivePlan, makesABarrierOfOneElement) {
  EXPECT_EQ(Plan(BR_BARRIER, 2, 0, {}).text(), "all_reduce s0>s0 x1; ");
}

} // namespace
