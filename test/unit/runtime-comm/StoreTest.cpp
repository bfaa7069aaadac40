//===- StoreTest.cpp - the stores where ranks rendezvous ------------------===//

#include "comm/Store.h"
#include "RawClient.h"
#include "base/Error.h"
#include "comm/LocalToken.h"
#include "comm/OwnAddress.h"
#include "comm/TcpStoreServer.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <future>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <thread>
#include <unistd.h>

using namespace braid;
using namespace braid::test;
using namespace std::chrono_literals;

namespace {

using Clock = Store::Clock;

constexpr const char *secret = "the token of this job";

std::string atPort(int port, const std::string &kind = "tcp") { return kind + "://127.0.0.1:" + std::to_string(port); }

Joining joiningAt(const std::string &address, int rank, const std::string &token = "") {
  Joining joining;
  joining.rank = rank, joining.size = 2, joining.rendezvous = address, joining.token = token;
  return joining;
}

std::unique_ptr<Store> open(const std::string &address, int rank, const std::string &token = "",
                            Clock::duration patience = 5s) {
  return openStore(joiningAt(address, rank, token), Clock::now() + patience);
}

template <class F> std::string errorOf(const F &f) {
  try {
    f();
    return "";
  } catch (const Error &error) {
    return error.what();
  }
}

void expectIn(const std::string &part, const std::string &text) {
  EXPECT_NE(text.find(part), std::string::npos) << text;
}

std::string refusal(const std::string &address) {
  try {
    parseStoreAddress(address);
    return "";
  } catch (const Error &error) {
    return error.what();
  }
}

class EachStore : public testing::TestWithParam<const char *> {
protected:
  void SetUp() override {
    int port = freePort();
    if (is("tcp"))
      address = atPort(port);
    if (is("agent")) {
      agent = std::make_unique<TcpStoreServer>("127.0.0.1", port, JobToken());
      address = atPort(port, "agent");
    }
    if (is("folder")) {
      char name[] = "/tmp/braid-store-XXXXXX";
      folder = mkdtemp(name);
      address = "file://" + folder + "/inside";
    }
  }
  void TearDown() override {
    if (!folder.empty())
      std::filesystem::remove_all(folder);
  }
  bool is(const char *kind) const { return std::string(GetParam()) == kind; }
  std::unique_ptr<Store> open(int rank, const std::string &job = "job") {
    Joining joining = joiningAt(address, rank, secret);
    joining.job = job;
    return openStore(joining, Clock::now() + 5s);
  }
  // Rank 1 connects while rank 0, which may have to accept it, looks up a key.
  std::unique_ptr<Store> openOther(Store &own) {
    auto other = std::async(std::launch::async, [&] { return open(1); });
    own.await("nothing", Clock::now() + 50ms);
    while (other.wait_for(1ms) != std::future_status::ready)
      own.find("nothing");
    return other.get();
  }

