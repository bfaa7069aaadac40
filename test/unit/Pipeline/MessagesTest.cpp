//===- MessagesTest.cpp - what ranks of a pipeline send each other --------===//

#include "lib/Pipeline/Messages.h"
#include "Tables.h"
#include <random>

using namespace braid::pipeline;

static MessagePlan planOf(const Schedule &schedule, unsigned ahead = kReceivesAhead) {
  return planMessages(schedule, simulate(schedule, uniform(schedule)), ahead);
}

static std::string textOf(const Schedule &schedule, unsigned ahead = kReceivesAhead) {
  std::string text;
  llvm::raw_string_ostream os(text);
  writeCsv(schedule, planOf(schedule, ahead), os);
  return text;
}

TEST(Messages, GoToTheNeighbours) {
  EXPECT_EQ(textOf(scheduleOf("1f1b", 3, 1)), "0F0,0SEND_F0,0RECV_B0,0B0\n"
                                              "1RECV_F0,1F0,1SEND_F0,1RECV_B0,1B0,1SEND_B0\n"
                                              "2RECV_F0,2F0,2B0,2SEND_B0\n");
}

TEST(Messages, StagesOfARankNeedNone) {
  EXPECT_EQ(textOf(scheduleOf(verify(tableOf("0F0,3F0,3B0,0B0\n1F0,2F0,2I0,1B0,2W0")))),
            "0F0,0SEND_F0,3RECV_F0,3F0,3B0,3SEND_B0,0RECV_B0,0B0\n"
            "1RECV_F0,1F0,2F0,2SEND_F0,2RECV_B0,2I0,1B0,1SEND_B0,2W0\n");
}

TEST(Messages, AreReceivedInTheOrderInWhichTheyAreSent) {
  // Rank 1 takes microbatch 1 first.
  EXPECT_EQ(textOf(scheduleOf(verify(tableOf("0F0,0F1,0B0,0B1\n1F1,1F0,1B0,1B1"))), 0),
            "0F0,0SEND_F0,0F1,0SEND_F1,0RECV_B0,0B0,0RECV_B1,0B1\n"
            "1RECV_F0,1RECV_F1,1F1,1F0,1B0,1SEND_B0,1B1,1SEND_B1\n");
}

TEST(Messages, ReceivesAreStartedAhead) {
  Schedule schedule = scheduleOf("gpipe", 2, 3);
  EXPECT_EQ(planOf(schedule, 2).ranks[1].buffers, 2u);
  EXPECT_EQ(textOf(schedule, 0), "0F0,0SEND_F0,0F1,0SEND_F1,0F2,0SEND_F2,0RECV_B0,0B0,0RECV_B1,0B1,0RECV_B2,0B2\n"
                                 "1RECV_F0,1F0,1RECV_F1,1F1,1RECV_F2,1F2,1B0,1SEND_B0,1B1,1SEND_B1,1B2,1SEND_B2\n");
  EXPECT_EQ(textOf(schedule, 2), "0F0,0SEND_F0,0F1,0SEND_F1,0F2,0SEND_F2,0RECV_B0,0RECV_B1,0B0,0RECV_B2,0B1,0B2\n"
                                 "1RECV_F0,1RECV_F1,1F0,1RECV_F2,1F1,1F2,1B0,1SEND_B0,1B1,1SEND_B1,1B2,1SEND_B2\n");
}

TEST(Messages, OfAllGeneratorsAreRight) {
  for (const Generator *generator : generators())
    for (unsigned ranks = 1; ranks <= 6; ++ranks)
      for (unsigned rounds = 1; rounds <= 3; ++rounds)
        for (StageTimes times : {StageTimes{}, StageTimes{1, 1.5, 0.25, 0.5, 0.125}, StageTimes{0, 1, 0}}) {
          Schedule schedule = scheduleOf(generate(*generator, {ranks, rounds * ranks, generator->defaultChunks}));
          for (unsigned ahead : {0, 1, 4}) {
            MessagePlan plan = planMessages(schedule, simulate(schedule, uniform(schedule, times)), ahead);
            EXPECT_EQ(llvm::toString(verify(schedule, plan)), "");
            // In a loop, the last rank sends back to rank 0. In a V, stages turn around on the last rank.
            unsigned ways = 2 * ((ranks - 1) * generator->defaultChunks + (generator == &interleaved() && ranks > 1));
            EXPECT_EQ(plan.messages.size(), rounds * ranks * ways);
          }
        }
}

