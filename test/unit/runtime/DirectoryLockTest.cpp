//===- DirectoryLockTest.cpp - one job at a time in a directory -----------===//

#include "checkpoint/DirectoryLock.h"
#include "TestFiles.h"
#include "base/Error.h"

#include <atomic>
#include <cerrno>
#include <csignal>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

using namespace braid;
using namespace braid::test;
namespace fs = std::filesystem;

namespace {

int noFlock(int, int) {
  errno = EOPNOTSUPP;
  return -1;
}

// With flock, and on a file system without it.
class Lock : public testing::TestWithParam<DirectoryLock::Flock> {
protected:
  // Returns why the lock cannot be taken; empty if it can.
  std::string tryLock() {
    try {
      DirectoryLock second(directory, GetParam());
      return "";
    } catch (const Error &error) {
      return error.what();
    }
  }
  // Starts a job that is killed while it holds the lock. Returns its process id.
  pid_t killedJob() {
    pid_t child = fork();
    if (child == 0) {
      DirectoryLock lock(directory, GetParam());
      lock.recordJob("00000000000000aa");
      raise(SIGKILL);
    }
    waitpid(child, nullptr, 0);
    return child;
  }

  ScratchDirectory scratch;
  std::string directory = scratch / "run", file = directory + "/.lock";
};

TEST_P(Lock, isHeldByOne) {
  {
    DirectoryLock lock(directory, GetParam());
    EXPECT_NE(tryLock().find("'" + directory + "' is in use by a job on host '"), std::string::npos);
    lock.recordJob("00000000000000aa");
    const std::string error = tryLock();
    EXPECT_NE(error.find("is in use by job 00000000000000aa on host '"), std::string::npos) << error;
    EXPECT_NE(error.find(concat(", process ", getpid(), ", started 20")), std::string::npos) << error;
    EXPECT_NE(error.find("; let it end, or give this job another --checkpoint directory"), std::string::npos) << error;
  }
  EXPECT_FALSE(fs::exists(directory)); // it was made for the lock, and nothing is in it
  EXPECT_EQ(tryLock(), "");
  fs::create_directory(directory);
  EXPECT_EQ(tryLock(), "");
  EXPECT_TRUE(fs::is_empty(directory));
}

TEST_P(Lock, isFreeWhenItsJobWasKilled) {
  killedJob();
  EXPECT_TRUE(fs::exists(file));
  const std::string theirs = writeFile(directory + "/step-00000001.safetensors.00000000000000aa.tmp", ""),
                    others = writeFile(directory + "/step-00000001.safetensors.00000000000000bb.tmp", "");
  DirectoryLock lock(directory, GetParam());
  EXPECT_FALSE(fs::exists(theirs)); // before the file says that the lock is this job's
  EXPECT_TRUE(fs::exists(others));
  EXPECT_NE(tryLock(), "");
}

// Process ids are reused: the process that has this id now started at another time.
TEST_P(Lock, isFreeWhenAnotherProcessHasTheNumber) {
  const pid_t killed = killedJob();
  std::string text = readFile(file);
  const std::string old = concat("process ", killed, "\n");
  writeFile(file, text.replace(text.find(old), old.size(), concat("process ", getpid(), "\n")));
  EXPECT_EQ(tryLock(), "");
}

TEST_P(Lock, ofAnotherHost) {
  killedJob();
  std::string text = readFile(file);
  writeFile(file, text.replace(text.find("host "), 5, "host not-"));
  const std::string error = tryLock();
  if (GetParam() != noFlock) { // a file system of one host, under whichever name
    EXPECT_EQ(error, "");
    return;
  }
  EXPECT_NE(error.find("'" + directory + "' was locked by job 00000000000000aa on host 'not-"), std::string::npos)
      << error;
  EXPECT_NE(
      error.find("cannot tell whether that job still runs; if it has ended, remove '" + file + "' and start again"),
      std::string::npos)
      << error;
  fs::remove(file);
  EXPECT_EQ(tryLock(), "");
}

TEST_P(Lock, wasTakenAway) {
  DirectoryLock lock(directory, GetParam());
  fs::remove(file);
  EXPECT_THROW(lock.recordJob("00000000000000aa"), Error);
  writeFile(file, "host another\n"); // is not this lock's to remove
}

// A host that loses power leaves zeros.
TEST_P(Lock, writesOverNoOtherFile) {
  fs::create_directory(directory);
  for (const std::string &text :
       {std::string("precious\n"), std::string("host of ours\n"), std::string(100000, '\1')}) {
    writeFile(file, text);
    EXPECT_NE(tryLock().find("'" + file + "' is not the lock of a job"), std::string::npos) << tryLock();
    EXPECT_EQ(readFile(file), text);
  }
  writeFile(file, std::string(512, '\0'));
  EXPECT_EQ(tryLock(), "");
}

TEST_P(Lock, followsNoLinkAndWaitsForNoPipe) {
  fs::create_directory(directory);
  const std::string victim = writeFile(scratch / "victim", "");
  fs::create_symlink("../victim", file);
  EXPECT_NE(tryLock().find("it is a symbolic link"), std::string::npos) << tryLock();
  EXPECT_EQ(readFile(victim), "");
  fs::remove(file);
  ASSERT_EQ(mkfifo(file.c_str(), 0600), 0);
  EXPECT_NE(tryLock().find("it is not a regular file"), std::string::npos) << tryLock();
  fs::remove(file);
  // The same holds if the lock file is removed while a job holds it.
  DirectoryLock lock(directory, GetParam());
  fs::remove(file);
  fs::create_symlink("../victim", file);
  EXPECT_THROW(lock.check(), Error);
  EXPECT_THROW(lock.recordJob("00000000000000aa"), Error);
  EXPECT_EQ(readFile(victim), "");
}

TEST_P(Lock, looksWhetherItIsStillThere) {
  DirectoryLock lock(directory, GetParam());
  lock.check();
  fs::remove_all(directory);
  EXPECT_THROW(lock.check(), Error);
  DirectoryLock other(directory, GetParam());
  other.check();
  if (GetParam() != noFlock) { // whose record is of the process
    EXPECT_THROW(lock.check(), Error);
  }
}

TEST(LockOfHosts, theMountSaysIt) {
  const std::string nfs = "40 28 0:52 / /home rw,relatime shared:1 - nfs4 host:/home rw,vers=4.2,local_lock=";
  EXPECT_TRUE(isFlockSharedByHosts(0x6969, nfs + "none,addr=10.0.0.1"));
  EXPECT_FALSE(isFlockSharedByHosts(0x6969, nfs + "flock,addr=10.0.0.1"));
  EXPECT_FALSE(isFlockSharedByHosts(0x6969, nfs + "all"));
  EXPECT_FALSE(isFlockSharedByHosts(0x6969, ""));
  EXPECT_TRUE(isFlockSharedByHosts(0x0BD00BD0, "41 28 0:53 / /scratch rw - lustre host:/scratch rw,flock,lazystatfs"));
  EXPECT_FALSE(isFlockSharedByHosts(0x0BD00BD0, "41 28 0:53 / /scratch rw - lustre host:/scratch rw,localflock"));
  EXPECT_FALSE(isFlockSharedByHosts(0x65735546, "42 28 0:54 / /mnt rw - fuse.sshfs host: rw"));
  EXPECT_TRUE(isFlockSharedByHosts(0xEF53, "28 1 254:0 / / rw - ext4 /dev/vda rw"));
}

TEST(LockRace, neverTwo) {
  ScratchDirectory scratch;
  std::atomic<int> holders = 0, most = 0, taken = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < 6; ++t)
    threads.emplace_back([&] {
      for (int i = 0; i < 100; ++i)
        try {
          DirectoryLock lock(scratch.path);
          most = std::max(most.load(), ++holders);
          ++taken;
          --holders;
        } catch (const Error &) {
        }
    });
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_EQ(most, 1);
  EXPECT_GT(taken, 0);
}

INSTANTIATE_TEST_SUITE_P(, Lock, testing::Values(&::flock, &noFlock));

} // namespace