  std::unique_ptr<TcpStoreServer> agent;
  std::string address, folder;
};

TEST_P(EachStore, GivesWhatWasLeft) {
  auto own = open(0), other = openOther(*own);
  EXPECT_EQ(other->find("key"), std::nullopt);
  std::string odd("a\0b/%\n", 6);
  own->set("key", odd);
  own->set("with/slash", "");
  EXPECT_EQ(other->await("key", Clock::now() + 5s), odd);
  EXPECT_EQ(other->await("with/slash", Clock::now() + 5s), "");
  other->set("back", std::string(100000, 'x'));
  EXPECT_EQ(own->await("back", Clock::now() + 5s), std::string(100000, 'x'));
}

TEST_P(EachStore, WaitsForALateRank) {
  auto own = open(0);
  std::thread late([&] {
    std::this_thread::sleep_for(100ms);
    open(1)->set("key", "late");
  });
  EXPECT_EQ(own->await("key", Clock::now() + 5s), "late");
  late.join();
}

TEST_P(EachStore, WaitsNoLongerThanTheDeadline) {
  auto own = open(0);
  auto begin = Clock::now();
  EXPECT_EQ(own->await("key", Clock::now() + 100ms), std::nullopt);
  EXPECT_LT(Clock::now() - begin, 2s);
}

TEST_P(EachStore, TellsJobsApart) {
  auto own = open(0, "one"), other = open(is("tcp") ? 1 : 0, "two");
  own->set("key", "one");
  EXPECT_EQ(own->await("key", Clock::now() + 5s), "one");
  EXPECT_EQ(other->find("key"), std::nullopt);
}

INSTANTIATE_TEST_SUITE_P(Over, EachStore, testing::Values("tcp", "agent", "folder"),
                         [](const auto &info) { return info.param; });

TEST(TcpStore, IsReachedByRanksThatCameBefore) {
  std::string address = "tcp://localhost:" + std::to_string(freePort());
  std::thread early([&] { open(address, 1)->set("key", "early"); });
  std::this_thread::sleep_for(100ms);
  auto own = open(address, 0);
  EXPECT_EQ(own->await("key", Clock::now() + 5s), "early");
  early.join();
}

TEST(TcpStore, SaysThatThePortIsTaken) {
  int port = freePort();
  TcpStoreServer server("127.0.0.1", port, JobToken(secret));
  std::string error = errorOf([&] { open(atPort(port), 0, secret, 1s); });
  expectIn("on port " + std::to_string(port), error);
  expectIn("set another MASTER_PORT", error);
}

// The other ranks would ask the program that has the port at the first address.
TEST(TcpStore, ServesNoOtherAddressIfThePortIsTakenAtTheFirst) {
  int port = freePort();
  TcpStoreServer server("127.0.0.1", port, JobToken(secret));
  Joining joining = joiningAt("tcp://the-name-of-this-host:" + std::to_string(port), 0, secret);
  joining.isOneHost = true;
  expectIn("127.0.0.1: Address already in use", errorOf([&] { openStore(joining, Clock::now() + 1s); }));
}

// torchrun's agent serves its store itself: rank 0 must not.
TEST(TcpStore, OfAnAgentIsOnlyAsked) {
  int port = freePort();
  expectIn("cannot connect to the rendezvous store at 127.0.0.1:" + std::to_string(port),
           errorOf([&] { open(atPort(port, "agent"), 0, "", 200ms); }));
  TcpStoreServer agent("127.0.0.1", port, JobToken());
  auto own = open(atPort(port, "agent"), 0), other = open(atPort(port, "agent"), 1);
  own->set("key", "value");
  EXPECT_EQ(other->await("key", Clock::now() + 5s), "value");
}

//===----------------------------------------------------------------------===//
// Where it listens
//===----------------------------------------------------------------------===//

TEST(TcpStore, ListensWhereItIsTold) {
  std::string elsewhere = ownAddress();
  if (elsewhere.rfind("127.", 0) == 0)
    GTEST_SKIP() << "this host has no other address";
  int port = freePort();
  TcpStoreServer server("127.0.0.1", port, JobToken(secret));
  EXPECT_TRUE(RawClient(port).isConnected());
  EXPECT_FALSE(RawClient(port, elsewhere.c_str()).isConnected());
}

TEST(TcpStore, OfOneHostListensOnLoopback) {
  Joining joining = joiningAt("tcp://the-name-of-this-host:" + std::to_string(freePort()), 0);
  joining.isOneHost = true;
  auto own = openStore(joining, Clock::now() + 5s);
  EXPECT_EQ(own->localAddress(), "127.0.0.1");
  joining.rank = 1;
  openStore(joining, Clock::now() + 5s)->set("key", "value");
  EXPECT_EQ(own->await("key", Clock::now() + 5s), "value");
}

TEST(TcpStore, DoesNotListenOnAnAddressOfAnotherHost) {
  expectIn("192.0.2.1 is not an address of this host", errorOf([] { open("tcp://192.0.2.1:29517", 0, secret, 1s); }));
}

//===----------------------------------------------------------------------===//
// The token
//===----------------------------------------------------------------------===//

TEST(JobToken, AreKnownByTheirMacs) {
  JobToken token(secret);
  // hmac.digest(secret, pack("<Q", 1) + b"a" + pack("<Q", 2) + b"bc", "sha256")
  EXPECT_EQ(hexOf(token.mac({"a", "bc"})), "1aedaaa979316d1abfe232bc13158512e964dc6dc6adc25c6d0ef634dda38816");
  EXPECT_NE(token.mac({"a", "bc"}), token.mac({"ab", "c"}));
  EXPECT_TRUE(token.isMac(token.mac({"a", "bc"}), {"a", "bc"}));
  EXPECT_FALSE(JobToken("another token of a job").isMac(token.mac({"a", "bc"}), {"a", "bc"}));
  EXPECT_FALSE(token.isMac("", {"a", "bc"}));
  EXPECT_NE(randomBytes(16), randomBytes(16));
}

TEST(TcpStore, RefusesAnotherToken) {
  int port = freePort();
  auto own = open(atPort(port), 0, secret);
  for (const char *other : {"the token of another job", ""}) {
    std::string error = errorOf([&] { open(atPort(port), 1, other, 300ms); });
    expectIn("cannot connect to the rendezvous store at 127.0.0.1:" + std::to_string(port), error);
    expectIn("BRAID_JOB_TOKEN", error);
  }
  open(atPort(port), 1, secret)->set("key", "value");
  EXPECT_EQ(own->await("key", Clock::now() + 5s), "value");
}

TEST(TcpStore, IsNotTakenFromAnImpostor) {
  int port = freePort();
  TcpStoreServer impostor("127.0.0.1", port, JobToken("the token of a stranger"));
  expectIn("does not know this rank's job token", errorOf([&] { open(atPort(port), 1, secret, 300ms); }));
}

// The port of a job that is about to end is the port of the next job.
TEST(TcpStore, WaitsUntilAnotherJobHasLeftThePort) {
  int port = freePort();
  auto other = std::make_unique<TcpStoreServer>("127.0.0.1", port, JobToken("the token of another job"));
  auto early = std::async(std::launch::async, [&] { open(atPort(port), 1, secret)->set("key", "value"); });
  std::this_thread::sleep_for(100ms);
  other.reset();
  EXPECT_EQ(open(atPort(port), 0, secret)->await("key", Clock::now() + 5s), "value");
  early.get();
}

class LocalTokens : public testing::Test {
protected:
  void SetUp() override {
    char name[] = "/tmp/braid-local-XXXXXX";
    scratch = mkdtemp(name);
    setenv("TMPDIR", scratch.c_str(), 1);
    folder = scratch + "/braid-" + std::to_string(geteuid());
  }
  void TearDown() override {
    unsetenv("TMPDIR");
    std::filesystem::remove_all(scratch);
  }
  std::string scratch, folder;
};

TEST_F(LocalTokens, AreForThisUserAlone) {
  int port = freePort();
  std::string file = folder + "/rendezvous-" + std::to_string(port);
  struct stat found = {};
  {
    auto own = open(atPort(port), 0), other = open(atPort(port), 1);
    ASSERT_EQ(stat(file.c_str(), &found), 0);
    EXPECT_EQ(found.st_mode & 0777, 0600u);
    ASSERT_EQ(stat(folder.c_str(), &found), 0);
    EXPECT_EQ(found.st_mode & 0777, 0700u);
  }
  EXPECT_NE(stat(file.c_str(), &found), 0);
}

TEST_F(LocalTokens, AreNotTakenFromAFolderThatOthersCanRead) {
  std::filesystem::create_directory(folder);
  std::filesystem::permissions(folder, std::filesystem::perms(0755));
  expectIn("must be a folder that only this user can read", errorOf([] { open(atPort(freePort()), 0); }));
}

TEST(Rendezvous, AmongHostsNeedsAToken) {
  expectIn("needs a job token: set BRAID_JOB_TOKEN",
           errorOf([] { checkRendezvous(joiningAt("tcp://host0:29500", 1)); }));
  expectIn("the job token has 5 characters, which can be guessed",
           errorOf([] { checkRendezvous(joiningAt("tcp://host0:29500", 1, "short")); }));
  Joining joining = joiningAt("tcp://host0:29500", 1);
  joining.isOneHost = true;
  checkRendezvous(joining);
  for (const char *place : {"tcp://localhost:1", "tcp://127.0.0.1:1", "tcp://[::1]:1", "agent://host0:1", "file:///x"})
    checkRendezvous(joiningAt(place, 1));
  checkRendezvous(joiningAt("tcp://host0:29500", 1, secret));
}

// A launcher's store serves every client, so values of strangers are ignored.
TEST(AgentStore, IgnoresWhatDoesNotCarryTheToken) {
  int port = freePort();
  TcpStoreServer agent("127.0.0.1", port, JobToken());
  RawClient stranger(port);
  ASSERT_TRUE(stranger.send(validate() + setOf("/braid/key", "an address of the stranger's") +
                            setOf("/braid/other", std::string(100, 'x'))));
  auto own = open(atPort(port, "agent"), 0, secret), rank1 = open(atPort(port, "agent"), 1, secret);
  EXPECT_EQ(own->find("key"), std::nullopt);
  expectIn("ignored the data of 'braid/key'", own->remark());
  rank1->set("key", "value");
  EXPECT_EQ(own->await("key", Clock::now() + 5s), "value");
  // A rank's value under another key is ignored, too.
  RawClient copyist(port);
  copyist.send(validate() + getOf("/braid/key"));
  std::string sealed = copyist.receive(8 + 5 + JobToken::macBytes).substr(8);
  ASSERT_EQ(sealed.substr(0, 5), "value");
  copyist.send(setOf("/braid/other", sealed));
  copyist.send(getOf("/braid/other"));
  ASSERT_EQ(copyist.receive(8 + sealed.size()).substr(8), sealed);
  EXPECT_EQ(own->find("other"), std::nullopt);
}

//===----------------------------------------------------------------------===//
// A folder that has served before
//===----------------------------------------------------------------------===//

class FolderStores : public testing::Test {
protected:
  void SetUp() override {
    char name[] = "/tmp/braid-store-XXXXXX";
    folder = mkdtemp(name);
  }
  void TearDown() override { std::filesystem::remove_all(folder); }
  std::string address() const { return "file://" + folder; }

