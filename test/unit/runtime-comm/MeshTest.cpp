//===- MeshTest.cpp - strangers that take the connections of ranks --------===//

#include "comm/gloo/Mesh.h"
#include "base/Error.h"

#include <atomic>
#include <functional>
#include <gtest/gtest.h>
#include <map>
#include <mutex>
#include <set>
#include <sys/socket.h>
#include <thread>
#include <unistd.h>

using namespace braid;
using namespace std::chrono_literals;

namespace {

using Clock = Store::Clock;

// A store for the ranks, which are threads of this test.
struct Keys {
  std::mutex mutex;
  std::map<std::string, std::string> values;
};

class MemoryStore : public Store {
public:
  explicit MemoryStore(Keys &keys) : keys(keys) {}
  void set(const std::string &key, const std::string &value) override {
    std::lock_guard lock(keys.mutex);
    keys.values[key] = value;
  }
  std::optional<std::string> find(const std::string &key) override {
    std::lock_guard lock(keys.mutex);
    auto found = keys.values.find(key);
    return found == keys.values.end() ? std::nullopt : std::optional(found->second);
  }
  std::string localAddress() const override { return "127.0.0.1"; }

private:
  Keys &keys;
};

// Connects to each port on which Gloo listens in this process, as soon as it listens, and sends bytes.
class Intruder {
public:
  Intruder(int most, std::string says, bool closes) : most(most), says(std::move(says)), closes(closes) {
    thread = std::thread([this] {
      while (!stop && visits < this->most)
        for (int file = 3; file < 200 && !stop && visits < this->most; ++file)
          visit(file);
    });
  }
  ~Intruder() {
    stop = true;
    thread.join();
    for (int file : connections)
      close(file);
  }
  std::atomic<int> visits = 0;

private:
  void visit(int file) {
    int listens = 0;
    socklen_t length = sizeof listens;
    sockaddr_storage address = {};
    socklen_t bytes = sizeof address;
    if (getsockopt(file, SOL_SOCKET, SO_ACCEPTCONN, &listens, &length) != 0 || !listens ||
        getsockname(file, reinterpret_cast<sockaddr *>(&address), &bytes) != 0 ||
        !visited.insert(std::string(reinterpret_cast<char *>(&address), bytes)).second)
      return;
    int client = socket(AF_INET, SOCK_STREAM, 0);
    if (connect(client, reinterpret_cast<sockaddr *>(&address), bytes) == 0) {
      ++visits;
      (void)!send(client, says.data(), says.size(), MSG_NOSIGNAL);
    }
    if (closes)
      close(client);
    else
      connections.push_back(client);
  }

  const int most;
  const std::string says;
  const bool closes;
  std::atomic<bool> stop = false;
  std::set<std::string> visited;
  std::vector<int> connections;
  std::thread thread;
};

Joining joiningOf(int rank, int size) {
  Joining joining;
  joining.rank = rank, joining.size = size, joining.isOneHost = true;
  return joining;
}

// Returns the error of each rank; empty if all could send each other messages.
std::string errorOfRank(Keys &keys, int rank, int size, Clock::duration patience) {
  try {
    MemoryStore store(keys);
    auto context = connectMesh(joiningOf(rank, size), store, Clock::now() + patience);
    for (int peer = 0; peer < size; ++peer) {
      int out = rank, in = -1;
      if (peer == rank)
        continue;
      auto sent = context->createUnboundBuffer(&out, sizeof out),
           received = context->createUnboundBuffer(&in, sizeof in);
      received->recv(peer, 7);
      sent->send(peer, 7);
      received->waitRecv(5s);
      sent->waitSend(5s);
      if (in != peer)
        return "wrong data";
    }
    // Other ranks may still read.
    std::this_thread::sleep_for(100ms);
    return "";
  } catch (const std::exception &error) {
    return textOf(error);
  }
}

std::vector<std::string> connectRanks(int size, Clock::duration patience = 60s) {
  Keys keys;
  std::vector<std::string> errors(size);
  std::vector<std::thread> threads;
  for (int rank = 0; rank < size; ++rank)
    threads.emplace_back([&, rank] { errors[rank] = errorOfRank(keys, rank, size, patience); });
  for (std::thread &thread : threads)
    thread.join();
  return errors;
}

TEST(Mesh, ConnectsAll) { EXPECT_EQ(connectRanks(3), std::vector<std::string>(3)); }

TEST(Mesh, ConnectsAgainAfterAStrangerWhoLeaves) {
  Intruder intruder(1, "", /*closes=*/true);
  EXPECT_EQ(connectRanks(2), std::vector<std::string>(2));
  EXPECT_EQ(intruder.visits, 1);
}

TEST(Mesh, ConnectsAgainAfterAStrangerWhoStays) {
  Intruder intruder(2, "", /*closes=*/false);
  EXPECT_EQ(connectRanks(2), std::vector<std::string>(2));
  EXPECT_EQ(intruder.visits, 2);
}

TEST(Mesh, SaysWhenStrangersAreAlwaysFirst) {
  for (int turn = 0; turn < 20; ++turn) {
    Intruder intruder(1000, "", /*closes=*/true);
    auto begin = Clock::now();
    std::vector<std::string> errors = connectRanks(2, 10s);
    EXPECT_LT(Clock::now() - begin, 30s);
    if (errors[0].empty()) // the ranks were quicker, once
      continue;
    for (const std::string &error : errors) {
      EXPECT_NE(error.find("cannot connect to all others"), std::string::npos) << error;
      EXPECT_EQ(error.find("pair.cc"), std::string::npos) << error;
    }
    return;
  }
  GTEST_SKIP() << "the ranks were always quicker in the end";
}

TEST(Mesh, WaitsForAllBeforeItOpensAPort) {
  Keys keys;
  Intruder intruder(1000, "", /*closes=*/true);
  std::string error = errorOfRank(keys, 0, 2, 300ms);
  EXPECT_EQ(error, "rank 1 has not joined");
  EXPECT_EQ(intruder.visits, 0);
}

// Gloo's thread throws on an unexpected message, and an exception in a thread ends the process. It must end with our
// message.
TEST(MeshDeathTest, EndsWithAMessageWhenGlooThrowsOnItsThread) {
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  uint64_t message[6] = {64, /*SEND_UNBOUND_BUFFER=*/1, /*slot=*/12345, 0, 16, 0};
  std::string text(reinterpret_cast<char *>(message), sizeof message);
  EXPECT_EXIT(
      {
        EndWithMessage guard(0);
        Intruder intruder(1000, text, /*closes=*/false);
        connectRanks(2, 10s);
        std::_Exit(0);
      },
      testing::ExitedWithCode(1), "error: rank 0: a connection of Gloo carries data that no rank sends");
}

} // namespace
