//===- OverlapTest.cpp - starts, waits and updates of small programs ------===//
//
// Seconds are small numbers, with no contention or slack unless a test is about
// them.  A schedule is written as text: `c0 [1 c2 ]1 u3` computes 0, starts 1,
// computes 2, waits for 1 and runs the update 3.
//
//===----------------------------------------------------------------------===//

#include "lib/Schedule/Timeline.h"
#include "gtest/gtest.h"
#include <numeric>
#include <random>

using namespace braid;
using Action = OverlapProblem::Action;
using Buffer = OverlapProblem::Buffer;
using Kind = OverlapProblem::Kind;

namespace {

struct Program : OverlapProblem {
  Program() {
    contention = 1;
    slack = 0;
  }
  unsigned add(Kind kind, double seconds, std::initializer_list<unsigned> needs) {
    actions.push_back({kind, seconds, needs, {}});
    return actions.size() - 1;
  }
  unsigned compute(double seconds, std::initializer_list<unsigned> needs = {}) {
    return add(Kind::Compute, seconds, needs);
  }
  unsigned update(double seconds, std::initializer_list<unsigned> needs) { return add(Kind::Update, seconds, needs); }
  unsigned reduce(double seconds, std::initializer_list<unsigned> needs) {
    return add(Kind::Collective, seconds, needs);
  }
  unsigned gather(double seconds, unsigned unit) {
    unsigned number = add(Kind::Gather, seconds, {});
    actions[number].unit = unit;
    return number;
  }
  void buffer(int64_t bytes, std::initializer_list<unsigned> users) { buffers.push_back({bytes, false, false, users}); }
};

std::string textOf(const OverlapProblem &problem, const OverlapSchedule &schedule) {
  std::string text;
  for (OverlapStep step : schedule.steps) {
    const char *sign = step.kind == OverlapStep::Start                     ? "["
                       : step.kind == OverlapStep::Wait                    ? "]"
                       : problem.actions[step.action].kind == Kind::Update ? "u"
                                                                           : "c";
    text += (text.empty() ? "" : " ") + (sign + std::to_string(step.action));
  }
  return text;
}

/// Solves, verifies, and gives the text.
std::string solved(const OverlapProblem &problem) {
  EXPECT_FALSE(check(problem));
  OverlapSchedule schedule = solve(problem);
  EXPECT_EQ(toString(verify(problem, schedule)), "");
  return textOf(problem, schedule);
}

OverlapSchedule scheduleOf(std::vector<OverlapStep> steps) { return {std::move(steps), {}}; }

} // namespace

TEST(Overlap, ReductionsStartEarlyAndAreAwaitedLate) {
  Program program;
  program.compute(5);
  program.reduce(3, {0});
  program.compute(5, {0});
  program.compute(1, {1, 2});
  EXPECT_EQ(solved(program), "c0 [1 c2 ]1 c3");
}

TEST(Overlap, AWaitThatFreesMemoryComesOnceItIsSurelyOver) {
  Program program;
  program.compute(5);
  program.reduce(3, {0});
  program.compute(2, {0});
  program.compute(2, {2});
  program.compute(2, {4 - 1});
  program.compute(1, {1, 4});
  program.buffer(64, {0, 1});
  program.buffer(64, {1, 5});
  EXPECT_EQ(solved(program), "c0 [1 c2 c3 ]1 c4 c5");
  program.slack = 2;
  EXPECT_EQ(solved(program), "c0 [1 c2 c3 c4 ]1 c5");
}

TEST(Overlap, WhatAnotherCollectiveSendsIsAwaitedEarly) {
  // Reduced within a node, then across.
  Program program;
  program.compute(10);
  program.reduce(3, {0});
  program.reduce(3, {1});
  program.compute(4, {0});
  program.compute(4, {3});
  program.compute(1, {2, 4});
  EXPECT_EQ(solved(program), "c0 [1 c3 ]1 [2 c4 ]2 c5");
}

// Units 0, 1 and 2; the first two are computed for 10 seconds.
TEST(Overlap, GathersStartAsLateAsTheyAreHidden) {
  Program program;
  program.gather(2, 0);
  program.compute(5, {0});
  program.compute(5, {1});
  program.gather(2, 1);
  program.compute(5, {2, 3});
  program.compute(5, {4});
  program.gather(7, 2);
  program.compute(5, {5, 6});
  EXPECT_EQ(solved(program), "[0 ]0 c1 [3 c2 [6 ]3 c4 c5 ]6 c7");
  // Contention: 2 * 3 seconds do not fit into 5.
  program.contention = 3;
  EXPECT_EQ(solved(program), "[0 [3 ]0 c1 c2 [6 ]3 c4 c5 ]6 c7");
  program.contention = 1;
  program.prefetch = 0;
  EXPECT_EQ(solved(program), "[0 ]0 c1 c2 [3 ]3 c4 c5 [6 ]6 c7");
}