  // Two ranks that start, set values for each other, and end.
  void meet(const std::string &text, int first) {
    auto run = [&](int rank) {
      auto store = open(address(), rank);
      ASSERT_EQ(store->find(std::to_string(rank)), std::nullopt) << "left over";
      store->set(std::to_string(rank), text);
      EXPECT_EQ(store->await(std::to_string(1 - rank), Clock::now() + 5s), text);
    };
    std::thread early(run, first);
    std::this_thread::sleep_for(30ms);
    run(1 - first);
    early.join();
  }
  size_t filesInside() const {
    auto all = std::filesystem::recursive_directory_iterator(folder);
    return std::distance(begin(all), end(all));
  }
  std::string folder;
};

TEST_F(FolderStores, WorkAgainAfterARestart) {
  meet("first", 0);
  size_t files = filesInside();
  meet("second", 0);
  meet("third", 1);
  EXPECT_EQ(filesInside(), files);
}

// The previous rank's hello is left over, and rank 0 answers it first.
TEST_F(FolderStores, WaitForTheRankThatWasStartedAgain) {
  expectIn("rank 0 has not joined", errorOf([&] { open(address(), 1, "", 50ms); }));
  auto own = open(address(), 0);
  EXPECT_EQ(own->find("key"), std::nullopt);
  auto again = std::async(std::launch::async, [&] { open(address(), 1)->set("key", "value"); });
  EXPECT_EQ(own->await("key", Clock::now() + 5s), "value");
  again.get();
}

// Every user who can write there could join.
TEST_F(FolderStores, DemandATokenWhereOthersCanWrite) {
  const std::string inside = folder + "/braid";
  std::filesystem::create_directory(inside);
  std::filesystem::permissions(inside, std::filesystem::perms::all);
  expectIn("other users can write to the folder '" + inside + "'", errorOf([&] { open(address(), 0); }));
  expectIn("other users can write", errorOf([&] { open(address(), 1); }));
  open(address(), 0, secret)->set("key", "value");
  std::filesystem::remove_all(inside);
  std::filesystem::create_directory_symlink("/tmp", inside);
  expectIn("cannot open the folder", errorOf([&] { open(address(), 0, secret); }));
}

// With any umask, and with anything under the names of files.
TEST_F(FolderStores, MakeNothingThatOthersCanRead) {
  const mode_t before = umask(0);
  open(address() + "/deep/er", 0)->set("key", "value");
  umask(before);
  for (const auto &entry : std::filesystem::recursive_directory_iterator(folder))
    EXPECT_EQ(entry.status().permissions() & std::filesystem::perms(077), std::filesystem::perms::none) << entry.path();
}

TEST(LeftTokens, OfKilledJobsAreRemoved) {
  char name[] = "/tmp/braid-store-XXXXXX";
  const std::string folder = mkdtemp(name), before = std::getenv("TMPDIR") ? std::getenv("TMPDIR") : "/tmp";
  setenv("TMPDIR", folder.c_str(), 1);
  const std::string own = concat(folder, "/braid-", geteuid()), left = own + "/rendezvous-7";
  {
    LocalToken running(8, JobToken(secret));
    std::ofstream(left) << secret; // nobody holds its lock
    LocalToken next(9, JobToken(secret));
    EXPECT_FALSE(std::filesystem::exists(left));
    EXPECT_EQ(readLocalToken(8).text(), secret);
    EXPECT_EQ(readLocalToken(9).text(), secret);
  }
  EXPECT_TRUE(std::filesystem::is_empty(own));
  setenv("TMPDIR", before.c_str(), 1);
  std::filesystem::remove_all(folder);
}

TEST(StoreAddress, HasThreeKinds) {
  EXPECT_EQ(parseStoreAddress("file:///tmp/x").folder, "/tmp/x");
  StoreAddress address = parseStoreAddress("tcp://[::1]:29500");
  EXPECT_EQ(address.host, "::1");
  EXPECT_EQ(address.port, 29500);
  EXPECT_EQ(parseStoreAddress("agent://a.b:1").kind, StoreAddress::Kind::Agent);
  for (const char *wrong :
       {"", "file://", "tcp://host", "tcp://:1", "tcp://host:x", "tcp://host:0", "http://a:1", "tcp://a:70000"})
    EXPECT_NE(refusal(wrong).find("expected file:///FOLDER"), std::string::npos) << wrong;
}

} // namespace
