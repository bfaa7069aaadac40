//===- StoreAttacksTest.cpp - clients of a store that mean no good --------===//
//
// Whatever attackers do, ranks get their answers, memory is bounded, and the server ends within a second.
//
//===----------------------------------------------------------------------===//

#include "RawClient.h"
#include "base/Error.h"
#include "comm/TcpStoreServer.h"

#include <atomic>
#include <fstream>
#include <functional>
#include <gtest/gtest.h>
#include <random>
#include <thread>

using namespace braid;
using namespace braid::test;
using namespace std::chrono_literals;

namespace {

using Clock = Store::Clock;

constexpr const char *secret = "the token of this job";
const std::string mebibyte(1 << 20, 'v');

// Returns the memory of this process in MiB.
double residentMemory() {
  std::ifstream file("/proc/self/statm");
  size_t all = 0, resident = 0;
  file >> all >> resident;
  return static_cast<double>(resident * sysconf(_SC_PAGESIZE)) / (1 << 20);
}

// The actions of one client until it is asked to stop.
struct Attack {
  const char *name;
  void (*run)(RawClient &client, const std::atomic<bool> &stop);
};

void waitFor(RawClient &client, const std::atomic<bool> &stop) {
  while (!stop && !client.isEndedWithin(10ms)) {
  }
}

std::string noise(size_t bytes) {
  static thread_local std::mt19937 engine(7);
  std::string text;
  while (text.size() < bytes)
    text += static_cast<char>(engine());
  return text;
}

const Attack attacks[] = {
    {"garbage",
     [](RawClient &client, const std::atomic<bool> &stop) {
       client.send(noise(100), 100ms);
       waitFor(client, stop);
     }},
    {"silence", waitFor},
    {"halfMessage",
     [](RawClient &client, const std::atomic<bool> &stop) {
       client.send(setOf("/half", mebibyte).substr(0, 1000), 100ms);
       waitFor(client, stop);
     }},
    {"floodOfGets",
     [](RawClient &client, const std::atomic<bool> &stop) {
       client.send(setOf("/x", mebibyte), 100ms);
       while (!stop && client.send(getOf("/x"), 100ms)) {
       }
     }},
    {"memory",
     [](RawClient &client, const std::atomic<bool> &stop) {
       while (!stop && client.send(setOf("/" + noise(8), mebibyte), 100ms)) {
       }
     }},
    {"hugeCount",
     [](RawClient &client, const std::atomic<bool> &stop) {
       client.send(char(tcpstore::Check) + bytesOf(uint64_t{1} << 60), 100ms);
       while (!stop && client.send(stringOf(noise(1000)), 100ms)) {
       }
     }},
    {"presetKeys",
     [](RawClient &client, const std::atomic<bool> &stop) {
       for (int i = 0; i < 10; ++i)
         client.send(setOf("/braid/to-" + std::to_string(i), "nowhere"), 100ms);
       waitFor(client, stop);
     }},
    {"slowReader",
     [](RawClient &client, const std::atomic<bool> &stop) {
       client.send(setOf("/s", mebibyte) + getOf("/s") + getOf("/s"), 100ms);
       while (!stop && client.receive(1, 10ms).size() == 1)
         std::this_thread::sleep_for(10ms);
     }},
    {"wrongToken",
     [](RawClient &client, const std::atomic<bool> &stop) {
       client.send(char(tcpstore::Prove) + noise(tcpstore::nonceBytes) + noise(JobToken::macBytes), 100ms);
       waitFor(client, stop);
     }},
};

// Clients that connect repeatedly.
class Attackers {
public:
  Attackers(const Attack &attack, int port, int count, bool areMembers) {
    for (int i = 0; i < count; ++i)
      threads.emplace_back([this, &attack, port, areMembers] {
        while (!stop) {
          RawClient client(port);
          if (!client.isConnected())
            std::this_thread::sleep_for(1ms);
          else if (areMembers ? client.prove(JobToken(secret)) : client.send(validate()))
            attack.run(client, stop);
          ++visits;
        }
      });
  }
  ~Attackers() {
    stop = true;
    for (std::thread &thread : threads)
      thread.join();
  }
  std::atomic<bool> stop = false;
  std::atomic<int> visits = 0;

private:
  std::vector<std::thread> threads;
};

std::unique_ptr<Store> join(int port, int rank) {
  Joining joining;
  joining.rank = rank, joining.size = 2, joining.token = secret;
  joining.rendezvous = "tcp://127.0.0.1:" + std::to_string(port);
  return openStore(joining, Clock::now() + 20s);
}

// Members, such as a faulty rank, know the token. They may do some things that strangers may not, within limits.
class Attacked : public testing::TestWithParam<std::tuple<Attack, bool>> {};

TEST_P(Attacked, TheRanksGoOn) {
  auto [attack, areMembers] = GetParam();
  double before = residentMemory();
  int port = freePort();
  {
    Attackers attackers(attack, port, 4, areMembers);
    auto own = join(port, 0), other = join(port, 1);
    auto until = Clock::now() + 300ms;
    for (int i = 0; i < 20 || Clock::now() < until; ++i) {
      std::string key = "to-" + std::to_string(i % 100), value = std::to_string(i);
      other->set(key, value);
      auto found = own->await(key, Clock::now() + 10s);
      for (auto late = Clock::now() + 10s; found != value && Clock::now() < late;) // that of 100 turns before
        found = own->find(key);
      ASSERT_EQ(found, value);
    }
    auto begin = Clock::now();
    other.reset();
    own.reset();
    EXPECT_LT(Clock::now() - begin, 1s);
  }
#ifndef __SANITIZE_ADDRESS__ // which keeps what was freed
  // The table's limit for members, some answers, and unused memory of the allocator.
  EXPECT_LT(residentMemory() - before, areMembers ? 400 : 64);
#else
  (void)before;
#endif
}

std::vector<std::tuple<Attack, bool>> allAttacks() {
  std::vector<std::tuple<Attack, bool>> all;
  for (const Attack &attack : attacks)
    for (bool areMembers : {false, true})
      if (!areMembers || std::string(attack.name) != "presetKeys") // ranks may set any key
        all.emplace_back(attack, areMembers);
  return all;
}

INSTANTIATE_TEST_SUITE_P(By, Attacked, testing::ValuesIn(allAttacks()), [](const auto &info) {
  return std::string(std::get<0>(info.param).name) + (std::get<1>(info.param) ? "OfMembers" : "OfStrangers");
});

//===----------------------------------------------------------------------===//
// Each limit by itself
//===----------------------------------------------------------------------===//

// A server with small limits.
class Limits : public testing::Test {
protected:
  Limits() : server("127.0.0.1", port, token, limits()) {}
  static StoreLimits limits() {
    StoreLimits limits;
    limits.maxUnauthenticated = 4;
    limits.keys = 8;
    limits.bytes = 4 << 20;
    limits.patience = 300ms;
    return limits;
  }
  // A member still gets answers.
  void expectWorking() {
    RawClient client(port);
    ASSERT_TRUE(client.prove(token));
    client.send(char(tcpstore::Check) + bytesOf(uint64_t{1}) + stringOf("/absent"));
    EXPECT_EQ(client.receive(1), "\1");
  }

