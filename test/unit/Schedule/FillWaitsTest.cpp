//===- FillWaitsTest.cpp - what is computed while something is on its way -===//

#include "lib/Schedule/FillWaits.h"
#include "lib/Schedule/Timeline.h"
#include "gtest/gtest.h"
#include <numeric>
#include <random>

using namespace braid;
using Kind = OverlapProblem::Kind;
using Order = std::vector<unsigned>;

namespace {

OverlapProblem::Action action(Kind kind, double seconds, std::initializer_list<unsigned> dependences,
                              std::initializer_list<unsigned> after = {}) {
  OverlapProblem::Action made;
  made.kind = kind;
  made.seconds = seconds;
  made.dependences = dependences;
  made.antiDependences = after;
  return made;
}
OverlapProblem::Action computes(double seconds, std::initializer_list<unsigned> dependences,
                                std::initializer_list<unsigned> after = {}) {
  return action(Kind::Compute, seconds, dependences, after);
}
OverlapProblem::Action sends(double seconds, std::initializer_list<unsigned> dependences) {
  return action(Kind::Collective, seconds, dependences);
}

OverlapProblem problemOf(std::initializer_list<OverlapProblem::Action> actions) {
  OverlapProblem problem;
  problem.actions = actions;
  return problem;
}

double exposedIn(const OverlapProblem &problem) {
  double exposed = 0;
  for (const Timeline::Collective &collective : simulate(problem, solve(problem)).collectives)
    exposed += collective.exposed;
  return exposed;
}

/// Checks that every action follows its predecessors, and that communication keeps its order.
void expectRight(const OverlapProblem &problem, const Order &order) {
  Order sorted = order;
  llvm::sort(sorted);
  for (unsigned place = 0; place < sorted.size(); ++place)
    ASSERT_EQ(sorted[place], place);
  std::vector<unsigned> places(order.size());
  std::optional<unsigned> last;
  for (unsigned place = 0; place < order.size(); ++place) {
    places[order[place]] = place;
    if (!problem.actions[order[place]].communicates())
      continue;
    if (last) {
      EXPECT_LT(*last, order[place]);
    }
    last = order[place];
  }
  for (unsigned number = 0; number < problem.actions.size(); ++number)
    for (const auto *list : {&problem.actions[number].dependences, &problem.actions[number].antiDependences})
      for (unsigned other : *list)
        EXPECT_LT(places[other], places[number]);
}

} // namespace

TEST(FillWaits, DelaysTheGradientOfAWeight) {
  // dy, dw, dx, the sum of dx, and its reader.
  OverlapProblem problem =
      problemOf({computes(1, {}), computes(2, {0}), computes(2, {0}), sends(2, {2}), computes(1, {3})});
  Order order = fillWaits(problem, Filling::Delay);
  EXPECT_EQ(order, (Order{0, 2, 3, 1, 4}));
  EXPECT_DOUBLE_EQ(exposedIn(problem), 2);
  EXPECT_DOUBLE_EQ(exposedIn(inOrder(problem, order)), 0);
}

TEST(FillWaits, DelaysNoMoreThanTheWaitTakes) {
  OverlapProblem problem = problemOf(
      {computes(1, {}), computes(2, {0}), computes(2, {0}), computes(2, {0}), sends(2, {3}), computes(1, {4})});
  EXPECT_EQ(fillWaits(problem, Filling::Delay), (Order{0, 1, 3, 4, 2, 5}));
}

TEST(FillWaits, HoistsWhatAllTokensShare) {
  // Tokens go out, experts, back; then the shared expert, and the sum.
  OverlapProblem problem = problemOf(
      {computes(1, {}), sends(3, {0}), computes(1, {1}), computes(2, {0}), computes(2, {3}), computes(1, {2, 4})});
  EXPECT_EQ(fillWaits(problem, Filling::Delay), (Order{0, 1, 2, 3, 4, 5}));
  EXPECT_EQ(fillWaits(problem, Filling::DelayAndHoist), (Order{0, 1, 3, 4, 2, 5}));
}

TEST(FillWaits, LeavesWhatOverwritesBehindWhatReads) {
  // 3 overwrites an operand of 2.
  OverlapProblem problem = problemOf({computes(1, {}), sends(3, {0}), computes(1, {1}), computes(2, {0}, {2})});
  EXPECT_EQ(fillWaits(problem, Filling::DelayAndHoist), (Order{0, 1, 2, 3}));
}

TEST(FillWaits, LeavesWhatReadsGatheredParameters) {
  OverlapProblem problem = problemOf({computes(1, {}), sends(3, {0}), computes(1, {1}), action(Kind::Gather, 1, {}),
                                      computes(2, {0, 3}), computes(2, {0})});
  EXPECT_EQ(fillWaits(problem, Filling::DelayAndHoist), (Order{0, 1, 5, 2, 3, 4}));
}

TEST(FillWaits, LeavesTheWaitsOfUpdates) {
  OverlapProblem problem =
      problemOf({computes(1, {}), computes(2, {0}), sends(2, {0}), action(Kind::Update, 1, {2}), computes(1, {0})});
  EXPECT_EQ(fillWaits(problem, Filling::DelayAndHoist), (Order{0, 1, 2, 3, 4}));
}

TEST(FillWaits, TakesNothingFromAnEarlierWait) {
  // 2 hides the first collective, so only 4 is left for the second.
  OverlapProblem problem = problemOf({computes(1, {}), sends(2, {0}), computes(2, {0}), computes(1, {1}),
                                      computes(1, {3}), computes(1, {3}), sends(2, {5}), computes(1, {6})});
  Order order = fillWaits(problem, Filling::Delay);
  EXPECT_EQ(order, (Order{0, 1, 2, 3, 5, 6, 4, 7}));
}

TEST(FillWaits, RandomOrdersAreRightAndExposeNoMore) {
  std::mt19937 random(7);
  double before = 0, after = 0;
  for (unsigned round = 0; round < 500; ++round) {
    OverlapProblem problem;
    unsigned count = 3 + random() % 20;
    for (unsigned number = 0; number < count; ++number) {
      bool isSent = number > 0 && random() % 4 == 0;
      OverlapProblem::Action made =
          isSent ? sends(1 + random() % 3, {unsigned(random() % number)}) : computes(1 + random() % 3, {});
      for (unsigned dependences = number && !isSent ? random() % 3 : 0; dependences > 0; --dependences)
        made.dependences.push_back(random() % number);
      llvm::sort(made.dependences);
      made.dependences.erase(std::unique(made.dependences.begin(), made.dependences.end()), made.dependences.end());
      problem.actions.push_back(made);
    }
    for (Filling filling : {Filling::Delay, Filling::DelayAndHoist}) {
      Order order = fillWaits(problem, filling);
      expectRight(problem, order);
      EXPECT_EQ(order, fillWaits(problem, filling));
      double own = exposedIn(problem), other = exposedIn(inOrder(problem, order));
      EXPECT_LE(other, own);
      before += own;
      after += other;
    }
  }
  EXPECT_LT(after, before * 0.95);
}
