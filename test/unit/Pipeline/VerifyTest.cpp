//===- VerifyTest.cpp - tables that are wrong are found -------------------===//

#include "Tables.h"
#include "lib/Pipeline/Messages.h"
#include "lib/Pipeline/Slots.h"
#include <random>

using namespace braid::pipeline;

static const char *const kGood = "0F0,0F1,,,0B0,0B1\n"
                                 ",1F0,1I0,1F1,1I1,1W0,1W1\n";

TEST(Verify, TakesWhatIsRight) { EXPECT_EQ(errorOf(tableOf(kGood)), ""); }

TEST(Verify, OneRankAndOneCell) {
  EXPECT_EQ(errorOf(tableOf("0F0,0B0")), "");
  EXPECT_EQ(errorOf(Table()), "the schedule is empty");
  EXPECT_EQ(errorOf({1, 1, {{}}}), "rank 0 has no cells");
  EXPECT_EQ(errorOf({1, 1, {{{Action::Forward, 1, 0, 3}}}}),
            "rank 0, step 3: 1F0 is not in the 1 stage and 1 microbatch of the schedule");
}

TEST(Verify, ADoubledCell) {
  EXPECT_EQ(errorOf(tableOf("0F0,0F1,0F1,,0B0,0B1\n,1F0,1I0,1F1,1I1,1W0,1W1")),
            "rank 0, step 2: 0F1 occurs twice, first in step 1");
}

TEST(Verify, AMissingCell) {
  EXPECT_EQ(errorOf(tableOf("0F0,,,,0B0,0B1\n,1F0,1I0,1F1,1I1,1W0,1W1")), "rank 0 has no 0F1 for its 0B1 in step 5");
  EXPECT_EQ(errorOf(tableOf("0F0,0F1,,,0B0\n,1F0,1I0,1F1,1I1,1W0,1W1")), "rank 0 has no 0B1 for its 0F1 in step 1");
  EXPECT_EQ(errorOf(tableOf("0F0,0F1,,,0B0,0B1\n,1F0,,1F1,1I1,1W0,1W1")), "rank 1 has no 1I0 for its 1W0 in step 5");
  EXPECT_EQ(errorOf(tableOf("0F0,0F1,,,0B0,0B1\n,1F0,1I0,1F1,1I1,1W0")), "rank 1 has no 1W1 for its 1I1 in step 4");
  EXPECT_EQ(errorOf(tableOf("0F0,0B0\n2F0,2B0")), "no rank runs stage 1 of 3");
}

TEST(Verify, ABackwardInOneAndInTwoParts) {
  EXPECT_EQ(errorOf(tableOf("0F0,0I0,0B0,0W0")),
            "rank 0, step 2: 0B0 repeats part of 0I0 in step 1: a backward is one B, or one I and one W");
  EXPECT_EQ(errorOf(tableOf("0F0,0B0,0W0")),
            "rank 0, step 2: 0W0 repeats part of 0B0 in step 1: a backward is one B, or one I and one W");
}

TEST(Verify, CellsOfARowThatAreSwapped) {
  EXPECT_EQ(errorOf(tableOf("0F0,0B1,,,0B0,0F1\n,1F0,1I0,1F1,1I1,1W0,1W1")),
            "rank 0, step 1: 0B1 comes before 0F1 in step 5, its forward");
  EXPECT_EQ(errorOf(tableOf("0F0,0F1,,,0B0,0B1\n,1F0,1W0,1F1,1I1,1I0,1W1")),
            "rank 1, step 2: 1W0 comes before 1I0 in step 5, its input gradient");
  EXPECT_EQ(errorOf(tableOf("1F0,0F0,1B0,0B0")),
            "rank 0, step 0: 1F0 comes before 0F0 in step 1, whose activation it needs");
  EXPECT_EQ(errorOf(tableOf("0F0,1F0,0B0,1B0")),
            "rank 0, step 2: 0B0 comes before 1B0 in step 3, whose gradient it needs");
}

TEST(Verify, CellsOfTwoRanksThatAreSwapped) {
  EXPECT_EQ(errorOf(tableOf("0F0,1F1,,,0B0,0B1\n,1F0,1I0,0F1,1I1,1W0,1W1")),
            "stage 1 is on two ranks: rank 0, step 1: 1F1; rank 1, step 1: 1F0");
}

TEST(Verify, RanksThatWaitForEachOther) {
  EXPECT_EQ(
      errorOf(tableOf("0F0,0B0,0F1,0B1\n1F0,1F1,1B0,1B1")),
      "deadlock: rank 0 waits at 0B0 in step 1 for 1B0, which rank 1 runs in step 2; rank 1 waits at 1F1 in step 1 "
      "for 0F1, which rank 0 runs in step 2");
}