  const JobToken token{secret};
  const int port = freePort();
  TcpStoreServer server;
};

TEST_F(Limits, StrangersAreNotAnswered) {
  for (const std::string &request : {getOf("/x"), setOf("/x", "y"), noise(20), std::string("GET / HTTP/1.1\r\n\r\n"),
                                     char(tcpstore::Check) + bytesOf(uint64_t{0})}) {
    RawClient client(port);
    client.send(validate() + request);
    EXPECT_EQ(client.receive(1), "");
    EXPECT_TRUE(client.isEndedWithin(5s));
  }
  RawClient client(port); // without VALIDATE
  client.send(char(tcpstore::Prove) + noise(32));
  EXPECT_TRUE(client.isEndedWithin(5s));
  expectWorking();
}

TEST_F(Limits, WhoDoesNotProveTheTokenIsDisconnected) {
  RawClient silent(port), half(port), wrong(port);
  half.send(validate() + char(tcpstore::Prove));
  wrong.send(validate() + char(tcpstore::Prove) + noise(32));
  EXPECT_EQ(wrong.receive(64).size(), 64u);
  wrong.send(noise(32));
  EXPECT_TRUE(wrong.isEndedWithin(100ms));
  EXPECT_TRUE(silent.isEndedWithin(5s));
  EXPECT_TRUE(half.isEndedWithin(5s));
  expectWorking();
}

TEST_F(Limits, TheOldestStrangerGivesWay) {
  RawClient member(port);
  ASSERT_TRUE(member.prove(token));
  std::vector<std::unique_ptr<RawClient>> unauthenticated;
  for (int i = 0; i < 20; ++i) {
    unauthenticated.push_back(std::make_unique<RawClient>(port));
    ASSERT_TRUE(unauthenticated.back()->isConnected());
  }
  EXPECT_TRUE(unauthenticated.front()->isEndedWithin(200ms));
  expectWorking();
  EXPECT_FALSE(member.isEndedWithin(10ms));
}

TEST_F(Limits, MembersMayBeSilentBetweenRequests) {
  RawClient member(port);
  ASSERT_TRUE(member.prove(token));
  EXPECT_FALSE(member.isEndedWithin(800ms));
  EXPECT_EQ(server.members(), 1);
}

TEST_F(Limits, MembersMayNotStopInsideARequest) {
  RawClient member(port);
  ASSERT_TRUE(member.prove(token));
  member.send(setOf("/key", "value").substr(0, 12));
  EXPECT_TRUE(member.isEndedWithin(5s));
}

TEST_F(Limits, MembersMustTakeTheirAnswers) {
  RawClient member(port);
  ASSERT_TRUE(member.prove(token));
  member.send(setOf("/x", mebibyte));
  for (int i = 0; i < 60; ++i)
    member.send(getOf("/x"), 10ms);
  std::this_thread::sleep_for(500ms);
  EXPECT_LT(member.receive(60 << 20).size(), size_t{60} << 20);
  expectWorking();
}

TEST_F(Limits, KeysAndBytesAreCounted) {
  RawClient many(port), large(port);
  ASSERT_TRUE(many.prove(token) && large.prove(token));
  for (int i = 0; i < 8; ++i)
    many.send(setOf("/" + std::to_string(i), "first"));
  many.send(setOf("/0", "again")); // no further key
  many.send(getOf("/0"));
  EXPECT_EQ(many.receive(13).substr(8), "again");
  many.send(setOf("/8", ""));
  EXPECT_TRUE(many.isEndedWithin(5s));
  for (int i = 0; i < 4; ++i)
    large.send(setOf("/" + std::to_string(i), mebibyte));
  EXPECT_TRUE(large.isEndedWithin(5s));
  expectWorking();
}

TEST_F(Limits, StringsAndCountsAreLimited) {
  const std::string check(1, char(tcpstore::Check)), set(1, char(tcpstore::Set));
  for (const std::string &request :
       {check + bytesOf(uint64_t{1} << 60), set + bytesOf(~uint64_t{0}), set + stringOf(std::string(2000, 'k')),
        set + stringOf("/k") + bytesOf(uint64_t{1} << 21), std::string("\x7f")}) {
    RawClient client(port);
    ASSERT_TRUE(client.prove(token));
    client.send(request);
    EXPECT_TRUE(client.isEndedWithin(200ms));
  }
  expectWorking();
}

} // namespace
