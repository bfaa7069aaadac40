//===- ClockOffsetTest.cpp - one clock for ranks of several hosts ---------===//

#include "core/ClockOffset.h"
#include "base/Clock.h"
#include "comm/GatherBlobs.h"
#include "comm/ThreadsHub.h"
#include "comm/ThreadsTransport.h"

#include <gtest/gtest.h>
#include <memory>
#include <thread>

using namespace braid;

namespace {

struct Host {
  std::string name;
  double ahead; // its clock, in seconds
};

std::vector<double> offsetsOf(const std::vector<Host> &hosts) {
  auto hub = std::make_shared<ThreadsHub>(static_cast<int>(hosts.size()));
  std::vector<double> offsets(hosts.size());
  std::vector<std::thread> threads;
  for (size_t rank = 0; rank < hosts.size(); ++rank)
    threads.emplace_back([&, rank] {
      br_comm comm(threadsTransport(hub, static_cast<int>(rank)), /*timeout=*/30);
      auto gather = [&](const std::string &own) { return gatherBlobs(comm, own); };
      auto now = [&] { return secondsNow() + hosts[rank].ahead; };
      offsets[rank] = clockOffset(gather, static_cast<int>(rank), hosts[rank].name, now);
    });
  for (std::thread &thread : threads)
    thread.join();
  return offsets;
}

TEST(ClockOffset, ofHostsWithClocksOfTheirOwn) {
  const std::vector<double> offsets = offsetsOf({{"a", 0}, {"b", 1000}, {"c", -5}, {"b", 1000}});
  EXPECT_EQ(offsets[0], 0);
  EXPECT_NEAR(offsets[1], 1000, 0.5);
  EXPECT_NEAR(offsets[2], -5, 0.5);
  EXPECT_NEAR(offsets[3], 1000, 0.5);
}

TEST(ClockOffset, noneOnOneHost) {
  // Nobody is asked.
  EXPECT_EQ(offsetsOf({{"a", 0}, {"a", 7}}), (std::vector<double>{0, 0}));
}

TEST(ClockOffset, hostsAreTold) { EXPECT_NE(clockOfHost(), ""); }

} // namespace
