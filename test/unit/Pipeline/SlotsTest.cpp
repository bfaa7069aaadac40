//===- SlotsTest.cpp - where held microbatches lie ------------------------===//

#include "lib/Pipeline/Slots.h"
#include "Tables.h"
#include <map>
#include <numeric>

using namespace braid::pipeline;

/// Returns whether no microbatch takes a slot that another one still holds.
static void expectApart(const Schedule &schedule, const Slots &slots, SlotsOf owner) {
  std::map<std::pair<unsigned, unsigned>, const Cell *> held;
  for (const Table::Row &row : schedule.getTable().rows)
    for (const Cell &cell : row) {
      unsigned pool = owner == SlotsOf::Stage ? cell.stage : schedule.rankOf(cell.stage);
      unsigned slot = slots.numbers[cell.stage][cell.microbatch];
      EXPECT_LT(slot, slots.counts[pool]);
      const Cell *&holder = held[{pool, slot}];
      if (cell.action == Action::Forward) {
        EXPECT_FALSE(holder) << cell.str();
        holder = &cell;
      }
      ASSERT_TRUE(holder) << cell.str();
      EXPECT_EQ(holder->stage, cell.stage);
      EXPECT_EQ(holder->microbatch, cell.microbatch);
      if (releases(cell.action))
        holder = nullptr;
    }
}

TEST(Slots, AreApartAndAsFewAsCanBe) {
  for (const Generator *generator : generators())
    for (unsigned ranks = 1; ranks <= 6; ++ranks) {
      Schedule schedule = scheduleOf(generate(*generator, {ranks, 3 * ranks, generator->defaultChunks}));
      for (SlotsOf owner : {SlotsOf::Stage, SlotsOf::Rank})
        expectApart(schedule, assignSlots(schedule, owner), owner);
      EXPECT_EQ(assignSlots(schedule, SlotsOf::Rank).counts, peakHeldMicrobatches(schedule));
    }
}

TEST(Slots, OfOneStageAreThoseOfItsRank) {
  Schedule schedule = scheduleOf("1f1b", 4, 8);
  Slots slots = assignSlots(schedule, SlotsOf::Stage);
  EXPECT_EQ(slots.counts, (std::vector<unsigned>{4, 3, 2, 1}));
  EXPECT_EQ(slots.numbers[1], (std::vector<unsigned>{0, 1, 2, 0, 1, 2, 0, 1}));
}

TEST(Slots, StagesOfARankShare) {
  Schedule schedule = scheduleOf("zb-v", 4, 12, 2);
  std::vector<unsigned> apart = assignSlots(schedule, SlotsOf::Stage).counts;
  EXPECT_EQ(assignSlots(schedule, SlotsOf::Rank).counts, (std::vector<unsigned>{8, 8, 8, 8}));
  for (unsigned rank = 0; rank < 4; ++rank)
    EXPECT_EQ(apart[rank] + apart[7 - rank], 9u);
}
