//===- OverlapTest.cpp - starts, waits and updates of small programs ------===//
//
// Seconds are small numbers, with no contention or slack unless a test is about them. A program is written as text: `c5
// r3(0) u1(0,1)` computes for 5 seconds, reduces the result for 3, and runs an update for 1 that needs both; `g2`
// gathers the next unit; `f2` fetches the next unit from the host, and `b2(0)` writes back. A schedule is text, too:
// `c0 [1 c2 ]1 u3` computes 0, starts 1, computes 2, waits for 1 and runs the update 3.
//
//===----------------------------------------------------------------------===//

#include "lib/Schedule/Timeline.h"
#include "gtest/gtest.h"
#include <numeric>
#include <random>
#include <set>
#include <sstream>

using namespace braid;
using Action = OverlapProblem::Action;
using Buffer = OverlapProblem::Buffer;
using Kind = OverlapProblem::Kind;

namespace {

struct OverlapProgram : OverlapProblem {
  OverlapProgram() {
    contention = 1;
    slack = 0;
  }
  OverlapProgram(const std::string &text) : OverlapProgram() {
    std::istringstream words(text);
    char kind, bracket;
    for (double seconds; words >> kind >> seconds;) {
      llvm::SmallVector<unsigned, 4> dependences;
      if (words.peek() == '(')
        for (words >> bracket; bracket != ')'; words >> bracket)
          words >> dependences.emplace_back();
      add(kind == 'c'                  ? Kind::Compute
          : kind == 'u'                ? Kind::Update
          : kind == 'r' || kind == 'b' ? Kind::Collective
                                       : Kind::Gather,
          seconds, dependences,
          kind == 'f'   ? kFromHost
          : kind == 'b' ? kToHost
                        : kRanks);
    }
  }
  unsigned add(Kind kind, double seconds, llvm::ArrayRef<unsigned> dependences, unsigned queue = kRanks) {
    actions.push_back({kind, seconds, llvm::SmallVector<unsigned, 4>(dependences), {}});
    actions.back().queue = queue;
    if (kind == Kind::Gather)
      actions.back().unit = units[queue]++;
    return actions.size() - 1;
  }
  void buffer(int64_t bytes, std::initializer_list<unsigned> users) { buffers.push_back({bytes, false, false, users}); }