TEST(Overlap, PrefetchBoundsTheUnitsAhead) {
  // Gathers take longer than units.
  Program program;
  for (unsigned unit = 0; unit < 4; ++unit) {
    unsigned gather = program.gather(4, unit);
    if (unit == 0)
      program.compute(1, {gather});
    else
      program.compute(1, {gather, gather - 1});
  }
  EXPECT_EQ(solved(program), "[0 [2 ]0 c1 [4 ]2 c3 [6 ]4 c5 ]6 c7");
  EXPECT_EQ(solve(program).heldBy[4], HeldBy::Prefetch);
  program.prefetch = 2;
  EXPECT_EQ(solved(program), "[0 [2 [4 ]0 c1 [6 ]2 c3 ]4 c5 ]6 c7");
  EXPECT_EQ(solve(program).heldBy[4], HeldBy::Nothing);
}

TEST(Overlap, AGatherStartsBeforeTheReductionThatWouldMakeItLate) {
  // In backward: unit 0's gradients are ready when the gather of unit 1 is due.
  Program program;
  program.compute(10);
  program.reduce(5, {0});
  program.gather(3, 0);
  program.compute(4, {0});
  program.compute(4, {2, 3});
  program.update(1, {1});
  EXPECT_EQ(solved(program), "c0 [2 [1 c3 ]2 c4 ]1 u5");
  // The link has time for both.
  program.actions[1].seconds = 1;
  EXPECT_EQ(solved(program), "c0 [1 [2 c3 ]1 u5 ]2 c4");
}

TEST(Overlap, UpdatesRunOnceTheirBucketIsReducedButNotThoseThatHideTheLast) {
  Program program;
  program.compute(10);
  program.reduce(3, {0});
  program.compute(10, {0});
  program.reduce(3, {2});
  program.compute(10, {2});
  program.reduce(2, {4});
  program.update(2, {1});
  program.update(2, {3});
  program.update(2, {5});
  // The last reduction takes 2 seconds: the group before the last hides it.
  EXPECT_EQ(solved(program), "c0 [1 c2 [3 ]1 u6 c4 [5 ]3 u7 ]5 u8");
  // All were started in the order in which they became ready.
  program.earlyUpdates = false;
  EXPECT_EQ(solved(program), "c0 [1 c2 [3 c4 [5 ]1 u6 ]3 u7 ]5 u8");
}

TEST(Overlap, UpdatesThatAreGatheredDoNotWait) {
  Program program;
  program.compute(10);
  program.reduce(3, {0});
  program.compute(10, {0});
  program.reduce(3, {2});
  program.update(2, {1});
  program.reduce(3, {4});
  program.update(2, {3});
  program.reduce(3, {6});
  EXPECT_EQ(solved(program), "c0 [1 c2 [3 ]1 u4 [5 ]3 u6 [7 ]5 ]7");
}

TEST(Overlap, AnUpdateComesAfterWhoReadsTheOldValue) {
  Program program;
  program.compute(10);
  program.reduce(1, {0});
  program.compute(10, {0});
  program.compute(10, {2});
  program.update(1, {1});
  program.actions[4].after.push_back(3);
  program.compute(5, {3});
  EXPECT_EQ(solved(program), "c0 [1 c2 c3 ]1 u4 c5");
}

TEST(Overlap, UpdatesOfAllGradientsStayTogether) {
  // The norm needs both buckets.
  Program program;
  program.compute(10);
  program.reduce(3, {0});
  program.compute(10, {0});
  program.reduce(3, {2});
  program.compute(1, {1, 3});
  program.update(2, {1, 4});
  program.update(2, {3, 4});
  EXPECT_EQ(solved(program), "c0 [1 c2 [3 ]1 ]3 c4 u5 u6");
}

TEST(Overlap, WhatIsCheapToMakeIsSentInTheBeginning) {
  Program program;
  program.compute(10);
  program.compute(1);
  program.reduce(4, {1});
  program.compute(1, {0, 2});
  EXPECT_EQ(solved(program), "c1 [2 c0 ]2 c3");
}

TEST(Overlap, OrderedCollectivesKeepTheirOrder) {
  Program program;
  program.compute(5);
  program.compute(5);
  program.reduce(1, {1});
  program.reduce(1, {0});
  program.actions[2].ordered = program.actions[3].ordered = true;
  EXPECT_EQ(solved(program), "c0 c1 [2 [3 ]2 ]3");
  program.actions[2].ordered = program.actions[3].ordered = false;
  EXPECT_EQ(solved(program), "c0 [3 c1 [2 ]3 ]2");
}

