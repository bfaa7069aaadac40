//===- SharedTransport.cpp - processes on one host ------------------------===//
//
// The communication thread copies messages into and out of rings, one piece at a time, so that both sides
// work on the same message. If nothing can move, it polls for a moment, then sleeps until another rank
// signals a change.
//
// A message begins with its tag and size. Sender and receiver reach their messages in the same order,
// because they reach operations in the same order. A message that no receive expects stays in the ring.
//
//===----------------------------------------------------------------------===//

#include "comm/shm/SharedTransport.h"

#include "base/Error.h"
#include "base/Format.h"
#include "comm/FailureBoard.h"
#include "comm/MessageTransport.h"
#include "comm/shm/SharedRings.h"

#include <algorithm>
#include <climits>
#include <cstring>
#include <deque>
#include <linux/futex.h>
#include <poll.h>
#include <sys/syscall.h>
#include <unistd.h>

using namespace braid;

namespace {

// Bytes to copy before the other side is told.
constexpr size_t kPiece = 256 << 10;
// How long to poll before sleeping: waking up takes longer.
constexpr std::chrono::microseconds kSpinTime(20);
// How often a sleeping rank checks that the others are alive.
constexpr std::chrono::milliseconds kInterval(50);

struct Frame {
  uint64_t tag, bytes;
};

// A message to or from one rank, partly moved.
struct Posted {
  Frame frame;
  std::byte *data;
  size_t moved = 0; // including the frame
  size_t size() const { return sizeof(Frame) + frame.bytes; }
};

std::chrono::nanoseconds nanosecondsUntil(Clock::time_point moment) {
  return std::max(std::chrono::duration_cast<std::chrono::nanoseconds>(moment - Clock::now()),
                  std::chrono::nanoseconds(0));
}

class SharedChannel : public Channel {
public:
  explicit SharedChannel(const Joining &options);
  ~SharedChannel() override;

  int rank() const override { return options.rank; }
  int size() const override { return options.size; }
  void send(int peer, int tag, const void *data, size_t bytes) override { post(sends, peer, tag, data, bytes); }
  void receive(int peer, int tag, void *data, size_t bytes) override { post(receives, peer, tag, data, bytes); }
  std::set<int> complete(Clock::time_point deadline) override;
  bool hasEnded(int peer) const override { return ended.count(peer); }
  void announceFailure(const std::string &message) override { failures.announce(message); }

private:
  using Queues = std::vector<std::deque<Posted>>; // by rank

  static void post(Queues &queues, int peer, int tag, const void *data, size_t bytes);
  bool sendTo(int peer);
  bool receiveFrom(int peer);
  bool moveAll();
  void wake(int peer);
  void sleepUntil(Clock::time_point moment, uint32_t seen);
  std::set<int> pendingPeers() const;
  bool findEnded(const std::set<int> &peers);

  const Joining options;
  std::shared_ptr<Store> store;
  FailureBoard failures;
  SharedJob job;
  Queues sends, receives;
  std::set<int> ended;
};

SharedChannel::SharedChannel(const Joining &options) : options(options), sends(options.size), receives(options.size) {
  Clock::time_point deadline =
      Clock::now() + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(options.timeout));
  try {
    store = options.store;
    if (!store)
      store = openStore(options, deadline);
    failures = FailureBoard(store, options.rank, options.size);
    job = joinSharedJob(options, *store, deadline);
    // From now on the store is read only after a failure, by ranks that are about to end.
    store->setAnswerTimeout(std::chrono::seconds(1));
  } catch (const Error &error) {
    std::string period = Clock::now() >= deadline ? concat(" within ", formatExact(options.timeout), " s") : "";
    fail("rank ", options.rank, " of ", options.size, " failed to rendezvous at '", options.rendezvous, "'", period,
         ": ", error.what());
  }
}

SharedChannel::~SharedChannel() {
  job.rings->stateOf(options.rank).hasLeft.store(1);
  for (int peer = 0; peer < options.size; ++peer) {
    if (peer == options.rank)
      continue;
    wake(peer);
    ::close(job.processes[peer]);
  }
  // The other ranks may still look up the reason in the store.
  store->waitForOthers(Clock::now() + std::chrono::milliseconds(800));
}

void SharedChannel::post(Queues &queues, int peer, int tag, const void *data, size_t bytes) {
  if (bytes)
    queues[peer].push_back({{static_cast<uint64_t>(tag), bytes}, static_cast<std::byte *>(const_cast<void *>(data))});
}

//===----------------------------------------------------------------------===//
// Moving bytes
//===----------------------------------------------------------------------===//

// Calls f(memory, bytes) for each part of a range of a ring, which may wrap around its end.
template <class F> void forEachPart(std::byte *ring, size_t capacity, uint64_t begin, size_t bytes, const F &f) {
  size_t at = begin % capacity, first = std::min(bytes, capacity - at);
  f(ring + at, first);
  if (bytes > first)
    f(ring, bytes - first);
}

