//===- StoreTest.cpp - the stores where ranks rendezvous ------------------===//

#include "comm/Store.h"
#include "base/Error.h"
#include "comm/TcpStoreServer.h"

#include <arpa/inet.h>
#include <cstdlib>
#include <filesystem>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <thread>
#include <unistd.h>
#include <vector>

using namespace braid;
using namespace std::chrono_literals;

namespace {

using Clock = Store::Clock;

// One that nobody has; somebody may take it before we do, but hardly.
int freePort() {
  int probe = socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  socklen_t length = sizeof address;
  bind(probe, reinterpret_cast<sockaddr *>(&address), sizeof address);
  getsockname(probe, reinterpret_cast<sockaddr *>(&address), &length);
  close(probe);
  return ntohs(address.sin_port);
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
    if (std::string(GetParam()) == "tcp") {
      address = "tcp://127.0.0.1:" + std::to_string(freePort());
    } else {
      char name[] = "/tmp/braid-store-XXXXXX";
      folder = mkdtemp(name);
      address = "file://" + folder + "/inside";
    }
  }
  void TearDown() override {
    if (!folder.empty())
      std::filesystem::remove_all(folder);
  }
  std::unique_ptr<Store> open(int rank, const std::string &job = "job") {
    return openStore(address, job, rank, Clock::now() + 5s);
  }

  std::string address, folder;
};

TEST_P(EachStore, GivesWhatWasLeft) {
  auto own = open(0), other = open(1);
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
  auto own = open(0, "one"), other = open(1, "two");
  own->set("key", "one");
  EXPECT_EQ(own->await("key", Clock::now() + 5s), "one");
  EXPECT_EQ(other->find("key"), std::nullopt);
}

INSTANTIATE_TEST_SUITE_P(Over, EachStore, testing::Values("tcp", "folder"),
                         [](const auto &info) { return info.param; });

TEST(TcpStore, IsReachedByRanksThatCameBefore) {
  std::string address = "tcp://localhost:" + std::to_string(freePort());
  std::thread early([&] { openStore(address, "", 1, Clock::now() + 5s)->set("key", "early"); });
  std::this_thread::sleep_for(100ms);
  auto own = openStore(address, "", 0, Clock::now() + 5s);
  EXPECT_EQ(own->await("key", Clock::now() + 5s), "early");
  early.join();
}

TEST(TcpStore, SaysThatThePortIsTaken) {
  int port = freePort();
  TcpStoreServer server(port);
  try {
    openStore("tcp://127.0.0.1:" + std::to_string(port), "", 0, Clock::now() + 1s);
    FAIL() << "bound a port twice";
  } catch (const Error &error) {
    EXPECT_NE(std::string(error.what()).find("on port " + std::to_string(port)), std::string::npos) << error.what();
    EXPECT_NE(std::string(error.what()).find("set another MASTER_PORT"), std::string::npos);
  }
}

// torchrun's agent serves its store itself: rank 0 must not.
TEST(TcpStore, OfAnAgentIsOnlyAsked) {
  int port = freePort();
  std::string address = "agent://127.0.0.1:" + std::to_string(port);
  try {
    openStore(address, "", 0, Clock::now() + 200ms);
    FAIL() << "there is no agent";
  } catch (const Error &error) {
    EXPECT_NE(
        std::string(error.what()).find("cannot connect to the rendezvous store at 127.0.0.1:" + std::to_string(port)),
        std::string::npos)
        << error.what();
  }
  TcpStoreServer agent(port);
  auto own = openStore(address, "", 0, Clock::now() + 5s), other = openStore(address, "", 1, Clock::now() + 5s);
  own->set("key", "value");
  EXPECT_EQ(other->await("key", Clock::now() + 5s), "value");
}

TEST(TcpStore, DisconnectsWhoTalksNonsense) {
  int port = freePort();
  TcpStoreServer server(port);
  for (std::string nonsense : {std::string("GET / HTTP/1.1\r\n\r\n"), std::string("\0\1\2\3\4", 5),
                               std::string("\0\xCE\xF7\x85\x3C\1\xff\xff\xff\xff\xff\xff\xff\xff", 14)}) {
    int client = socket(AF_INET, SOCK_STREAM, 0);
    sockaddr_in address = {};
    address.sin_family = AF_INET;
    address.sin_port = htons(static_cast<uint16_t>(port));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    ASSERT_EQ(connect(client, reinterpret_cast<sockaddr *>(&address), sizeof address), 0);
    ASSERT_EQ(send(client, nonsense.data(), nonsense.size(), 0), static_cast<ssize_t>(nonsense.size()));
    char byte;
    EXPECT_LE(recv(client, &byte, 1, 0), 0);
    close(client);
  }
  auto own = openStore("agent://127.0.0.1:" + std::to_string(port), "", 0, Clock::now() + 5s);
  own->set("key", "value");
  EXPECT_EQ(own->find("key"), "value");
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