TEST(Overlap, TheLimitHoldsGathersBack) {
  Program program;
  program.gather(2, 0);
  program.compute(5, {0});
  program.compute(1, {1});
  program.gather(2, 1);
  program.compute(5, {2, 3});
  program.buffer(100, {0, 1});
  program.buffer(100, {3, 4});
  program.buffer(10, {1, 2});
  EXPECT_EQ(solved(program), "[0 [3 ]0 c1 c2 ]3 c4");
  program.limit = 150;
  EXPECT_EQ(solved(program), "[0 ]0 c1 [3 c2 ]3 c4");
  EXPECT_EQ(solve(program).heldBy[3], HeldBy::Memory);
  // A limit that the program itself exceeds only keeps it as it is.
  program.limit = 20;
  EXPECT_LE(peakBytes(program, solve(program)), peakBytes(program, plainSchedule(program)));
}

TEST(Overlap, TheLimitMakesWaitsEarly) {
  // The gradients of one step do not fit beside those of the next.
  Program program;
  program.compute(10);
  program.reduce(9, {0});
  program.compute(5, {0});
  program.reduce(9, {2});
  program.update(1, {1});
  program.update(1, {3});
  program.buffer(100, {0, 1});
  program.buffer(100, {2, 3});
  program.buffer(10, {1, 4});
  program.buffer(10, {3, 5});
  EXPECT_EQ(solved(program), "c0 [1 c2 [3 ]1 u4 ]3 u5");
  program.limit = 150;
  EXPECT_EQ(solved(program), "c0 [1 ]1 c2 [3 u4 ]3 u5");
}

TEST(Timeline, SaysWhatIsExposedAndWhy) {
  Program program;
  program.compute(5);
  program.reduce(3, {0});
  program.compute(2, {0});
  program.reduce(3, {2});
  program.compute(1, {1});
  program.compute(1, {3});
  using Step = OverlapStep;
  OverlapSchedule schedule = scheduleOf({{Step::Run, 0},
                                         {Step::Start, 1},
                                         {Step::Run, 2},
                                         {Step::Start, 3},
                                         {Step::Wait, 1},
                                         {Step::Run, 4},
                                         {Step::Wait, 3},
                                         {Step::Run, 5}});
  ASSERT_EQ(toString(verify(program, schedule)), "");
  Timeline timeline = simulate(program, schedule);
  // 1 runs from 5 to 8, 3 from 8 to 11; computing is at 7 and then at 9.
  EXPECT_EQ(timeline.collectives[1].exposed, 1);
  EXPECT_EQ(timeline.collectives[1].waitsFor, 0u);
  EXPECT_EQ(timeline.collectives[3].exposed, 2);
  EXPECT_EQ(timeline.collectives[3].waitsFor, 1u);
  EXPECT_EQ(timeline.seconds, 12);
}

TEST(OverlapVerifier, FindsWhatIsWrong) {
  Program program;
  program.compute(1);
  program.reduce(1, {0});
  program.compute(1, {1});
  using Step = OverlapStep;
  auto fault = [&](std::vector<OverlapStep> steps) { return toString(verify(program, scheduleOf(std::move(steps)))); };
  EXPECT_EQ(fault({{Step::Run, 0}, {Step::Start, 1}, {Step::Wait, 1}, {Step::Run, 2}}), "");
  EXPECT_EQ(fault({{Step::Start, 1}, {Step::Run, 0}, {Step::Wait, 1}, {Step::Run, 2}}),
            "action 1 begins before action 0 is over");
  EXPECT_EQ(fault({{Step::Run, 0}, {Step::Start, 1}, {Step::Run, 2}, {Step::Wait, 1}}),
            "action 2 begins before action 1 is over");
  EXPECT_EQ(fault({{Step::Run, 0}, {Step::Wait, 1}}), "collective 1 is waited for before its start, or twice");
  EXPECT_EQ(fault({{Step::Run, 0}, {Step::Run, 0}}), "action 0 begins twice");
  EXPECT_EQ(fault({{Step::Run, 0}, {Step::Run, 1}}), "action 1 is not of the kind of its step");
  EXPECT_EQ(fault({{Step::Run, 0}, {Step::Start, 1}, {Step::Wait, 1}}), "action 2 is never over");
  program.actions[0].needs.push_back(2);
  EXPECT_EQ(toString(check(program)), "action 0 comes after action 2 in the program, but before it in its order");
}

