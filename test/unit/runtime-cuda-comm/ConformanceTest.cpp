//===- ConformanceTest.cpp - the collectives of devices, by every body ----===//

#include "../runtime-comm/Ranks.h"
#include "DeviceTransport.h"
#include "comm/transports.h"

#include <cstdlib>
#include <gtest/gtest.h>
#include <thread>

using namespace braid;
using namespace braid::test;

namespace {

std::vector<Outcome> runOnDevices(const std::string &transport, int n, const std::string &body) {
  auto table = std::make_shared<RendezvousTable>(transport);
  std::vector<Outcome> outcomes(n);
  std::vector<std::thread> threads;
  for (int rank = 0; rank < n; ++rank)
    threads.emplace_back([&, rank] { outcomes[rank] = runBody(deviceTransport(table, rank, n), body, 20); });
  for (std::thread &thread : threads)
    thread.join();
  return outcomes;
}

class DeviceCollectives : public testing::TestWithParam<std::tuple<std::string, int>> {
protected:
  static void SetUpTestSuite() {
    br_use_nccl();
    setenv("BRAID_SHIM_DEVICES", "4", 1);
  }
  void runAll(const std::string &body) {
    expectSuccess(runOnDevices(std::get<0>(GetParam()), std::get<1>(GetParam()), body));
  }
};

TEST_P(DeviceCollectives, GiveWhatTheyShould) { runAll("everyCollective"); }

TEST_P(DeviceCollectives, MayLeaveResultsWhereOperandsLie) { runAll("inPlace"); }

TEST_P(DeviceCollectives, RunInTheOrderOfStarts) { runAll("chainOfStarts"); }

TEST_P(DeviceCollectives, OfSeveralGroupsAreApart) { runAll("severalGroups"); }

TEST_P(DeviceCollectives, MoveLargeTensors) { runAll("largeTensors"); }

// Every operation starts a transport, which is slow, so only long runs test all numbers of ranks.
std::vector<int> numbersOfRanks() {
  return std::getenv("BRAID_LONG_TESTS") ? std::vector<int>{1, 2, 3, 4} : std::vector<int>{1, 3};
}

INSTANTIATE_TEST_SUITE_P(Over, DeviceCollectives,
                         testing::Combine(testing::Values("device-threads", "nccl"),
                                          testing::ValuesIn(numbersOfRanks())),
                         [](const auto &info) {
                           std::string name = std::get<0>(info.param) == "nccl" ? "Nccl" : "DeviceThreads";
                           return name + std::to_string(std::get<1>(info.param));
                         });

} // namespace