/// Queues add to the schedule's time if messages take time.
static double queuedEnd(const Schedule &schedule, StageTimes times, unsigned ahead = kReceivesAhead) {
  std::vector<StageTimes> stages = uniform(schedule, times);
  return simulateQueues(schedule, stages, planMessages(schedule, simulate(schedule, stages), ahead)).end;
}

TEST(Messages, QueuesCostNothingIfMessagesTakeNoTime) {
  for (const Generator *generator : generators())
    for (unsigned ranks = 1; ranks <= 10; ++ranks)
      for (unsigned rounds = 1; rounds <= 4; ++rounds)
        for (StageTimes times : {StageTimes{}, StageTimes{2, 3, 1}, StageTimes{8, 9, 6}}) {
          Schedule schedule = scheduleOf(generate(*generator, {ranks, rounds * ranks, generator->defaultChunks}));
          EXPECT_EQ(queuedEnd(schedule, times), simulate(schedule, uniform(schedule, times)).end)
              << generator->name.str() << " " << ranks << " " << rounds;
          for (const RankMessages &rank : planOf(schedule).ranks)
            EXPECT_LE(rank.buffers, kReceivesAhead + 1);
        }
}

TEST(Messages, OfARankTakeTurns) {
  // Rank 1 receives two microbatches that rank 0 makes at once.
  StageTimes times = {.forward = 1, .inputGradient = 1, .weightGradient = 1, .sendActivation = 4, .sendGradient = 0};
  Schedule schedule = scheduleOf(verify(tableOf("0F0,0F1,0B0,0B1\n1F0,1F1,1B0,1B1")));
  EXPECT_EQ(simulate(schedule, uniform(schedule, times)).end, 13);
  EXPECT_EQ(queuedEnd(schedule, times), 16);
  // Without early receives the second message waits for the reader of the first.
  times.sendActivation = 1;
  schedule = scheduleOf("gpipe", 2, 3);
  EXPECT_EQ(queuedEnd(schedule, times), 13);
  EXPECT_EQ(queuedEnd(schedule, times, 0), 15);
}

//===----------------------------------------------------------------------===//
// Planted errors
//===----------------------------------------------------------------------===//

class PlantedMessages : public testing::Test {
protected:
  std::string error() { return llvm::toString(verify(schedule, plan)); }
  /// 0F0 .. 0F1 ... and 1F0 1B0 1F1 1B1: messages 0F0, 0F1, 1B0, 1B1.
  Schedule schedule = scheduleOf("1f1b", 2, 2);
  MessagePlan plan = planOf(schedule, 0);
};

TEST_F(PlantedMessages, AreNoneAtFirst) {
  EXPECT_EQ(error(), "");
  EXPECT_EQ(plan.ranks[0].queue, (std::vector<unsigned>{0, 1, 2, 3}));
  EXPECT_EQ(plan.ranks[0].started, (std::vector<unsigned>{0, 1, 3, 4, 4}));
  EXPECT_EQ(plan.ranks[1].started, (std::vector<unsigned>{1, 1, 3, 3, 4}));
}

TEST_F(PlantedMessages, OneThatIsMissing) {
  plan.messages.pop_back();
  EXPECT_EQ(error(), "the plan has 3 messages, but the schedule needs 4");
}

TEST_F(PlantedMessages, OneThatIsThereTwice) {
  plan.messages[1] = plan.messages[0];
  EXPECT_EQ(error(), "the message from 0F0 on rank 0 to 1F0 on rank 1 occurs twice");
}

