//===- HostTripsTest.cpp - which tensors wait in the host's memory --------===//

#include "lib/Schedule/HostTrips.h"
#include "gtest/gtest.h"
#include <random>

using namespace braid;

/// Ten actions of a millisecond each, of which the last five are of backward; copies take their
/// seconds, without a margin.
static HostTripsProblem tenActions() {
  HostTripsProblem problem;
  for (int action = 0; action <= 10; ++action)
    problem.begins.push_back(action * 1e-3);
  problem.turn = 5;
  problem.contention = 1;
  problem.slack = 0;
  return problem;
}

TEST(HostTrips, WhatIsAwayLongEnoughGoes) {
  HostTripsProblem problem = tenActions();
  problem.tensors = {{/*bytes=*/100, /*made=*/0, /*use=*/9, /*seconds=*/1e-3}};
  ASSERT_FALSE(check(problem));
  HostTrips answer = solve(problem);
  EXPECT_TRUE(answer.isOffloaded[0]);
  EXPECT_FALSE(verify(problem, answer));
}

TEST(HostTrips, WhatIsReadSoonStays) {
  HostTripsProblem problem = tenActions();
  problem.tensors = {{100, 4, 9, 1e-3}, {100, 0, 5, 1e-3}};
  HostTrips answer = solve(problem);
  EXPECT_FALSE(answer.isOffloaded[0]);
  EXPECT_NEAR(answer.trips[0].offloadDelay, 1e-3, 1e-9);
  EXPECT_FALSE(answer.isOffloaded[1]);
  EXPECT_NEAR(answer.trips[1].fetchDelay, 1e-3, 1e-9);
}

TEST(HostTrips, AQueueTakesOneAfterAnother) {
  HostTripsProblem problem = tenActions();
  // Each tensor alone is hidden. Together, two copies to the host last until the program turns.
  problem.tensors = {{100, 0, 7, 1.9e-3}, {100, 0, 9, 1.9e-3}, {100, 0, 9, 1.9e-3}};
  HostTrips answer = solve(problem);
  EXPECT_EQ(answer.isOffloaded, (std::vector<bool>{true, true, false}));
}

TEST(HostTrips, OneIsFetchedAhead) {
  HostTripsProblem problem = tenActions();
  // The second tensor may not be fetched before the use of the first, one action before its own use.
  problem.tensors = {{200, 0, 8, 1e-3}, {100, 0, 9, 1.5e-3}};
  EXPECT_EQ(solve(problem).isOffloaded, (std::vector<bool>{true, false}));
  problem.ahead = 2;
  EXPECT_EQ(solve(problem).isOffloaded, (std::vector<bool>{true, true}));
}

TEST(HostTrips, TheLargestIsAskedFirst) {
  HostTripsProblem problem = tenActions();
  problem.tensors = {{100, 0, 9, 3e-3}, {200, 0, 9, 3e-3}};
  EXPECT_EQ(solve(problem).isOffloaded, (std::vector<bool>{false, true}));
}

TEST(HostTrips, OtherFetchesTakeTheLink) {
  HostTripsProblem problem = tenActions();
  problem.tensors = {{100, 0, 9, 1e-3}};
  problem.others = {{8, 4e-3}};
  HostTrips answer = solve(problem);
  EXPECT_FALSE(answer.isOffloaded[0]);
  EXPECT_NEAR(answer.trips[0].fetchDelay, 1e-3, 1e-9);
}

TEST(HostTrips, TheVerifierFindsWhatIsLate) {
  HostTripsProblem problem = tenActions();
  problem.tensors = {{100, 0, 5, 1e-3}};
  llvm::Error error = verify(problem, {{true}, {}});
  ASSERT_TRUE(static_cast<bool>(error));
  EXPECT_NE(llvm::toString(std::move(error)).find("tensor 0"), std::string::npos);
}

TEST(HostTrips, ProblemsThatMakeNoSenseAreRefused) {
  HostTripsProblem problem = tenActions();
  problem.tensors = {{100, 5, 5, 1e-3}};
  llvm::Error error = check(problem);
  ASSERT_TRUE(static_cast<bool>(error));
  EXPECT_EQ(llvm::toString(std::move(error)), "tensor 0 is made by action 5 and read again by action 5 of 10");
}

TEST(HostTrips, RandomProblems) {
  std::mt19937 random(1);
  auto number = [&](int least, int most) { return std::uniform_int_distribution<int>(least, most)(random); };
  for (int round = 0; round < 200; ++round) {
    HostTripsProblem problem;
    int actions = number(4, 60);
    for (int action = 0; action <= actions; ++action)
      problem.begins.push_back(action ? problem.begins.back() + number(0, 100) * 1e-6 : 0);
    problem.turn = actions / 2;
    problem.ahead = number(1, 3);
    for (int tensor = number(0, 30); tensor > 0; --tensor) {
      int made = number(0, actions / 2 - 1);
      problem.tensors.push_back(
          {number(1, 1000), unsigned(made), unsigned(number(made + 1, actions - 1)), number(1, 200) * 1e-6});
    }
    ASSERT_FALSE(check(problem));
    HostTrips answer = solve(problem);
    EXPECT_FALSE(verify(problem, answer));
    for (size_t tensor = 0; tensor < problem.tensors.size(); ++tensor)
      EXPECT_EQ(answer.isOffloaded[tensor], answer.trips[tensor].isHidden());
  }
}