  std::array<unsigned, kNumQueues> units = {};
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

OverlapSchedule scheduleOf(const std::string &text) {
  OverlapSchedule schedule;
  std::istringstream words(text);
  char sign;
  for (unsigned action; words >> sign >> action;)
    schedule.steps.push_back({sign == '['   ? OverlapStep::Start
                              : sign == ']' ? OverlapStep::Wait
                                            : OverlapStep::Run,
                              action});
  return schedule;
}

/// Solves, verifies, and returns the schedule as text.
std::string solved(const OverlapProblem &problem) {
  EXPECT_FALSE(check(problem));
  OverlapSchedule schedule = solve(problem);
  EXPECT_EQ(toString(verify(problem, schedule)), "");
  return textOf(problem, schedule);
}

struct OverlapCase {
  const char *what, *program, *schedule;
};

} // namespace

TEST(Overlap, PutsStartsEarlyAndWaitsLate) {
  const OverlapCase cases[] = {
      {"reductions", "c5 r3(0) c5(0) c1(1,2)", "c0 [1 c2 ]1 c3"},
      {"reduced within a node, then across", "c10 r3(0) r3(1) c4(0) c4(3) c1(2,4)", "c0 [1 c3 ]1 [2 c4 ]2 c5"},
      {"what is cheap to make is sent in the beginning", "c10 c1 r4(1) c1(0,2)", "c1 [2 c0 ]2 c3"},
  };
  for (const OverlapCase &c : cases)
    EXPECT_EQ(solved(OverlapProgram(c.program)), c.schedule) << c.what;
}

TEST(Overlap, AWaitThatFreesMemoryComesOnceItIsSurelyOver) {
  OverlapProgram program("c5 r3(0) c2(0) c2(2) c2(3) c1(1,4)");
  program.buffer(64, {0, 1});
  program.buffer(64, {1, 5});
  EXPECT_EQ(solved(program), "c0 [1 c2 c3 ]1 c4 c5");
  program.slack = 2;
  EXPECT_EQ(solved(program), "c0 [1 c2 c3 c4 ]1 c5");
}

// Units 0, 1 and 2; the first two are computed for 10 seconds.
TEST(Overlap, GathersStartAsLateAsTheyAreHidden) {
  OverlapProgram program("g2 c5(0) c5(1) g2 c5(2,3) c5(4) g7 c5(5,6)");
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
  OverlapProgram program("g4 c1(0) g4 c1(2,1) g4 c1(4,3) g4 c1(6,5)");
  EXPECT_EQ(solved(program), "[0 [2 ]0 c1 [4 ]2 c3 [6 ]4 c5 ]6 c7");
  EXPECT_EQ(solve(program).heldBy[4], HeldBy::Prefetch);
  program.prefetch = 2;
  EXPECT_EQ(solved(program), "[0 [2 [4 ]0 c1 [6 ]2 c3 ]4 c5 ]6 c7");
  EXPECT_EQ(solve(program).heldBy[4], HeldBy::Nothing);
}

TEST(Overlap, AGatherStartsBeforeTheReductionThatWouldMakeItLate) {
  // In backward: unit 0's gradients are ready when the gather of unit 1 is due.
  OverlapProgram program("c10 r5(0) g3 c4(0) c4(2,3) u1(1)");
  EXPECT_EQ(solved(program), "c0 [2 [1 c3 ]2 c4 ]1 u5");
  // The link has time for both.
  program.actions[1].seconds = 1;
  EXPECT_EQ(solved(program), "c0 [1 [2 c3 ]1 u5 ]2 c4");
}

TEST(Overlap, UpdatesRunOnceTheirBucketIsReducedButNotThoseThatHideTheLast) {
  OverlapProgram program("c10 r3(0) c10(0) r3(2) c10(2) r2(4) u2(1) u2(3) u2(5)");
  // The last reduction takes 2 seconds: the group before the last hides it.
  EXPECT_EQ(solved(program), "c0 [1 c2 [3 ]1 u6 c4 [5 ]3 u7 ]5 u8");
  // All reductions start in the order in which they become ready.
  program.earlyUpdates = false;
  EXPECT_EQ(solved(program), "c0 [1 c2 [3 c4 [5 ]1 u6 ]3 u7 ]5 u8");
}

TEST(Overlap, UpdatesWaitForWhatTheyNeedAlone) {
  const OverlapCase cases[] = {
      {"those that are gathered do not wait", "c10 r3(0) c10(0) r3(2) u2(1) r3(4) u2(3) r3(6)",
       "c0 [1 c2 [3 ]1 u4 [5 ]3 u6 [7 ]5 ]7"},
      {"the norm needs both buckets: they stay together", "c10 r3(0) c10(0) r3(2) c1(1,3) u2(1,4) u2(3,4)",
       "c0 [1 c2 [3 ]1 ]3 c4 u5 u6"},
  };
  for (const OverlapCase &c : cases)
    EXPECT_EQ(solved(OverlapProgram(c.program)), c.schedule) << c.what;
}

TEST(Overlap, AnUpdateComesAfterWhoReadsTheOldValue) {
  OverlapProgram program("c10 r1(0) c10(0) c10(2) u1(1) c5(3)");
  program.actions[4].antiDependences.push_back(3);
  EXPECT_EQ(solved(program), "c0 [1 c2 c3 ]1 u4 c5");
}

/// Returns the peak number of fetched units with unfinished readers, and the peak number of write-backs in flight.
static std::pair<size_t, size_t> maxInFlight(const OverlapProblem &problem, const OverlapSchedule &schedule) {
  std::set<unsigned> fetched, writeBacks;
  std::vector<bool> over(problem.actions.size());
  std::pair<size_t, size_t> most;
  for (OverlapStep step : schedule.steps) {
    const Action &action = problem.actions[step.action];
    if (step.kind == OverlapStep::Start && action.queue == OverlapProgram::kFromHost)
      fetched.insert(step.action);
    if (step.kind == OverlapStep::Start && action.queue == OverlapProgram::kToHost)
      writeBacks.insert(step.action);
    most = {std::max(most.first, fetched.size()), std::max(most.second, writeBacks.size())};
    if (step.kind == OverlapStep::Wait)
      writeBacks.erase(step.action);
    if (step.kind == OverlapStep::Run)
      for (unsigned dependence : action.dependences)
        fetched.erase(dependence);
  }
  return most;
}

TEST(Overlap, FetchesAndWriteBacksRunBesideEachOther) {
  // Each is updated for a second, and copied for two in each direction.
  OverlapProgram program("c10 f2 c1(0,1) b2(2) f2 c1(0,4) b2(5) f2 c1(0,7) b2(8) f2 c1(0,10) b2(11)");
  OverlapSchedule schedule = solve(program);
  EXPECT_EQ(toString(verify(program, schedule)), "");
  // Only the first two are fetched while 0 computes; then both queues work without a pause.
  EXPECT_EQ(textOf(program, schedule).substr(0, 9), "[1 [4 c0 ") << textOf(program, schedule);
  Timeline timeline = simulate(program, schedule);
  EXPECT_LE(timeline.seconds, 10 + 4 * 2 + 3);
  EXPECT_LE(maxInFlight(program, schedule).first, 2u);
  // After the last fetch nothing waits for write-backs before the end.
  EXPECT_LE(maxInFlight(program, schedule).second, 4u);
}

TEST(Overlap, UpdatesOfReducedGradientsFetchMeanwhile) {
  OverlapProgram program("c10 r5(0) c10(0) f2 u1(1,3) b2(4)");
  EXPECT_EQ(solved(program), "c0 [1 [3 c2 ]1 ]3 u4 [5 ]5");
}

// All updates wait for one number, as after clipping, so their states arrive group by group.
TEST(Overlap, ManyUpdatesOfOneReductionFetchLittleAtATime) {
  for (bool early : {false, true}) {
    OverlapProgram program("c10 r1(0)");
    program.earlyUpdates = early;
    for (int i = 0; i < 20; ++i) {
      unsigned fetch = program.add(Kind::Gather, 2, {}, OverlapProgram::kFromHost);
      unsigned update = program.add(Kind::Update, 1, {1, fetch});
      program.add(Kind::Collective, 2, {update}, OverlapProgram::kToHost);
    }
    OverlapSchedule schedule = solve(program);
    EXPECT_EQ(toString(verify(program, schedule)), "");
    EXPECT_LE(maxInFlight(program, schedule).first, 2u);
    EXPECT_LE(maxInFlight(program, schedule).second, 4u);
    EXPECT_LE(simulate(program, schedule).seconds, 10 + 1 + 20 * 2 + 3);
  }
}

TEST(Overlap, OrderedCollectivesKeepTheirOrder) {
  OverlapProgram program("c5 c5 r1(1) r1(0)");
  program.actions[2].ordered = program.actions[3].ordered = true;
  EXPECT_EQ(solved(program), "c0 c1 [2 [3 ]2 ]3");
  program.actions[2].ordered = program.actions[3].ordered = false;
  EXPECT_EQ(solved(program), "c0 [3 c1 [2 ]3 ]2");
}

TEST(Overlap, TheLimitHoldsGathersBack) {
  OverlapProgram program("g2 c5(0) c1(1) g2 c5(2,3)");
  program.buffer(100, {0, 1});
  program.buffer(100, {3, 4});
  program.buffer(10, {1, 2});
  EXPECT_EQ(solved(program), "[0 [3 ]0 c1 c2 ]3 c4");
  program.limit = 150;
  EXPECT_EQ(solved(program), "[0 ]0 c1 [3 c2 ]3 c4");
  EXPECT_EQ(solve(program).heldBy[3], HeldBy::Memory);
  // With a limit that the program itself exceeds, the program keeps its order.
  program.limit = 20;
  EXPECT_LE(peakBytes(program, solve(program)), peakBytes(program, programOrderSchedule(program)));
}

TEST(Overlap, TheLimitMakesWaitsEarly) {
  // The gradients of one step do not fit beside those of the next.
  OverlapProgram program("c10 r9(0) c5(0) r9(2) u1(1) u1(3)");
  program.buffer(100, {0, 1});
  program.buffer(100, {2, 3});
  program.buffer(10, {1, 4});
  program.buffer(10, {3, 5});
  EXPECT_EQ(solved(program), "c0 [1 c2 [3 ]1 u4 ]3 u5");
  program.limit = 150;
  EXPECT_EQ(solved(program), "c0 [1 ]1 c2 [3 u4 ]3 u5");
}

TEST(Timeline, SaysWhatIsExposedAndWhy) {
  OverlapProgram program("c5 r3(0) c2(0) r3(2) c1(1) c1(3)");
  OverlapSchedule schedule = scheduleOf("c0 [1 c2 [3 ]1 c4 ]3 c5");
  ASSERT_EQ(toString(verify(program, schedule)), "");
  Timeline timeline = simulate(program, schedule);
  // 1 runs from 5 to 8, and 3 from 8 to 11; the clock of computing is 7 and then 9.
  EXPECT_EQ(timeline.collectives[1].exposed, 1);
  EXPECT_EQ(timeline.collectives[1].waitsFor, 0u);
  EXPECT_EQ(timeline.collectives[3].exposed, 2);
  EXPECT_EQ(timeline.collectives[3].waitsFor, 1u);
  EXPECT_EQ(timeline.seconds, 12);
}

TEST(OverlapVerifier, FindsWhatIsWrong) {
  OverlapProgram program("c1 r1(0) c1(1)");
  const std::pair<const char *, const char *> cases[] = {
      {"c0 [1 ]1 c2", ""},
      {"[1 c0 ]1 c2", "action 1 begins before action 0 is over"},
      {"c0 [1 c2 ]1", "action 2 begins before action 1 is over"},
      {"c0 ]1", "collective 1 is waited for before its start, or twice"},
      {"c0 c0", "action 0 begins twice"},
      {"c0 c1", "action 1 is not of the kind of its step"},
      {"c0 [1 ]1", "action 2 is never over"},
  };
  for (auto [schedule, fault] : cases)
    EXPECT_EQ(toString(verify(program, scheduleOf(schedule))), fault);
  program.actions[0].dependences.push_back(2);
  EXPECT_EQ(toString(check(program)), "action 0 comes after action 2 in the program, but before it in its order");
}

TEST(OverlapVerifier, CountsUnitsAhead) {
  OverlapProgram program("g1 c1(0) g1 c1(2) g1 c1(4)");
  OverlapSchedule schedule = scheduleOf("[0 [2 [4 ]0 c1 ]2 c3 ]4 c5");
  EXPECT_EQ(toString(verify(program, schedule)), "gather 4 of unit 2 starts before action 1, more than 1 units ahead");
  program.prefetch = 2;
  EXPECT_EQ(toString(verify(program, schedule)), "");
}

//===----------------------------------------------------------------------===//
// Random programs
//===----------------------------------------------------------------------===//

/// Forward and backward of some units whose gradients are reduced and that are
/// updated, with random times, sizes, extra edges and options.
static OverlapProgram randomProgram(std::mt19937 &random) {
  auto number = [&](int low, int high) { return std::uniform_int_distribution<int>(low, high)(random); };
  OverlapProgram program;
  std::vector<unsigned> computed;
  bool sharded = number(0, 1), offloaded = number(0, 1);
  int size = number(4, 40);
  std::vector<unsigned> reductions;
  for (int i = 0; i < size; ++i) {
    std::vector<unsigned> dependences;
    if (!computed.empty() && number(0, 3))
      dependences.push_back(computed[number(0, computed.size() - 1)]);
    if (sharded && number(0, 2) == 0)
      dependences.push_back(program.add(Kind::Gather, number(0, 9), {}));
    bool isFetched = offloaded && number(0, 3) == 0;
    if (isFetched)
      dependences.push_back(program.add(Kind::Gather, number(0, 9), {}, OverlapProgram::kFromHost));
    if (!reductions.empty() && number(0, 5) == 0)
      dependences.push_back(reductions[number(0, reductions.size() - 1)]);
    unsigned action = program.add(Kind::Compute, number(0, 9), dependences);
    computed.push_back(action);
    if (isFetched)
      program.add(Kind::Collective, number(0, 9), {action}, OverlapProgram::kToHost);
    if (number(0, 2) == 0) {
      reductions.push_back(program.add(Kind::Collective, number(0, 9), {action}));
      program.actions.back().ordered = number(0, 4) == 0;
    }
  }
  for (unsigned reduction : reductions)
    if (number(0, 3)) {
      std::vector<unsigned> dependences = {reduction};
      if (offloaded)
        dependences.push_back(program.add(Kind::Gather, number(0, 9), {}, OverlapProgram::kFromHost));
      unsigned update = program.add(Kind::Update, number(0, 4), dependences);
      if (offloaded)
        program.add(Kind::Collective, number(0, 9), {update}, OverlapProgram::kToHost);
      if (number(0, 1))
        program.actions[update].antiDependences.push_back(computed[number(0, computed.size() - 1)]);
      if (number(0, 3) == 0)
        program.add(Kind::Collective, number(0, 9), {update});
    }
  std::vector<Buffer> buffers(program.actions.size());
  for (unsigned action = 0; action < program.actions.size(); ++action) {
    buffers[action] = {number(0, 100), false, number(0, 9) == 0, {action}};
    for (unsigned dependence : program.actions[action].dependences)
      buffers[dependence].users.push_back(action);
  }
  program.buffers = std::move(buffers);
  program.prefetch = number(0, 3);
  program.earlyUpdates = number(0, 3);
  program.contention = 1 + number(0, 4) * 0.25;
  program.slack = number(0, 2);
  if (number(0, 1))
    program.limit = peakBytes(program, programOrderSchedule(program)) * number(8, 15) / 10;
  return program;
}

TEST(Overlap, RandomProgramsAreRightAndNoSlower) {
  std::mt19937 random(7);
  for (int round = 0; round < 2000; ++round) {
    OverlapProgram program = randomProgram(random);
    ASSERT_EQ(toString(check(program)), "");
    OverlapSchedule schedule = solve(program), plain = programOrderSchedule(program);
    OverlapProgram unlimited = program;
    unlimited.limit.reset();
    ASSERT_EQ(toString(verify(unlimited, plain)), "") << "round " << round;
    ASSERT_EQ(toString(verify(program, leastMemorySchedule(program))), "") << "round " << round;
    ASSERT_EQ(toString(verify(program, schedule)), "") << "round " << round;
    ASSERT_EQ(textOf(program, schedule), textOf(program, solve(program)));
    // No schedule is slower than computing and communicating one after the other.
    EXPECT_LE(simulate(program, schedule).seconds, simulate(program, plain).seconds + 1e-9) << "round " << round;
  }
}

// A program of 96 layers has some thousands of actions; ten times as many take
// about ten times as long.
TEST(Overlap, ManyActionsAreScheduledInLittleTime) {
  OverlapProgram program;
  unsigned last = program.add(Kind::Compute, 1, {});
  for (unsigned unit = 0; unit < 2000; ++unit) {
    last = program.add(Kind::Compute, 1, {last, program.add(Kind::Gather, 8, {})});
    for (int i = 1; i < 10; ++i)
      last = program.add(Kind::Compute, 1, {last});
    program.add(Kind::Update, 1, {program.add(Kind::Collective, 5, {last})});
  }
  for (unsigned action = 0; action < program.actions.size(); ++action)
    program.buffer(10, {action});
  program.prefetch = 1000;
  program.limit = 1000;
  OverlapSchedule schedule = solve(program);
  EXPECT_EQ(toString(verify(program, schedule)), "");
}
