//===- PresenceTest.cpp - which rank is said to have ended ----------------===//

#include "comm/Presence.h"
#include "base/Error.h"
#include "comm/Joining.h"

#include <chrono>
#include <gtest/gtest.h>
#include <optional>
#include <thread>
#include <unistd.h>

using namespace braid;

namespace {

Joining joiningOf(int rank) {
  Joining own;
  own.rank = rank;
  own.size = 3;
  own.rendezvous = "tcp://presence-test:" + std::to_string(getpid());
  return own;
}

// Checks until a rank is said to have ended, and returns what is said.
std::string awaitEnd(Presence &own) {
  for (int tries = 0; tries < 400; ++tries) {
    try {
      own.checkOthers();
    } catch (const Error &error) {
      return error.what();
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
  return "nothing";
}

// Rank 1 starts after rank 0 has ended, so the file of rank 0 could be of an earlier job.  Rank 2 ends
// because of rank 0.
TEST(Presence, ranksThatNeverSawItNameTheFirstThatEnded) {
  std::optional<Presence> first(joiningOf(0)), second(joiningOf(2));
  first.reset();
  Presence late(joiningOf(1));
  EXPECT_NE(awaitEnd(*second).find("rank 0 ended before it joined"), std::string::npos);
  second.reset();
  EXPECT_NE(awaitEnd(late).find("rank 0 ended before it joined"), std::string::npos);
}

} // namespace
