//===- QueueBodies.cpp - order, groups and time ---------------------------===//

#include "Bucket.h"

#include <numeric>

using namespace braid;
using namespace braid::test;

namespace {

br_operation allReduce(const br_segment &segment, int group = 0) {
  return {BR_ALL_REDUCE, BR_SUM, BR_I64, group, 0, nullptr, 0, &segment, 1};
}

int64_t power(int64_t base, int exponent) { return exponent ? base * power(base, exponent - 1) : 1; }

// Numbers whose sum depends on the order of additions.
float roughValue(int rank, int64_t i) {
  uint32_t bits = static_cast<uint32_t>(i * 2654435761u + rank * 40503u + 12345u);
  bits ^= bits >> 15;
  bits *= 2246822519u;
  return static_cast<float>(static_cast<int32_t>(bits)) * (1.0f / (1 << (bits % 29)));
}

// Every operation that combines values, over an odd bucket.
uint64_t hashOfReductions(Rank &rank) {
  uint64_t hash = 0;
  for (br_dtype dtype : {BR_F32, BR_BF16, BR_F64}) {
    for (br_collective kind : {BR_ALL_REDUCE, BR_REDUCE_SCATTER, BR_REDUCE}) {
      Bucket bucket(dtype, {300007, 11, 5000});
      auto all = [](int64_t count) { return count; };
      bucket.allocate(all, all, 1);
      for (Tensor &tensor : bucket.send)
        tensor.fill([&](int64_t i) { return roughValue(rank.me, i); });
      for (Tensor &tensor : bucket.recv)
        tensor.fill([](int64_t) { return 0; });
      run(rank, bucket.operation(kind, 0, BR_MEAN));
      for (const Tensor &tensor : bucket.recv)
        hash = hash * 31 + std::hash<std::string>()(tensor.bits());
    }
  }
  return hash;
}

} // namespace

// Starts without waits run in order: each sums the result of the previous one.
BRAID_BODY(chainOfStarts) {
  constexpr int length = 12;
  std::vector<int64_t> data(1000, 1);
  br_segment segment = {data.data(), data.data(), 1000, 1, 1};
  std::vector<br_ticket> tickets;
  for (int i = 0; i < length; ++i)
    tickets.push_back(start(rank, allReduce(segment)));
  require(std::is_sorted(tickets.begin(), tickets.end()), "tickets are not in order");
  // Waits for the last operation first; the others have ended by then.
  for (int i = length - 1; i >= 0; --i)
    require(br_comm_wait(&rank.comm, tickets[i]) == BR_OK, br_comm_error(&rank.comm));
  for (int64_t x : data)
    require(x == power(rank.n, length), "the sums are ", x);
}

// A rank's own pairs and all ranks, each group with operations in flight.
BRAID_BODY(severalGroups) {
  std::vector<int32_t> halves[2], backwards(rank.n);
  for (int i = 0; i < rank.n; ++i)
    halves[i % 2].push_back(i);
  std::iota(backwards.rbegin(), backwards.rend(), 0);
  int groups[3] = {0, 0, 0};
  for (int half : {0, 1})
    if (!halves[half].empty())
      groups[half] = makeGroup(rank, halves[half]);
  groups[2] = makeGroup(rank, backwards);
  int half = rank.me % 2, peers = static_cast<int>(halves[half].size());
  for (int turn = 0; turn < 20; ++turn) {
    int64_t all = 1, own = 1, root = rank.me;
    br_segment ofAll = {&all, &all, 1, 1, 1}, ofHalf = {&own, &own, 1, 1, 1}, ofRoot = {&root, &root, 1, 1, 1};
    br_operation broadcast = allReduce(ofRoot, groups[2]);
    broadcast.kind = BR_BROADCAST; // from place 0, the last rank
    start(rank, allReduce(ofHalf, groups[half]));
    start(rank, allReduce(ofAll));
    start(rank, broadcast);
    run(rank, allReduce(ofHalf, groups[half]));
    require(all == rank.n && own == int64_t{peers} * peers && root == rank.n - 1, "sums are ", all, ", ", own, " and ",
            root);
  }
}

BRAID_BODY(lateRank) {
  if (rank.me == 0)
    std::this_thread::sleep_for(std::chrono::milliseconds(300));
  int64_t x = 1;
  br_segment segment = {&x, &x, 1, 1, 1};
  run(rank, allReduce(segment));
  require(x == rank.n, "the sum is ", x);
}

BRAID_BODY(bitsOfReductions) {
  uint64_t first = hashOfReductions(rank), second = hashOfReductions(rank);
  require(first == second, "the same reduction has other bits the second time");
  rank.report = std::to_string(first);
}

// Returns the seconds of the fastest of several all_reduces of 40 KB.
BRAID_BODY(timeOfReductions) {
  std::vector<float> data(10000, 1.0f);
  br_segment segment = {data.data(), data.data(), 10000, 1, 1};
  br_operation operation = {BR_ALL_REDUCE, BR_MAX, BR_F32, 0, 0, nullptr, 0, &segment, 1};
  run(rank, operation);
  double least = 1e9;
  for (int i = 0; i < 5; ++i) {
    Clock::time_point begin = Clock::now();
    run(rank, operation);
    least = std::min(least, std::chrono::duration<double>(Clock::now() - begin).count());
  }
  rank.report = std::to_string(least);
}

// A slow link does not slow down the rank's work between start and wait.
BRAID_BODY(overlappedTime) {
  float x = 1;
  br_segment segment = {&x, &x, 1, 1, 1};
  br_operation operation = {BR_ALL_REDUCE, BR_MAX, BR_F32, 0, 0, nullptr, 0, &segment, 1};
  run(rank, operation);
  Clock::time_point begin = Clock::now();
  br_ticket ticket = start(rank, operation);
  std::this_thread::sleep_for(std::chrono::milliseconds(200));
  require(br_comm_wait(&rank.comm, ticket) == BR_OK, br_comm_error(&rank.comm));
  rank.report = std::to_string(std::chrono::duration<double>(Clock::now() - begin).count());
}
