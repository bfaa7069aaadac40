//===- WalkTest.cpp - what each rank of a pipeline does, step by step -----===//

#include "lib/Pipeline/Walk.h"
#include "Tables.h"
#include "lib/Pipeline/Slots.h"
#include "llvm/ADT/STLExtras.h"
#include <random>

using namespace braid::pipeline;

static std::string stepsOf(const Walk &walk, unsigned rank) {
  std::string text;
  for (const WalkStep &step : walk.ranks[rank])
    text += (text.empty() ? "" : ", ") + step.str();
  return text;
}

static std::string errorOf(const Schedule &schedule, const Walk &walk) {
  return llvm::toString(verify(schedule, walk));
}

TEST(Walk, RunsCellsBesideMessages) {
  Walk walk = makeWalk(scheduleOf("1f1b", 2, 1));
  EXPECT_EQ(stepsOf(walk, 0), "0F0, 0SEND_F0, 0RECV_B0, wait for 0RECV_B0, 0B0, wait for 0SEND_F0");
  EXPECT_EQ(stepsOf(walk, 1), "1RECV_F0, wait for 1RECV_F0, 1F0, 1B0, 1SEND_B0, wait for 1SEND_B0");
}

TEST(Walk, WaitsForAMessageBeforeItsSlotIsWrittenAgain) {
  Walk walk = makeWalk(scheduleOf("gpipe", 2, 3));
  const BufferSlots &sent = walk.slots(0, Buffer::ActivationOut);
  EXPECT_EQ(sent.count, kSendSlots);
  EXPECT_EQ(sent.slotOf, (std::vector<unsigned>{0, 1, 0}));
  EXPECT_NE(stepsOf(walk, 0).find("0F0, 0SEND_F0, 0F1, 0SEND_F1, wait for 0SEND_F0, 0F2, 0SEND_F2"), std::string::npos)
      << stepsOf(walk, 0);
}

TEST(Walk, NeighboursOnARankShareSlots) {
  // Stages 1 and 2 are both on rank 1.
  Schedule schedule = scheduleOf("zb-v", 2, 3, 2);
  Walk walk = makeWalk(schedule);
  EXPECT_EQ(walk.slots(1, Buffer::ActivationOut).count, 0u);
  EXPECT_EQ(walk.slots(2, Buffer::GradientOut).count, 0u);
  EXPECT_GT(walk.slots(2, Buffer::ActivationIn).count, 0u);
  EXPECT_GT(walk.slots(1, Buffer::GradientIn).count, 0u);
  for (const WalkStep &step : walk.ranks[1])
    EXPECT_FALSE(step.kind != WalkStep::Run && step.isSend && step.stage == 1 && step.action == Action::Forward);
}

/// Returns the peak number of microbatches that a stage holds, from its row alone.
static unsigned maxHeld(const Schedule &schedule, unsigned stage) {
  unsigned held = 0, most = 0;
  for (const Cell &cell : schedule.getTable().rows[schedule.rankOf(stage)])
    if (cell.stage == stage) {
      held += cell.action == Action::Forward;
      most = std::max(most, held);
      held -= releases(cell.action);
    }
  return most;
}

static void expectRight(const Schedule &schedule, const std::string &what) {
  Walk walk = makeWalk(schedule);
  EXPECT_EQ(errorOf(schedule, walk), "") << what;
  std::vector<unsigned> ofStages = assignSlots(schedule, SlotsOf::Stage).counts;
  for (unsigned stage = 0; stage < schedule.numStages(); ++stage) {
    EXPECT_EQ(walk.slots(stage, Buffer::Saved).count, maxHeld(schedule, stage)) << what << ", stage " << stage;
    EXPECT_EQ(walk.slots(stage, Buffer::Saved).count, ofStages[stage]) << what << ", stage " << stage;
    // The ends receive nothing, and receives start at most this far ahead.
    EXPECT_EQ(walk.slots(stage, Buffer::ActivationIn).count == 0, stage == 0);
    EXPECT_EQ(walk.slots(stage, Buffer::GradientIn).count == 0, stage + 1 == schedule.numStages());
    EXPECT_LE(walk.slots(stage, Buffer::ActivationIn).count, maxHeld(schedule, stage) + kReceivesAhead + 1) << what;
    for (Buffer buffer : {Buffer::ActivationOut, Buffer::GradientOut})
      EXPECT_LE(walk.slots(stage, buffer).count, kSendSlots);
  }
}

TEST(Walk, OfAllGeneratorsIsRight) {
  for (const Generator *generator : generators())
    for (unsigned ranks = 1; ranks <= 6; ++ranks)
      for (unsigned microbatches : {ranks, 2 * ranks, 3 * ranks, 2 * ranks + 1})
        for (unsigned chunks : {1, 2, 3}) {
          Shape shape{ranks, microbatches, chunks};
          if (llvm::Error error = check(*generator, shape)) {
            llvm::consumeError(std::move(error));
            continue;
          }
          expectRight(scheduleOf(generate(*generator, shape)),
                      (generator->name + " " + std::to_string(ranks) + " " + std::to_string(microbatches) + " " +
                       std::to_string(chunks))
                          .str());
        }
}

