//===- ConformanceTest.cpp - what every transport must do -----------------===//

#include "Ranks.h"

#include <cstdlib>
#include <gtest/gtest.h>
#include <thread>

using namespace braid;
using namespace braid::test;

namespace {

// The results of a run with some number of ranks.
class Collectives : public testing::TestWithParam<std::tuple<Over, int>> {
protected:
  std::vector<Outcome> runAll(const std::string &body) {
    return runRanks(std::get<0>(GetParam()), std::get<1>(GetParam()), body);
  }
};

TEST_P(Collectives, GiveWhatTheyShould) { expectSuccess(runAll("everyCollective")); }

TEST_P(Collectives, MayLeaveResultsWhereOperandsLie) { expectSuccess(runAll("inPlace")); }

TEST_P(Collectives, RunInTheOrderOfStarts) { expectSuccess(runAll("chainOfStarts")); }

TEST_P(Collectives, OfSeveralGroupsAreApart) { expectSuccess(runAll("severalGroups")); }

TEST_P(Collectives, HaveTheSameBitsInEveryRunAndOverEveryTransport) {
  std::vector<Outcome> own = runAll("bitsOfReductions");
  std::vector<Outcome> threads = runRanks(Over::Threads, std::get<1>(GetParam()), "bitsOfReductions");
  expectSuccess(own);
  for (size_t rank = 0; rank < own.size(); ++rank)
    EXPECT_EQ(own[rank].report, threads[rank].report);
}

// Processes are slow on few cores, so only long runs test all numbers of ranks.
std::vector<int> ranksOver(Over transport) {
  if (transport == Over::Threads || std::getenv("BRAID_LONG_TESTS"))
    return {1, 2, 3, 4, 8};
  return transport == Over::Gloo ? std::vector<int>{3} : std::vector<int>{2, 4};
}

std::vector<std::tuple<Over, int>> transportsAndRanks() {
  std::vector<std::tuple<Over, int>> result;
  for (Over transport : transports())
    for (int ranks : ranksOver(transport))
      result.emplace_back(transport, ranks);
  return result;
}

INSTANTIATE_TEST_SUITE_P(Over, Collectives, testing::ValuesIn(transportsAndRanks()), [](const auto &info) {
  return std::string(nameOf(std::get<0>(info.param))) + std::to_string(std::get<1>(info.param));
});

class Transports : public testing::TestWithParam<Over> {};

TEST_P(Transports, MoveLargeTensors) { expectSuccess(runRanks(GetParam(), 3, "largeTensors", {120})); }

TEST_P(Transports, MoveTensorsOfAnySize) { expectSuccess(runRanks(GetParam(), 3, "manySizes", {120})); }

// Two simultaneous jobs do not affect each other. (MPI is initialized once per process, so its jobs are two mpiruns.)
TEST_P(Transports, CarryCommunicatorsSideBySide) {
  std::vector<Outcome> one, other;
  std::thread second([&] { other = runRanks(GetParam(), 2, "severalGroups"); });
  one = runRanks(GetParam(), 2, "severalGroups");
  second.join();
  expectSuccess(one);
  expectSuccess(other);
}

TEST_P(Transports, WaitForALateRank) { expectSuccess(runRanks(GetParam(), 2, "lateRank")); }

//===----------------------------------------------------------------------===//
// Failures: every rank ends, with a message
//===----------------------------------------------------------------------===//

void expectAll(const std::vector<Outcome> &outcomes, const std::vector<std::string> &parts) {
  for (size_t rank = 0; rank < outcomes.size(); ++rank) {
    ASSERT_TRUE(outcomes[rank].ended) << "rank " << rank << " said " << outcomes[rank].error;
    for (const std::string &part : parts)
      EXPECT_NE(outcomes[rank].error.find(part), std::string::npos)
          << "rank " << rank << ": '" << outcomes[rank].error << "' lacks '" << part << "'";
  }
}

TEST_P(Transports, TellApartCollectives) {
  std::vector<Outcome> outcomes = runRanks(GetParam(), 3, "otherCollective");
  expectAll(outcomes, {" waits for ", " is at ", "barrier #3", "all_reduce #3 (sum, f32, 4096 elements)", "rank 0"});
}

class Signatures : public Transports {};

TEST_P(Signatures, TellApartCounts) {
  expectAll(runRanks(GetParam(), 2, "otherCount"), {"all_gather #1 (f32, 64 elements)", "(f32, 128 elements)"});
}

TEST_P(Signatures, TellApartTypes) {
  expectAll(runRanks(GetParam(), 2, "otherType"), {"(sum, i32, 64", "(sum, f32, 64"});
}

TEST_P(Signatures, TellApartReductions) {
  expectAll(runRanks(GetParam(), 2, "otherReduction"), {"reduce_scatter #1 (max, ", "reduce_scatter #1 (sum, "});
}

TEST_P(Signatures, TellApartRoots) { expectAll(runRanks(GetParam(), 2, "otherRoot"), {"(root 0, ", "(root 1, "}); }

TEST_P(Signatures, SeeThatBothReceive) {
  expectAll(runRanks(GetParam(), 2, "bothReceive"), {"recv #1 (from 0, ", "recv #1 (from 1, "});
}

TEST_P(Transports, SayThatARankHasEnded) {
  std::vector<Outcome> outcomes = runRanks(GetParam(), 3, "oneEnds");
  EXPECT_EQ(outcomes[0].error, "");
  outcomes.erase(outcomes.begin());
  expectAll(outcomes, {" waits for all_reduce #2 (sum, f32, 4096 elements) while rank 0 has ended"});
}

TEST_P(Transports, TimeOut) {
  Clock::time_point begin = Clock::now();
  std::vector<Outcome> outcomes = runRanks(GetParam(), 3, "oneNeverComes", {0.5});
  if (GetParam() == Over::Mpi) // mpirun may end rank 0 before it comes
    outcomes.erase(outcomes.begin());
  expectAll(outcomes, {"after 0.5 s rank ", " waits for all_reduce #2 (sum, f32, 4096 elements)", "while rank 0 "});
  EXPECT_LT(std::chrono::duration<double>(Clock::now() - begin).count(), 10);
}

TEST_P(Transports, TimeOutInGroupsThatCross) {
  std::vector<Outcome> outcomes = runRanks(GetParam(), 2, "crossedGroups", {0.5});
  expectAll(outcomes, {" waits for all_reduce #1 (sum, f32, 4096 elements)", "while rank "});
  if (GetParam() == Over::Threads) // elsewhere the second to give up may find the first gone
    expectAll(outcomes, {"after 0.5 s rank ", " is at all_reduce #1 (sum, f32, 4096 elements) over {"});
}

TEST_P(Transports, StayFailed) { expectSuccess(runRanks(GetParam(), 2, "afterFailure")); }

// Threads end together, and mpirun itself ends the remaining ranks.
TEST_P(Transports, EndWhenARankIsKilled) {
  if (GetParam() == Over::Threads)
    GTEST_SKIP() << "ranks are not processes";
  Clock::time_point begin = Clock::now();
  std::vector<Outcome> outcomes = runRanks(GetParam(), 3, "oneIsKilled", {10});
  EXPECT_LT(std::chrono::duration<double>(Clock::now() - begin).count(), 10);
  EXPECT_FALSE(outcomes[0].ended);
  if (GetParam() == Over::Mpi)
    return;
  outcomes.erase(outcomes.begin());
  expectAll(outcomes, {" waits for all_reduce #2 (sum, f32, 4096 elements)", "rank 0 has ended"});
}

// Transports of messages share this code, so one of them is tested. mpirun would take a second or two to end ranks.
std::vector<Over> transportsWithoutMpi() {
  std::vector<Over> result = transports();
  if (result.size() > 2)
    std::erase(result, Over::Mpi);
  return result;
}

INSTANTIATE_TEST_SUITE_P(Over, Signatures, testing::ValuesIn(transportsWithoutMpi()),
                         [](const auto &info) { return std::string(nameOf(info.param)); });
INSTANTIATE_TEST_SUITE_P(Over, Transports, testing::ValuesIn(transports()),
                         [](const auto &info) { return std::string(nameOf(info.param)); });

} // namespace
