//===- MessagesTest.cpp - what ranks of a pipeline send each other --------===//

#include "lib/Pipeline/Messages.h"
#include "Tables.h"
#include "llvm/ADT/STLExtras.h"

using namespace braid::pipeline;

static std::string textOf(const Schedule &schedule) {
  std::string text;
  llvm::raw_string_ostream os(text);
  writeCsv(schedule, planMessages(schedule), os);
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
  EXPECT_EQ(textOf(scheduleOf(verify(tableOf("0F0,0F1,0B0,0B1\n1F1,1F0,1B0,1B1")))),
            "0F0,0SEND_F0,0F1,0SEND_F1,0RECV_B0,0B0,0RECV_B1,0B1\n"
            "1RECV_F0,1RECV_F1,1F1,1F0,1B0,1SEND_B0,1B1,1SEND_B1\n");
}

TEST(Messages, OfAllGeneratorsAreRight) {
  for (const Generator *generator : generators())
    for (unsigned ranks = 1; ranks <= 6; ++ranks)
      for (unsigned rounds = 1; rounds <= 3; ++rounds) {
        Schedule schedule = scheduleOf(generate(*generator, {ranks, rounds * ranks, generator->usualChunks}));
        MessagePlan plan = planMessages(schedule);
        EXPECT_EQ(llvm::toString(verify(schedule, plan)), "");
        EXPECT_EQ(plan.messages.size(), 2 * rounds * ranks * (ranks - 1) * generator->usualChunks +
                                            (generator == &interleaved() && ranks > 1 ? 2 * rounds * ranks : 0));
      }
}

/// Only in zb-v, where activations and gradients go the same way, is a message received before the
/// cell behind that which takes it.
TEST(Messages, AreMostlyReceivedByTheirReaders) {
  for (const Generator *generator : generators()) {
    Schedule schedule = scheduleOf(generate(*generator, {4, 16, generator->usualChunks}));
    unsigned early = 0;
    for (const auto &row : planMessages(schedule).rows)
      for (const CellMessages &messages : row)
        early += messages.receives.size() > 1;
    EXPECT_EQ(early > 0, generator == &zbV()) << generator->name.str();
  }
}

//===----------------------------------------------------------------------===//
// Planted errors
//===----------------------------------------------------------------------===//

static std::string errorOf(const Schedule &schedule, const MessagePlan &plan) {
  return llvm::toString(verify(schedule, plan));
}

class PlantedMessages : public testing::Test {
protected:
  Schedule schedule = scheduleOf("1f1b", 2, 2);
  MessagePlan plan = planMessages(schedule);
};

TEST_F(PlantedMessages, OneThatIsNotSent) {
  plan.rows[0][0].send.reset();
  EXPECT_EQ(errorOf(schedule, plan), "rank 1, step 1: 1F0 receives the message from 0F0 on rank 0 to 1F0 on rank 1, "
                                     "but the message from 0F1 on rank 0 to 1F1 on rank 1 was sent before it");
}

TEST_F(PlantedMessages, OneThatIsNotReceived) {
  plan.rows[0].back().receives.clear(); // its last
  EXPECT_EQ(errorOf(schedule, plan), "rank 0, step 5: 0B1 has not received what rank 1, step 4: 1B1 makes");
}

TEST_F(PlantedMessages, OneThatIsReceivedTwice) {
  plan.rows[1][1].receives = plan.rows[1][0].receives;
  EXPECT_EQ(errorOf(schedule, plan),
            "rank 1, step 2: 1B0 receives the message from 0F0 on rank 0 to 1F0 on rank 1 a second time");
}

TEST_F(PlantedMessages, TwoInAnotherOrder) {
  std::swap(plan.rows[1][0].receives, plan.rows[1][2].receives);
  EXPECT_EQ(errorOf(schedule, plan), "rank 1, step 1: 1F0 receives the message from 0F1 on rank 0 to 1F1 on rank 1, "
                                     "but the message from 0F0 on rank 0 to 1F0 on rank 1 was sent before it");
}

TEST_F(PlantedMessages, OneThatIsWaitedForTooEarly) {
  std::swap(plan.rows[0][0].receives, plan.rows[0][2].receives);
  EXPECT_EQ(errorOf(schedule, plan),
            "deadlock: rank 0, step 0: 0F0 waits for the message from 1B0 on rank 1 to 0B0 on rank 0");
}

TEST_F(PlantedMessages, OneThatIsAnother) {
  plan.rows[0][0].send = plan.rows[0][1].send;
  EXPECT_EQ(errorOf(schedule, plan), "rank 0, step 0: 0F0 sends message 1, which is not its own");
  plan.rows[0][0].send = 77;
  EXPECT_EQ(errorOf(schedule, plan), "rank 0, step 0: 0F0 sends message 77, which is not its own");
  plan.rows[0][0].receives = {77};
  EXPECT_EQ(errorOf(schedule, plan), "rank 0, step 0: 0F0 receives message 77, which is not for its rank");
  plan.rows.pop_back();
  EXPECT_EQ(errorOf(schedule, plan), "the plan has not the cells of the schedule");
}