TEST(Walk, HoldsWhatThePeakOfTheScheduleSays) {
  for (const Generator *generator : generators()) {
    if (generator->defaultChunks != 1)
      continue; // stages of a rank have their peaks at different times
    Schedule schedule = scheduleOf(generate(*generator, {4, 12, 1}));
    Walk walk = makeWalk(schedule);
    std::vector<unsigned> peaks = peakHeldMicrobatches(schedule);
    for (unsigned rank = 0; rank < 4; ++rank)
      EXPECT_EQ(walk.slots(rank, Buffer::Saved).count, peaks[rank]) << generator->name.str();
  }
}

/// Stages on random ranks, and cells in a random order that respects inputs.
static Schedule randomSchedule(std::mt19937 &random) {
  unsigned ranks = 1 + random() % 4, stages = ranks + random() % 4, microbatches = 1 + random() % 5;
  std::vector<unsigned> rankOf(stages);
  for (unsigned stage = 0; stage < stages; ++stage)
    rankOf[stage] = stage < ranks ? stage : random() % ranks;
  std::shuffle(rankOf.begin(), rankOf.end(), random);
  bool splits = random() % 2;
  Table table;
  table.numStages = stages;
  table.numMicrobatches = microbatches;
  table.rows.resize(ranks);
  // For each microbatch its next cell, and the W that can run.
  std::vector<unsigned> next(microbatches, 0);
  std::vector<Cell> waiting;
  unsigned step = 0;
  auto isDone = [&](unsigned microbatch) { return next[microbatch] == 2 * stages; };
  while (!waiting.empty() || !llvm::all_of(llvm::seq(microbatches), isDone)) {
    unsigned microbatch = random() % microbatches;
    if (!waiting.empty() && (isDone(microbatch) || random() % 3 == 0)) {
      std::swap(waiting[random() % waiting.size()], waiting.back());
      waiting.back().step = step++;
      table.rows[rankOf[waiting.back().stage]].push_back(waiting.back());
      waiting.pop_back();
      continue;
    }
    if (isDone(microbatch))
      continue;
    unsigned at = next[microbatch]++;
    bool isForward = at < stages;
    unsigned stage = isForward ? at : 2 * stages - 1 - at;
    Action action = isForward ? Action::Forward : splits ? Action::InputGradient : Action::Backward;
    table.rows[rankOf[stage]].push_back({action, stage, microbatch, step++});
    if (action == Action::InputGradient)
      waiting.push_back({Action::WeightGradient, stage, microbatch, 0});
  }
  return scheduleOf(verify(std::move(table)));
}

TEST(Walk, OfRandomTablesIsRight) {
  std::mt19937 random(11);
  for (int round = 0; round < 2000; ++round) {
    Schedule schedule = randomSchedule(random);
    expectRight(schedule, braid::pipeline::textOf(schedule.getTable()));
    if (HasFailure())
      return;
  }
}

//===----------------------------------------------------------------------===//
// Planted errors
//===----------------------------------------------------------------------===//

class PlantedWalk : public testing::Test {
protected:
  std::string error() { return errorOf(schedule, walk); }
  /// The number of a step on a rank, by its text.
  unsigned find(unsigned rank, const std::string &text) {
    for (unsigned number = 0; number < walk.ranks[rank].size(); ++number)
      if (walk.ranks[rank][number].str() == text)
        return number;
    ADD_FAILURE() << text << " is not in " << stepsOf(walk, rank);
    return 0;
  }
  void erase(unsigned rank, const std::string &text) {
    walk.ranks[rank].erase(walk.ranks[rank].begin() + find(rank, text));
  }
  void move(unsigned rank, const std::string &text, unsigned to) {
    WalkStep step = walk.ranks[rank][find(rank, text)];
    erase(rank, text);
    walk.ranks[rank].insert(walk.ranks[rank].begin() + to, step);
  }
  BufferSlots &slots(unsigned stage, Buffer buffer) { return walk.stages[stage][static_cast<unsigned>(buffer)]; }

  Schedule schedule = scheduleOf("1f1b", 2, 4);
  Walk walk = makeWalk(schedule);
};

TEST_F(PlantedWalk, IsRightAtFirst) {
  EXPECT_EQ(error(), "");
  EXPECT_EQ(slots(0, Buffer::Saved).slotOf, (std::vector<unsigned>{0, 1, 0, 1}));
}

TEST_F(PlantedWalk, ASlotThatIsUsedTooEarly) {
  slots(0, Buffer::Saved).slotOf = {0, 0, 1, 1};
  EXPECT_EQ(error(), "0F1 writes over microbatch 0 in slot 0, which stage 0 still needs");
}