TEST_F(PlantedMessages, OneOfOtherCells) {
  plan.messages[0].consumer = plan.messages[1].consumer;
  EXPECT_EQ(error(), "the message from 0F0 on rank 0 to 1F1 on rank 1 connects cells that exchange no message");
  plan.messages[0].consumer.index = 99;
  EXPECT_EQ(error(), "message 0 belongs to a cell that does not exist");
}

TEST_F(PlantedMessages, OneThatIsNotQueued) {
  plan.ranks[1].queue.pop_back();
  EXPECT_EQ(error(), "rank 1 queues 3 messages instead of 4");
}

TEST_F(PlantedMessages, OneThatIsQueuedTwice) {
  plan.ranks[1].queue[1] = plan.ranks[1].queue[0];
  EXPECT_EQ(error(), "rank 1 queues the message from 0F0 on rank 0 to 1F0 on rank 1 twice");
  plan.ranks[1].queue[1] = 77;
  EXPECT_EQ(error(), "rank 1 queues message 77 of 4");
}

TEST_F(PlantedMessages, OneThatIsStartedTooLate) {
  plan.ranks[1].started[0] = 0;
  EXPECT_EQ(error(), "rank 1, step 1: 1F0 begins before the message from 0F0 on rank 0 to 1F0 on rank 1 is started");
}

TEST_F(PlantedMessages, OneThatIsSentBeforeItIsMade) {
  plan.ranks[0].started[0] = 1;
  EXPECT_EQ(error(),
            "rank 0, step 0: 0F0 has not begun when the message from 0F0 on rank 0 to 1F0 on rank 1 is started");
}

TEST_F(PlantedMessages, StartsThatEndEarly) {
  plan.ranks[0].started.back() = 3;
  EXPECT_EQ(error(), "rank 0 does not start its 4 messages along its 4 cells");
}

TEST_F(PlantedMessages, TwoInAnotherOrder) {
  std::swap(plan.ranks[1].queue[0], plan.ranks[1].queue[1]);
  plan.ranks[1].started[0] = plan.ranks[1].started[1] = 2;
  EXPECT_EQ(error(), "the message from 0F0 on rank 0 to 1F0 on rank 1 is sent before the message from 0F1 on rank 0 to "
                     "1F1 on rank 1, and received after it");
}

TEST_F(PlantedMessages, QueuesThatWaitForEachOther) {
  // Rank 1 sends its first gradient before it receives the second microbatch, rank 0 the other way
  // round.
  std::swap(plan.ranks[1].queue[1], plan.ranks[1].queue[2]);
  plan.ranks[1].started[2] = 3;
  EXPECT_EQ(error(), "deadlock: rank 0, step 3: 0B0 waits for the message from 1B0 on rank 1 to 0B0 on rank 0, and its "
                     "queue for the message from 0F1 on rank 0 to 1F1 on rank 1");
}

TEST(Messages, DamagedPlansAreRefusedOrComeToAnEnd) {
  std::mt19937 random(4);
  Schedule schedule = scheduleOf("zb-v", 3, 5, 2);
  const MessagePlan good = planOf(schedule);
  unsigned refused = 0;
  for (int round = 0; round < 3000; ++round) {
    MessagePlan plan = good;
    RankMessages &rank = plan.ranks[random() % plan.ranks.size()];
    unsigned at = random() % rank.queue.size(), other = random() % rank.queue.size();
    switch (round % 4) {
    case 0:
      std::swap(rank.queue[at], rank.queue[other]);
      break;
    case 1:
      std::swap(plan.messages[rank.queue[at]], plan.messages[rank.queue[other]]);
      break;
    case 2:
      rank.started[random() % rank.started.size()] += random() % 3;
      break;
    case 3:
      rank.started[random() % rank.started.size()] -= random() % 3;
      break;
    }
    if (llvm::Error error = verify(schedule, plan)) {
      EXPECT_NE(llvm::toString(std::move(error)), "");
      ++refused;
      continue;
    }
    Simulation simulation = simulateQueues(schedule, uniform(schedule), plan);
    EXPECT_EQ(simulation.busy, (std::vector<double>{30, 30, 30}));
  }
  EXPECT_GT(refused, 1000u);
}
