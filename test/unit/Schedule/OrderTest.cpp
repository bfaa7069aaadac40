//===- OrderTest.cpp - who comes to the end, and who waits for whom -------===//

#include "Communications.h"
#include "gtest/gtest.h"

using namespace braid;
using namespace braid::test;
using Communication = OrderProblem::Communication;
using Step = OrderProblem::Step;

namespace {

/// Communications that are waited for right after their start.
OrderProblem::Class inOrder(std::vector<Communication> communications) {
  OrderProblem::Class cls{std::move(communications), {}};
  for (unsigned i = 0; i < cls.communications.size(); ++i) {
    cls.steps.push_back({Step::Start, i});
    cls.steps.push_back({Step::Wait, i});
  }
  return cls;
}

/// Communications that all start before the first wait.
OrderProblem::Class overlapped(std::vector<Communication> communications) {
  OrderProblem::Class cls{std::move(communications), {}};
  for (unsigned i = 0; i < cls.communications.size(); ++i)
    cls.steps.push_back({Step::Start, i});
  for (unsigned i = 0; i < cls.communications.size(); ++i)
    cls.steps.push_back({Step::Wait, i});
  return cls;
}

/// Two stages of two ranks: axes pp and dp, communicators {pp}, {dp}, {pp, dp}.
OrderProblem stages(std::vector<OrderProblem::Class> classes) {
  std::vector<unsigned> classOf;
  for (unsigned i = 0; i < classes.size(); ++i)
    classOf.push_back(i);
  return {{int64_t(classes.size()), 2}, {{0}, {1}, {0, 1}}, std::move(classes), 0, classOf};
}

std::vector<int64_t> ranksOf(const Deadlock &found) {
  std::vector<int64_t> ranks;
  for (const RankState &state : found.ranks)
    ranks.push_back(state.rank);
  return ranks;
}

TEST(Order, FaultsOfTickets) {
  auto fault = [](std::vector<Step> steps) {
    OrderProblem problem{{2}, {{0}}, {{{group(0), group(0)}, std::move(steps)}}, std::nullopt, {}};
    return check(problem);
  };
  Step start0{Step::Start, 0}, start1{Step::Start, 1}, wait0{Step::Wait, 0}, wait1{Step::Wait, 1};
  EXPECT_FALSE(fault({start0, start1, wait1, wait0}));
  EXPECT_EQ(fault({start1, start0, wait1, wait0})->kind, OrderFault::StartedOutOfOrder);
  EXPECT_EQ(fault({start0, wait1, start1, wait0})->kind, OrderFault::WaitedBeforeStart);
  EXPECT_EQ(fault({start0, start1, wait0, wait0, wait1})->kind, OrderFault::WaitedTwice);
  EXPECT_EQ(fault({start0, start1, wait1})->kind, OrderFault::NeverWaited);
  EXPECT_EQ(fault({start0, start1, wait1})->communication, 0u);
}

TEST(Order, OneRankStandsForAnSpmdProgram) {
  std::vector<Communication> list;
  for (unsigned i = 0; i < 5000; ++i)
    list.push_back(group(i % 3, i));
  OrderProblem problem{{32, 32}, {{0}, {1}, {0, 1}}, {inOrder(list)}, std::nullopt, {}};
  std::vector<RankState> states = simulate(problem);
  ASSERT_EQ(states.size(), 1u);
  EXPECT_EQ(states[0].completed, 5000u);
  EXPECT_FALSE(findDeadlock(problem));
}

TEST(Order, OneRankStandsForAStage) {
  // Eight stages of 128 ranks: microbatches pass through, and gradients are reduced.
  std::vector<OrderProblem::Class> classes;
  std::vector<unsigned> classOf;
  for (int64_t stage = 0; stage < 8; ++stage) {
    std::vector<Communication> list;
    for (int microbatch = 0; microbatch < 300; ++microbatch) {
      if (stage > 0)
        list.push_back(recv(0, stage - 1));
      list.push_back(group(1));
      if (stage < 7)
        list.push_back(send(0, stage + 1));
    }
    list.push_back(group(2));
    classes.push_back(overlapped(list));
    classOf.push_back(stage);
  }
  OrderProblem problem{{8, 128}, {{0}, {1}, {0, 1}}, classes, 0, classOf};
  EXPECT_EQ(simulate(problem).size(), 8u);
  EXPECT_EQ(simulate(problem)[3].rank, 3 * 128);
  EXPECT_FALSE(findDeadlock(problem));
}

TEST(Order, CrossedOrderIsACycle) {
  auto found = findDeadlock(stages({inOrder({group(0), send(0, 1)}), inOrder({recv(0, 0), group(0)})}));
  ASSERT_TRUE(found);
  EXPECT_EQ(found->kind, Deadlock::Cycle);
  EXPECT_EQ(ranksOf(*found), (std::vector<int64_t>{0, 2}));
}

TEST(Order, SendsThatBothWaitForAreACycleUnlessARecvIsFirst) {
  EXPECT_TRUE(findDeadlock(stages({inOrder({send(0, 1), recv(0, 1)}), inOrder({send(0, 0), recv(0, 0)})})));
  EXPECT_FALSE(findDeadlock(stages({inOrder({send(0, 1), recv(0, 1)}), inOrder({recv(0, 0), send(0, 0)})})));
  // Starting both does not help: the queue is in order.
  EXPECT_TRUE(findDeadlock(stages({overlapped({send(0, 1), recv(0, 1)}), overlapped({send(0, 0), recv(0, 0)})})));
}

TEST(Order, OneQueueServesAllCommunicators) {
  OrderProblem::Class first = inOrder({group(0), group(1)}), second = inOrder({group(1), group(0)});
  EXPECT_FALSE(findDeadlock(stages({first, second})));
  // With {pp, dp} instead of {dp} they wait for each other.
  for (auto &[cls, at] : {std::pair(&first, 1), std::pair(&second, 0)})
    cls->communications[at] = group(2);
  auto found = findDeadlock(stages({first, second}));
  ASSERT_TRUE(found);
  EXPECT_EQ(found->kind, Deadlock::Cycle);
}

TEST(Order, ComputingWaitsBehindTheHead) {
  // Rank 0 waits for its second start, which is queued behind the first.
  OrderProblem::Class first{{send(0, 1), group(1)},
                            {{Step::Start, 0}, {Step::Start, 1}, {Step::Wait, 1}, {Step::Wait, 0}}};
  auto found = findDeadlock(stages({first, inOrder({group(1)})}));
  ASSERT_TRUE(found);
  EXPECT_EQ(found->kind, Deadlock::Unmatched);
  EXPECT_EQ(found->ranks[0].step, 2u);
  EXPECT_EQ(*found->ranks[0].head(), 0u);
}

TEST(Order, WhoHasNothingLeftIsUnpaired) {
  auto found = findDeadlock(stages({inOrder({send(0, 1), send(0, 1)}), inOrder({recv(0, 0)})}));
  ASSERT_TRUE(found);
  EXPECT_EQ(found->kind, Deadlock::Unmatched);
  EXPECT_EQ(ranksOf(*found), (std::vector<int64_t>{0, 2}));
  EXPECT_EQ(*found->ranks[0].head(), 1u);
}

TEST(Order, RanksThatMeetMustAgree) {
  auto kind = [](Communication a, Communication b) {
    auto found = findDeadlock(stages({inOrder({a}), inOrder({b})}));
    return found ? std::optional(found->kind) : std::nullopt;
  };
  EXPECT_EQ(kind(group(0, 1), group(0, 2)), Deadlock::Mismatch);
  EXPECT_EQ(kind(send(0, 1, 1), recv(0, 0, 2)), Deadlock::Mismatch);
  Communication root = group(0), other = group(0), wrong = group(0);
  other.sent = 0;
  wrong.sent = 0;
  wrong.received = 2;
  EXPECT_EQ(kind(root, other), std::nullopt);
  EXPECT_EQ(kind(root, wrong), Deadlock::Mismatch);
}

TEST(Order, PeersNumberedAlongAnAxisAreSimulatedOneByOne) {
  // Both data parallel ranks of the first stage send to rank (1, 0).
  OrderProblem problem = stages({inOrder({send(2, 2)}), inOrder({recv(2, 0)})});
  EXPECT_EQ(simulate(problem).size(), 4u);
  auto found = findDeadlock(problem);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->kind, Deadlock::Unmatched);
  EXPECT_EQ(ranksOf(*found), (std::vector<int64_t>{1, 2}));
}

} // namespace