TEST_F(PlantedWalk, ASlotThatIsNotThere) {
  slots(0, Buffer::Saved).slotOf[1] = 2;
  EXPECT_EQ(error(), "0F1 uses slot 2 of 2");
  slots(0, Buffer::Saved).slotOf[1] = 1;
  slots(0, Buffer::Saved).count = 1;
  EXPECT_EQ(error(), "0F1 uses slot 1 of 1");
}

TEST_F(PlantedWalk, AReceiveIntoASlotThatIsRead) {
  ASSERT_GT(slots(1, Buffer::ActivationIn).count, 1u);
  slots(1, Buffer::ActivationIn).slotOf[1] = slots(1, Buffer::ActivationIn).slotOf[0];
  EXPECT_EQ(error(), "1RECV_F1 writes over microbatch 0 in slot 0, which stage 1 still needs");
}

TEST_F(PlantedWalk, AReceiveThatNobodyWaitsFor) {
  erase(1, "wait for 1RECV_F2");
  // The receive takes its slot when it starts, but the tensor may not have arrived.
  EXPECT_EQ(error(), "1F2 does not wait for its activation");
}

TEST_F(PlantedWalk, AReceiveThatIsNotStarted) {
  erase(1, "1RECV_F3");
  EXPECT_NE(error(), "");
}

TEST_F(PlantedWalk, ASendBeforeItIsMade) {
  move(0, "0SEND_F0", 0);
  EXPECT_EQ(error(), "0SEND_F0 does not find microbatch 0 in slot 0");
}

TEST_F(PlantedWalk, ASendThatIsWrittenOver) {
  erase(0, "wait for 0SEND_F0");
  EXPECT_EQ(error(), "0F2 writes over microbatch 0 in slot 0, which stage 0 still needs");
}

TEST_F(PlantedWalk, ASendThatIsUnderWayAtTheEnd) {
  unsigned last = walk.ranks[0].size() - 1;
  ASSERT_EQ(walk.ranks[0][last].kind, WalkStep::Wait);
  walk.ranks[0].pop_back();
  EXPECT_EQ(error(), "stage 0 does not wait until it has sent the activation of microbatch 3");
}

TEST_F(PlantedWalk, StartsInAnotherOrder) {
  // Both slots exist, so only the order of the queues differs: rank 1 receives microbatch 1 first.
  std::swap(walk.ranks[1][find(1, "1RECV_F0")], walk.ranks[1][find(1, "1RECV_F1")]);
  EXPECT_EQ(error().rfind("deadlock: rank ", 0), 0u) << error();
}

TEST_F(PlantedWalk, ACellTwice) {
  walk.ranks[0].insert(walk.ranks[0].begin() + find(0, "0F1"), walk.ranks[0][find(0, "0F0")]);
  EXPECT_EQ(error(), "rank 0 runs 0F0, which is not its next cell");
}

TEST_F(PlantedWalk, CellsInAnotherOrder) {
  std::swap(walk.ranks[1][find(1, "1F0")], walk.ranks[1][find(1, "1F1")]);
  EXPECT_EQ(error(), "rank 1 runs 1F1, which is not its next cell");
}

TEST_F(PlantedWalk, ACellThatIsMissing) {
  for (unsigned rank : {0, 1})
    while (walk.ranks[rank].size() > 0)
      walk.ranks[rank].pop_back();
  EXPECT_EQ(error(), "rank 0 runs 0 cells of 8");
}

TEST_F(PlantedWalk, ACellBeforeItsGradientComes) {
  move(0, "wait for 0RECV_B0", walk.ranks[0].size() - 1);
  EXPECT_EQ(error(), "0B0 does not wait for its gradient");
}

TEST(Walk, DamagedListsAreRefusedOrComeToAnEnd) {
  std::mt19937 random(5);
  Schedule schedule = scheduleOf("zb-v", 3, 5, 2);
  const Walk good = makeWalk(schedule);
  unsigned refused = 0, rounds = 3000;
  for (unsigned round = 0; round < rounds; ++round) {
    Walk walk = good;
    std::vector<WalkStep> &steps = walk.ranks[random() % walk.ranks.size()];
    unsigned at = random() % steps.size(), other = random() % steps.size();
    BufferSlots &slots = walk.stages[random() % walk.stages.size()][random() % kNumBuffers];
    switch (round % 4) {
    case 0:
      std::swap(steps[at], steps[other]);
      break;
    case 1:
      steps.erase(steps.begin() + at);
      break;
    case 2:
      steps.insert(steps.begin() + at, steps[other]);
      break;
    case 3:
      std::swap(slots.slotOf[random() % 5], slots.slotOf[random() % 5]);
      break;
    }
    refused += errorOf(schedule, walk) != "";
  }
  EXPECT_GT(refused, rounds / 2);
}