TEST(Verify, ALongDeadlockIsShortened) {
  // Six ranks with two stages each, in a loop. Microbatch 0 goes round, but rank 0 waits for it before it sends
  // microbatch 1, which rank 1 needs first.
  std::string text = "0F0,6F0,0F1,6F1,6B0,0B0,6B1,0B1\n"
                     "1F1,1F0,7F0,7F1,7B0,1B0,7B1,1B1\n";
  for (int rank = 2; rank < 6; ++rank) {
    std::string there = std::to_string(rank), back = std::to_string(rank + 6);
    text += there + "F0," + there + "F1," + back + "F0," + back + "F1," + back + "B0," + there + "B0," + back + "B1," +
            there + "B1\n";
  }
  EXPECT_EQ(
      errorOf(tableOf(text)),
      "deadlock: rank 0 waits at 6F0 in step 1 for 5F0, which rank 5 runs in step 0; rank 5 waits at 5F0 in step 0 "
      "for 4F0, which rank 4 runs in step 0; rank 4 waits at 4F0 in step 0 for 3F0, which rank 3 runs in step 0; "
      "rank 3 waits at 3F0 in step 0 for 2F0, which rank 2 runs in step 0; and so on, 6 ranks in all");
}

TEST(Verify, TheLimitOfWhatIsHeld) {
  EXPECT_EQ(errorOf(tableOf(kGood), 2), "");
  EXPECT_EQ(errorOf(tableOf(kGood), 1),
            "rank 0, step 1: with 0F1 the rank holds 2 microbatches of its stages, above the limit of 1");
}

//===----------------------------------------------------------------------===//
// Random schedules
//===----------------------------------------------------------------------===//

/// A valid table: stages on random ranks. The next cell is always a random one whose inputs exist.
static Table randomTable(std::mt19937 &random) {
  auto below = [&](unsigned n) { return static_cast<unsigned>(random() % n); };
  unsigned ranks = 1 + below(4);
  Table table{ranks + below(4), 1 + below(5), std::vector<Table::Row>(ranks)};
  std::vector<unsigned> rankOf;
  for (unsigned stage = 0; stage < table.numStages; ++stage)
    rankOf.push_back(stage < ranks ? stage : below(ranks));
  struct Progress {
    bool forward = false, gradient = false, isWhole = false, over = false;
  };
  std::vector<std::vector<Progress>> done(table.numStages, std::vector<Progress>(table.numMicrobatches));
  for (unsigned left = table.numStages * table.numMicrobatches; left;) {
    unsigned stage = below(table.numStages), microbatch = below(table.numMicrobatches);
    Progress &progress = done[stage][microbatch];
    Table::Row &row = table.rows[rankOf[stage]];
    auto add = [&](Action action) { row.push_back({action, stage, microbatch, unsigned(row.size())}); };
    bool hasActivation = stage == 0 || done[stage - 1][microbatch].forward;
    bool hasGradient = stage + 1 == table.numStages || done[stage + 1][microbatch].gradient;
    if (!progress.forward && hasActivation) {
      progress.forward = true;
      add(Action::Forward);
    } else if (progress.forward && !progress.gradient && hasGradient) {
      progress.gradient = true;
      progress.over = progress.isWhole = below(2);
      add(progress.isWhole ? Action::Backward : Action::InputGradient);
      left -= progress.over;
    } else if (progress.gradient && !progress.over) {
      progress.over = true;
      add(Action::WeightGradient);
      --left;
    }
  }
  return table;
}

TEST(Verify, RandomTablesAreRightAndTheirMessagesToo) {
  std::mt19937 random(1);
  for (int round = 0; round < 500; ++round) {
    Table table = randomTable(random);
    SCOPED_TRACE(textOf(table));
    Schedule schedule = scheduleOf(verify(table));
    EXPECT_EQ(llvm::toString(verify(schedule, planMessages(schedule, simulate(schedule, uniform(schedule))))), "");
    Simulation simulation = simulate(schedule, uniform(schedule));
    EXPECT_GE(simulation.bubble, 0);
    EXPECT_LT(simulation.bubble, 1);
    EXPECT_EQ(assignSlots(schedule, SlotsOf::Rank).counts, peakHeldMicrobatches(schedule));
  }
}

TEST(Verify, PlantedErrorsInRandomTablesAreFound) {
  std::mt19937 random(2);
  unsigned planted = 0;
  for (int round = 0; round < 500; ++round) {
    Table table = randomTable(random);
    Table::Row &row = table.rows[random() % table.rows.size()];
    unsigned index = random() % row.size();
    switch (round % 3) {
    case 0: // doubled
      row.insert(row.begin() + index, row[index]);
      break;
    case 1: // missing
      row.erase(row.begin() + index);
      break;
    case 2: // the first forward of a stage behind the release
      if (row.size() < 2)
        continue;
      std::swap(row.front(), row.back());
      if (row.front().action == Action::Forward)
        continue;
    }
    ++planted;
    EXPECT_NE(errorOf(table), "") << textOf(table);
  }
  EXPECT_GT(planted, 400u);
}
