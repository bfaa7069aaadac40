//===- SimulateTest.cpp - when each cell of a schedule takes place --------===//

#include "lib/Pipeline/Simulate.h"
#include "Tables.h"
#include <limits>

using namespace braid::pipeline;

TEST(Simulate, FollowsRowsAndInputs) {
  Schedule schedule = scheduleOf("1f1b", 2, 2);
  Simulation simulation =
      simulate(schedule, uniform(schedule, {.forward = 1, .inputGradient = 2, .weightGradient = 3}));
  EXPECT_EQ(simulation.spans[0][1].begin, 1); // 0F1
  EXPECT_EQ(simulation.spans[1][1].begin, 2); // 1B0
  EXPECT_EQ(simulation.spans[1][1].end, 7);
  EXPECT_EQ(simulation.spans[0][2].begin, 7); // 0B0
  EXPECT_EQ(simulation.end, 18);
  EXPECT_EQ(simulation.busy, (std::vector<double>{12, 12}));
  EXPECT_DOUBLE_EQ(simulation.bubble, 1 - 24.0 / 36);
}

TEST(Simulate, InputGradientsArePassedOnBeforeWeightGradients) {
  Schedule whole = scheduleOf(verify(tableOf("0F0,,,0B0\n,1F0,1B0")));
  Schedule parts = scheduleOf(verify(tableOf("0F0,,,0I0,0W0\n,1F0,1I0,1W0")));
  EXPECT_EQ(simulate(whole, uniform(whole)).end, 6);
  EXPECT_EQ(simulate(parts, uniform(parts)).end, 5);
}

TEST(Simulate, MessagesTakeTheirTimeBetweenRanksAlone) {
  Schedule two = scheduleOf(verify(tableOf("0F0,,,0B0\n,1F0,1B0"))),
           one = scheduleOf(verify(tableOf("0F0,1F0,1B0,0B0")));
  StageTimes times = {.sendActivation = 0.5, .sendGradient = 0.25};
  EXPECT_EQ(simulate(two, uniform(two, times)).end, 6.75);
  EXPECT_EQ(simulate(one, uniform(one, times)).end, 6);
}

TEST(Simulate, StagesMayDiffer) {
  Schedule schedule = scheduleOf("gpipe", 2, 3);
  std::vector<StageTimes> stages = {{.forward = 1}, {.forward = 5}};
  Simulation simulation = simulate(schedule, stages);
  EXPECT_EQ(simulation.spans[1][2].end, 16); // the last forward
  EXPECT_EQ(simulation.end, 24);
  EXPECT_EQ(simulation.busy, (std::vector<double>{9, 21}));
}

TEST(Simulate, RefusesTimesThatAreNone) {
  Schedule schedule = scheduleOf("gpipe", 2, 3);
  auto refusal = [&](StageTimes times) { return llvm::toString(check(schedule, uniform(schedule, times))); };
  EXPECT_EQ(refusal({}), "");
  EXPECT_EQ(refusal({.forward = -1}), "stage 0 has the time -1.00, but needs a number of at least 0");
  EXPECT_EQ(refusal({.sendGradient = std::numeric_limits<double>::quiet_NaN()}),
            "stage 0 has the time nan, but needs a number of at least 0");
  EXPECT_EQ(refusal({.forward = 0, .inputGradient = 0, .weightGradient = 0}),
            "the time of every stage is 0; give at least one a time above 0");
  EXPECT_EQ(llvm::toString(check(schedule, {StageTimes()})),
            "there are times for 1 stage, but the schedule has 2 stages");
}
