//===- LowerPeakTest.cpp - orders that hold less --------------------------===//

#include "lib/Schedule/LowerPeak.h"
#include "gtest/gtest.h"
#include <numeric>
#include <random>

using namespace braid;

namespace {

std::vector<ActionSlots> slotsIn(llvm::ArrayRef<unsigned> order) {
  std::vector<ActionSlots> slots(order.size());
  for (unsigned place = 0; place < order.size(); ++place)
    slots[order[place]] = {place, place};
  return slots;
}

int64_t peakIn(const PeakProblem &problem, llvm::ArrayRef<unsigned> order) {
  return peakBytes(problem.buffers, slotsIn(order));
}

std::vector<unsigned> own(const PeakProblem &problem) {
  std::vector<unsigned> order(problem.dependences.size());
  std::iota(order.begin(), order.end(), 0);
  return order;
}

void expectRight(const PeakProblem &problem, llvm::ArrayRef<unsigned> order) {
  std::vector<ActionSlots> slots = slotsIn(order);
  for (unsigned action = 0; action < problem.dependences.size(); ++action)
    for (unsigned dependence : problem.dependences[action])
      EXPECT_LT(slots[dependence].begin, slots[action].begin);
}

/// Returns the least peak of all orders.
int64_t minPeak(const PeakProblem &problem) {
  std::vector<unsigned> order = own(problem);
  int64_t least = peakIn(problem, order);
  do {
    std::vector<ActionSlots> slots = slotsIn(order);
    bool isRight = true;
    for (unsigned action = 0; action < order.size() && isRight; ++action)
      for (unsigned dependence : problem.dependences[action])
        isRight &= slots[dependence].begin < slots[action].begin;
    if (isRight)
      least = std::min(least, peakIn(problem, order));
  } while (std::next_permutation(order.begin(), order.end()));
  return least;
}

/// Random actions; each makes a value from results of earlier actions.
PeakProblem randomProblem(std::mt19937 &random, unsigned actions) {
  auto number = [&](unsigned low, unsigned high) { return low + random() % (high - low + 1); };
  PeakProblem problem;
  problem.dependences.resize(actions);
  for (unsigned action = 0; action < actions; ++action) {
    problem.buffers.push_back({int64_t(number(1, 100)), false, number(0, 5) == 0, {action}});
    for (unsigned reads = action ? number(1, 2) : 0; reads > 0; --reads) {
      unsigned read = number(0, action - 1);
      if (llvm::is_contained(problem.dependences[action], read))
        continue;
      problem.dependences[action].push_back(read);
      problem.buffers[read].users.push_back(action);
    }
  }
  return problem;
}

} // namespace

TEST(LowerPeak, WhatIsReadLateIsMadeLate) {
  // 4 reads the result of 0; the peak is between them, at 2.
  PeakProblem problem{{{50, false, false, {0, 4}},
                       {100, false, false, {1, 2}},
                       {100, false, false, {2, 3}},
                       {10, false, false, {3, 4}}},
                      {{}, {}, {1}, {2}, {0, 3}}};
  std::vector<unsigned> order = lowerPeak(problem);
  EXPECT_EQ(order, (std::vector<unsigned>{1, 2, 0, 3, 4}));
  EXPECT_EQ(peakIn(problem, order), 200);
}

TEST(LowerPeak, WhatFreesMemoryRunsEarly) {
  // 4 reads the result of 0 and makes a small value from it.
  PeakProblem problem{
      {{50, false, false, {0, 4}}, {100, false, false, {1, 2}}, {100, false, false, {2, 3}}, {1, false, true, {4}}},
      {{}, {}, {1}, {2}, {0}}};
  std::vector<unsigned> order = lowerPeak(problem);
  expectRight(problem, order);
  EXPECT_LT(peakIn(problem, order), 202);
}

TEST(LowerPeak, WhatDependsOnAMoveMovesWithIt) {
  // 1 makes an equally large value from the result of 0, for 5.
  PeakProblem problem{{{40, false, false, {0, 1}},
                       {40, false, false, {1, 5}},
                       {100, false, false, {2, 3}},
                       {100, false, false, {3, 4}},
                       {1, false, false, {4, 5}}},
                      {{}, {0}, {}, {2}, {3}, {1, 4}}};
  std::vector<unsigned> order = lowerPeak(problem);
  expectRight(problem, order);
  EXPECT_EQ(peakIn(problem, order), 200);
}

TEST(LowerPeak, NothingMovesForTooLittle) {
  PeakProblem problem{{{50, false, false, {0, 4}},
                       {100, false, false, {1, 2}},
                       {100, false, false, {2, 3}},
                       {10, false, false, {3, 4}}},
                      {{}, {}, {1}, {2}, {0, 3}}};
  problem.minGain = 0.3;
  EXPECT_EQ(lowerPeak(problem), own(problem));
  EXPECT_TRUE(lowerPeak({}).empty());
}

// Compares with all orders of small programs: always valid, never worse than the program's own order, and mostly the
// best.
TEST(LowerPeak, RandomProgramsComeNearTheLeastPeak) {
  std::mt19937 random(5);
  unsigned best = 0, rounds = 60;
  for (unsigned round = 0; round < rounds; ++round) {
    PeakProblem problem = randomProblem(random, 4 + random() % 5);
    std::vector<unsigned> order = lowerPeak(problem);
    ASSERT_EQ(order.size(), problem.dependences.size());
    expectRight(problem, order);
    int64_t peak = peakIn(problem, order), least = minPeak(problem);
    EXPECT_LE(peak, peakIn(problem, own(problem)));
    EXPECT_GE(peak, least);
    best += peak == least;
  }
  EXPECT_GE(best, rounds * 2 / 3);
}