// Sends a piece to a peer; returns whether any bytes moved.
bool SharedChannel::sendTo(int peer) {
  std::deque<Posted> &queue = sends[peer];
  if (queue.empty())
    return false;
  Ring &ring = job.rings->ring(options.rank, peer);
  const size_t capacity = job.rings->ringBytes();
  uint64_t written = ring.written.load(std::memory_order_relaxed);
  size_t room = capacity - (written - ring.read.load(std::memory_order_acquire));
  Posted &next = queue.front();
  // A frame is written in one piece.
  if (room < sizeof(Frame))
    return false;
  size_t bytes = std::min({room, next.size() - next.moved, kPiece});
  auto write = [&](const void *from, size_t size) {
    const auto *source = static_cast<const std::byte *>(from);
    forEachPart(job.rings->bytesOf(options.rank, peer), capacity, written, size, [&](std::byte *to, size_t part) {
      std::memcpy(to, source, part);
      source += part;
    });
    written += size;
    next.moved += size;
  };
  if (next.moved == 0) {
    write(&next.frame, sizeof(Frame));
    bytes -= sizeof(Frame);
  }
  write(next.data + (next.moved - sizeof(Frame)), bytes);
  if (next.moved == next.size())
    queue.pop_front();
  ring.written.store(written, std::memory_order_release);
  wake(peer);
  return true;
}

bool SharedChannel::receiveFrom(int peer) {
  std::deque<Posted> &queue = receives[peer];
  if (queue.empty())
    return false;
  Ring &ring = job.rings->ring(peer, options.rank);
  const size_t capacity = job.rings->ringBytes();
  uint64_t read = ring.read.load(std::memory_order_relaxed);
  size_t available = ring.written.load(std::memory_order_acquire) - read;
  Posted &next = queue.front();
  auto consume = [&](void *to, size_t size) {
    auto *target = static_cast<std::byte *>(to);
    forEachPart(job.rings->bytesOf(peer, options.rank), capacity, read, size, [&](std::byte *from, size_t part) {
      std::memcpy(target, from, part);
      target += part;
    });
  };
  if (next.moved == 0) {
    Frame frame{};
    if (available < sizeof(Frame))
      return false;
    consume(&frame, sizeof(Frame));
    if (frame.tag != next.frame.tag)
      return false;
    if (frame.bytes != next.frame.bytes)
      fail("rank ", options.rank, " expects ", next.frame.bytes, " bytes of rank ", peer, " and finds ", frame.bytes,
           "; start all ranks with the same binary");
    read += sizeof(Frame);
    available -= sizeof(Frame);
    next.moved = sizeof(Frame);
  } else if (available == 0) {
    return false;
  }
  size_t bytes = std::min({available, next.size() - next.moved, kPiece});
  consume(next.data + (next.moved - sizeof(Frame)), bytes);
  next.moved += bytes;
  if (next.moved == next.size())
    queue.pop_front();
  ring.read.store(read + bytes, std::memory_order_release);
  wake(peer);
  return true;
}

bool SharedChannel::moveAll() {
  bool hasMoved = false;
  for (int step = 1; step < options.size; ++step) {
    int peer = (options.rank + step) % options.size;
    hasMoved |= sendTo(peer);
    hasMoved |= receiveFrom(peer);
  }
  return hasMoved;
}

//===----------------------------------------------------------------------===//
// Waiting
//===----------------------------------------------------------------------===//

void SharedChannel::wake(int peer) {
  RankState &state = job.rings->stateOf(peer);
  state.events.fetch_add(1);
  if (state.sleeps.load())
    syscall(SYS_futex, reinterpret_cast<uint32_t *>(&state.events), FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
}

// Sleeps until another rank signals an event. `seen` is the number of events before this rank found that
// nothing can move.
void SharedChannel::sleepUntil(Clock::time_point moment, uint32_t seen) {
  RankState &state = job.rings->stateOf(options.rank);
  for (Clock::time_point end = Clock::now() + kSpinTime; Clock::now() < end;)
    if (state.events.load() != seen)
      return;
  std::chrono::nanoseconds left = nanosecondsUntil(moment);
  timespec time{static_cast<time_t>(left.count() / 1'000'000'000), static_cast<long>(left.count() % 1'000'000'000)};
  state.sleeps.store(1);
  syscall(SYS_futex, reinterpret_cast<uint32_t *>(&state.events), FUTEX_WAIT, seen, &time, nullptr, 0);
  state.sleeps.store(0);
}

std::set<int> SharedChannel::pendingPeers() const {
  std::set<int> peers;
  for (int peer = 0; peer < options.size; ++peer)
    if (!sends[peer].empty() || !receives[peer].empty())
      peers.insert(peer);
  return peers;
}

// Whether a peer has left or its process has ended. The bytes that it has written remain readable.
bool SharedChannel::findEnded(const std::set<int> &peers) {
  bool found = false;
  for (int peer : peers) {
    pollfd process{job.processes[peer], POLLIN, 0};
    if (job.rings->stateOf(peer).hasLeft.load() || poll(&process, 1, 0) > 0) {
      ended.insert(peer);
      found = true;
    }
  }
  return found;
}

std::set<int> SharedChannel::complete(Clock::time_point deadline) {
  RankState &own = job.rings->stateOf(options.rank);
  while (true) {
    uint32_t seen = own.events.load();
    if (moveAll())
      continue;
    std::set<int> pending = pendingPeers();
    if (pending.empty())
      return {};
    const bool isLate = Clock::now() >= deadline, hasLost = findEnded(pending);
    if (!isLate && !hasLost) {
      sleepUntil(std::min(deadline, Clock::now() + kInterval), seen);
      continue;
    }
    // Reads data that arrived before the end first.
    if (moveAll())
      continue;
    failures.throwAnnounced();
    if (!isLate)
      std::erase_if(pending, [&](int peer) { return !ended.count(peer); });
    return pending;
  }
}

} // namespace

TransportFactory braid::sharedTransport(const Joining &joining) {
  return [=] { return std::make_unique<MessageTransport>(std::make_unique<SharedChannel>(joining)); };
}
