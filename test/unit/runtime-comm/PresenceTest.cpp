//===- PresenceTest.cpp - which rank is said to have ended ----------------===//

#include "comm/Presence.h"
#include "base/Error.h"
#include "comm/Joining.h"
#include "comm/LocalToken.h"

#include <chrono>
#include <filesystem>
#include <fstream>
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

// The file that rank 0 writes its token to has no lock at first; the lock of the folder protects it.
TEST(Presence, leavesNewFilesWhileTheFolderIsLocked) {
  const std::string folder = folderOfUser(), path = folder + "/new-" + std::to_string(getpid()) + "-of-a-test";
  std::optional<Socket> lock(lockWithoutLeftovers(folder));
  std::ofstream(path) << "secret";
  std::thread rank([] { Presence own(joiningOf(0)); });
  std::this_thread::sleep_for(std::chrono::milliseconds(300));
  EXPECT_TRUE(std::filesystem::exists(path));
  lock.reset();
  rank.join();
  EXPECT_FALSE(std::filesystem::exists(path));
}

} // namespace