TEST(OverlapVerifier, CountsUnitsAhead) {
  Program program;
  program.gather(1, 0);
  program.compute(1, {0});
  program.gather(1, 1);
  program.compute(1, {2});
  program.gather(1, 2);
  program.compute(1, {4});
  using Step = OverlapStep;
  OverlapSchedule schedule = scheduleOf({{Step::Start, 0},
                                         {Step::Start, 2},
                                         {Step::Start, 4},
                                         {Step::Wait, 0},
                                         {Step::Run, 1},
                                         {Step::Wait, 2},
                                         {Step::Run, 3},
                                         {Step::Wait, 4},
                                         {Step::Run, 5}});
  EXPECT_EQ(toString(verify(program, schedule)), "gather 4 of unit 2 starts before action 1, more than 1 units ahead");
  program.prefetch = 2;
  EXPECT_EQ(toString(verify(program, schedule)), "");
}

//===----------------------------------------------------------------------===//
// Random programs
//===----------------------------------------------------------------------===//

/// Forward and backward of some units whose gradients are reduced and that are
/// updated, with random times, sizes, extra edges and options.
static Program randomProgram(std::mt19937 &random) {
  auto number = [&](int low, int high) { return std::uniform_int_distribution<int>(low, high)(random); };
  Program program;
  std::vector<unsigned> computed;
  bool sharded = number(0, 1);
  int size = number(4, 40);
  unsigned units = 0;
  std::vector<unsigned> reductions;
  for (int i = 0; i < size; ++i) {
    std::vector<unsigned> needs;
    if (!computed.empty() && number(0, 3))
      needs.push_back(computed[number(0, computed.size() - 1)]);
    if (sharded && number(0, 2) == 0)
      needs.push_back(program.gather(number(0, 9), units++));
    if (!reductions.empty() && number(0, 5) == 0)
      needs.push_back(reductions[number(0, reductions.size() - 1)]);
    unsigned action = program.compute(number(0, 9));
    program.actions[action].needs.assign(needs.begin(), needs.end());
    computed.push_back(action);
    if (number(0, 2) == 0) {
      reductions.push_back(program.reduce(number(0, 9), {action}));
      program.actions.back().ordered = number(0, 4) == 0;
    }
  }
  for (unsigned reduction : reductions)
    if (number(0, 3)) {
      unsigned update = program.update(number(0, 4), {reduction});
      if (number(0, 1))
        program.actions[update].after.push_back(computed[number(0, computed.size() - 1)]);
      if (number(0, 3) == 0)
        program.reduce(number(0, 9), {update});
    }
  std::vector<Buffer> buffers(program.actions.size());
  for (unsigned action = 0; action < program.actions.size(); ++action) {
    buffers[action] = {number(0, 100), false, number(0, 9) == 0, {action}};
    for (unsigned need : program.actions[action].needs)
      buffers[need].users.push_back(action);
  }
  program.buffers = std::move(buffers);
  program.prefetch = number(0, 3);
  program.earlyUpdates = number(0, 3);
  program.contention = 1 + number(0, 4) * 0.25;
  program.slack = number(0, 2);
  if (number(0, 1))
    program.limit = peakBytes(program, plainSchedule(program)) * number(8, 15) / 10;
  return program;
}

TEST(Overlap, RandomProgramsAreRightAndNoSlower) {
  std::mt19937 random(7);
  for (int round = 0; round < 2000; ++round) {
    Program program = randomProgram(random);
    ASSERT_EQ(toString(check(program)), "");
    OverlapSchedule schedule = solve(program), plain = plainSchedule(program);
    ASSERT_EQ(toString(verify(program, plain)), "") << "round " << round;
    ASSERT_EQ(toString(verify(program, schedule)), "") << "round " << round;
    ASSERT_EQ(textOf(program, schedule), textOf(program, solve(program)));
    // Computing and communicating one after another is the slowest there is.
    EXPECT_LE(simulate(program, schedule).seconds, simulate(program, plain).seconds + 1e-9) << "round " << round;
  }
}

// A program of 96 layers has some thousands of actions; ten times as many take
// about ten times as long.
TEST(Overlap, ManyActionsAreScheduledInLittleTime) {
  Program program;
  unsigned last = program.compute(1);
  for (unsigned unit = 0; unit < 2000; ++unit) {
    unsigned gather = program.gather(8, unit);
    for (int i = 0; i < 10; ++i)
      last = i ? program.compute(1, {last}) : program.compute(1, {last, gather});
    program.update(1, {program.reduce(5, {last})});
  }
  for (unsigned action = 0; action < program.actions.size(); ++action)
    program.buffer(10, {action});
  program.prefetch = 1000;
  program.limit = 1000;
  OverlapSchedule schedule = solve(program);
  EXPECT_EQ(toString(verify(program, schedule)), "");
}
