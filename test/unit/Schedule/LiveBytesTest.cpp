//===- LiveBytesTest.cpp - live bytes of sequences of actions -------------===//

#include "lib/Schedule/LiveBytes.h"
#include "gtest/gtest.h"
#include <numeric>
#include <random>

using namespace braid;

namespace {

/// Slots 0, 1, 2, …, one for each action.
std::vector<ActionSlots> inARow(unsigned count) {
  std::vector<ActionSlots> slots;
  for (unsigned slot = 0; slot < count; ++slot)
    slots.push_back({slot, slot});
  return slots;
}

} // namespace

TEST(LiveBytes, ABufferLivesFromItsFirstUserToItsLast) {
  // 2 reads the result of 0, and 3 that of 1.
  std::vector<LiveBuffer> buffers{{100, false, false, {0, 2}}, {10, false, false, {1, 3}}};
  LiveBytes live(buffers, inARow(4), 8);
  EXPECT_EQ(live.peak(), 110);
  // With 2 right behind 0, the two values are no longer live together.
  live.move(1, {4, 4});
  live.move(3, {5, 5});
  EXPECT_EQ(live.peak(), 100);
}

TEST(LiveBytes, WhatIsThereBeforeAndWhatStaysCountsUpToTheEnds) {
  std::vector<LiveBuffer> buffers{
      {100, true, false, {2}}, {10, false, true, {1}}, {1000, true, false, {}}, {1, true, false, {0}}};
  // Before the first action there are inputs that nothing reads, too.
  EXPECT_EQ(LiveBytes(buffers, inARow(3), 3).peak(), 1101);
  buffers[2].bytes = 0;
  EXPECT_EQ(LiveBytes(buffers, inARow(3), 3).peak(), 110);
  EXPECT_EQ(peakBytes(buffers, inARow(3)), 110);
}

TEST(LiveBytes, AnActionThatBeginsAndEndsHoldsItsBuffersAllTheTime) {
  std::vector<LiveBuffer> buffers{{100, false, false, {0}}, {10, false, false, {1}}};
  std::vector<ActionSlots> slots{{0, 0}, {1, 1}};
  EXPECT_EQ(LiveBytes(buffers, slots, 4).peak(), 100);
  slots[0].end = 2;
  EXPECT_EQ(LiveBytes(buffers, slots, 4).peak(), 110);
}

// Incremental counts equal counts from scratch after any moves.
TEST(LiveBytes, RandomMovesAreAsCountedFromScratch) {
  std::mt19937 random(3);
  auto number = [&](unsigned low, unsigned high) { return low + random() % (high - low + 1); };
  for (int round = 0; round < 300; ++round) {
    unsigned actions = number(1, 30), slots = 4 * actions;
    std::vector<LiveBuffer> buffers(number(0, 40));
    for (LiveBuffer &buffer : buffers) {
      buffer = {int64_t(number(0, 100)), number(0, 4) == 0, number(0, 4) == 0, {}};
      for (unsigned action = 0; action < actions; ++action)
        if (number(0, actions / 3) == 0)
          buffer.users.push_back(action);
    }
    // Each action begins and ends at slots of its own.
    std::vector<unsigned> free(slots);
    std::iota(free.begin(), free.end(), 0);
    auto take = [&] {
      std::swap(free[number(0, free.size() - 1)], free.back());
      unsigned slot = free.back();
      free.pop_back();
      return slot;
    };
    auto place = [&]() -> ActionSlots {
      unsigned begin = take(), end = number(0, 1) ? begin : take();
      return {std::min(begin, end), std::max(begin, end)};
    };
    std::vector<ActionSlots> at;
    for (unsigned action = 0; action < actions; ++action)
      at.push_back(place());
    LiveBytes live(buffers, at, slots);
    ASSERT_EQ(live.peak(), peakBytes(buffers, at)) << "round " << round;
    for (int move = 0; move < 50; ++move) {
      unsigned action = number(0, actions - 1);
      ActionSlots from = at[action];
      at[action] = place();
      free.push_back(from.begin);
      if (from.end != from.begin)
        free.push_back(from.end);
      live.move(action, at[action]);
      ASSERT_EQ(live.peak(), peakBytes(buffers, at)) << "round " << round << ", move " << move;
    }
  }
}
