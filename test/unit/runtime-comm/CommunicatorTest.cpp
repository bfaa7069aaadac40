//===- CommunicatorTest.cpp - wrong calls, and the emulated link ----------===//

#include "Ranks.h"

#include "comm/ThreadsTransport.h"

#include <gtest/gtest.h>

using namespace braid;
using namespace braid::test;

namespace {

class OneRank : public testing::Test {
protected:
  br_comm comm{threadsTransport(std::make_shared<ThreadsHub>(1), 0), 5};
  float data[4] = {1, 2, 3, 4};
  br_segment segment = {data, data, 4, 1, 1};
  br_operation operation = {BR_ALL_REDUCE, BR_SUM, BR_F32, 0, 0, nullptr, 0, &segment, 1};

  std::string startError() {
    br_ticket ticket = 0;
    return br_comm_start(&comm, &operation, &ticket) == BR_OK ? "" : br_comm_error(&comm);
  }
};

TEST_F(OneRank, IsAllThereIs) {
  EXPECT_EQ(br_comm_rank(&comm), 0);
  EXPECT_EQ(br_comm_size(&comm), 1);
  EXPECT_STREQ(br_comm_error(&comm), "");
  EXPECT_EQ(startError(), "");
}

TEST_F(OneRank, RefusesWhatIsNoOperation) {
  operation.kind = static_cast<br_collective>(15);
  EXPECT_EQ(startError(), "operation #1 has kind 15, element type 1 and reduction 0; at least one of them is unknown");
}

TEST_F(OneRank, RefusesReductionsThatATypeLacks) {
  operation.dtype = BR_I1;
  EXPECT_EQ(startError(), "all_reduce: reduction 'sum' is not defined for element type i1");
  operation.dtype = BR_I64;
  operation.reduction = BR_MEAN;
  EXPECT_EQ(startError(), "all_reduce: reduction 'mean' is not defined for element type i64");
}

TEST_F(OneRank, RefusesRanksThatAreNotThere) {
  operation.kind = BR_BROADCAST;
  operation.root = 1;
  EXPECT_EQ(startError(), "broadcast: rank 1 is not in a group of 1");
  operation.kind = BR_SEND;
  operation.root = 0;
  EXPECT_EQ(startError(), "send: a rank cannot send to itself");
  operation.group = 3;
  EXPECT_EQ(startError(), "operation #1 runs over group 3, but rank 0 has 1 groups");
}

TEST_F(OneRank, RefusesToReceiveWhereAKindMayNot) {
  operation.kind = BR_ALL_TO_ALL;
  segment = {data, data, 4, 1, 1};
  EXPECT_EQ(startError(),
            "all_to_all: segment 0 is received into the memory that it is sent from; give it separate memory");
}

TEST_F(OneRank, RefusesCountsThatAreNoBlocks) {
  segment.count = -1;
  EXPECT_EQ(startError(), "all_reduce: segment 0 has -1 elements");
  operation.kind = BR_ALL_GATHER;
  segment = {data, data, 4, 1, 3};
  EXPECT_EQ(startError(), "all_gather: segment 0 has 4 elements, which are not 3 rows of 1 equal blocks");
}

TEST_F(OneRank, RefusesPairsThatShareATarget) {
  int32_t pairs[] = {0, 0, 0, 0};
  operation.kind = BR_PERMUTE;
  operation.pairs = pairs;
  operation.n_pairs = 2;
  EXPECT_EQ(startError(), "permute: rank 0 is the source of two pairs; expected at most one");
  pairs[1] = 5;
  EXPECT_EQ(startError(), "permute: the target of a pair is rank 5, but the group has 1 ranks");
}

TEST_F(OneRank, RefusesGroupsOfOthers) {
  int32_t ranks[] = {0, 0}, group = 0;
  EXPECT_EQ(br_comm_group(&comm, ranks, 2, &group), BR_ERROR);
  EXPECT_STREQ(br_comm_error(&comm), "invalid group {0, 0}: expected one or more distinct ranks below 1");
}

TEST_F(OneRank, RefusesToWaitForWhatWasNotStarted) {
  EXPECT_EQ(br_comm_wait(&comm, 1), BR_ERROR);
  EXPECT_STREQ(br_comm_error(&comm), "rank 0 waits for operation #1, but has started 0");
}

//===----------------------------------------------------------------------===//
// The emulated link
//===----------------------------------------------------------------------===//

double secondsOf(const std::string &body, LinkModel link) {
  std::vector<Outcome> outcomes = runRanks(Over::Threads, 2, body, {20, link});
  expectSuccess(outcomes);
  return std::stod(outcomes[0].report);
}

// Upper bounds leave room for other work on the machine.
TEST(Link, TakesLatencyAndBandwidth) {
  // 2 * 1/2 * 40 KB at 1 MB/s, and twice 5 ms.
  double seconds = secondsOf("timeOfReductions", {0.005, 1e6});
  EXPECT_GE(seconds, 0.050);
  EXPECT_LE(seconds, 0.100);
}

TEST(Link, IsHiddenBehindCompute) {
  // 240 ms of latency beside 200 ms of compute.
  double seconds = secondsOf("overlappedTime", {0.120, 1e9});
  EXPECT_GE(seconds, 0.240);
  EXPECT_LE(seconds, 0.400);
}

} // namespace
