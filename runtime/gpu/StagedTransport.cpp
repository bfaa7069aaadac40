//===- StagedTransport.cpp - device memory over transports of the host ----===//

#include "gpu/StagedTransport.h"

#include "base/Error.h"
#include "comm/Blocks.h"
#include "gpu/Device.h"
#include "gpu/Memory.h"

#include <functional>
#include <optional>

using namespace braid;

void StagingQueue::push(SharedEventPair eventPair) {
  std::lock_guard lock(mutex);
  eventPairs.push_back(std::move(eventPair));
}

StagingQueue::SharedEventPair StagingQueue::pop() {
  std::lock_guard lock(mutex);
  if (eventPairs.empty())
    return nullptr;
  SharedEventPair next = std::move(eventPairs.front());
  eventPairs.pop_front();
  return next;
}

namespace {

// Elements of a tensor that this rank sends, and that it receives, each in one piece.
int64_t countSent(const Operation &op, const br_segment &s) {
  if (!op.sends(op.group->me))
    return 0;
  bool isBlock = op.row().sent.form == Form::Block;
  return isBlock ? blockCount(s.count, s.recv_rows, op.group->size(), op.group->me) : s.count;
}

int64_t countReceived(const Operation &op, const br_segment &s) {
  if (!op.receives(op.group->me))
    return 0;
  return op.row().received.form == Form::Block ? blockCapacity(s.count, op.group->size()) : s.count;
}

// Pinned memory that can only grow.
class PinnedSpace {
public:
  std::byte *atLeast(size_t wanted) {
    if (wanted > bytes) {
      memory.reset();
      bytes = 0;
      memory.emplace(wanted, " of memory to stage collectives in");
      bytes = wanted;
    }
    return memory ? memory->data() : nullptr;
  }

private:
  std::optional<PinnedMemory> memory;
  size_t bytes = 0;
};

// A tensor's sent and received part on the device, and their places in pinned memory.  If the two
// parts overlap on the device, they overlap there in the same way.
struct Piece {
  const std::byte *send;
  std::byte *recv;
  size_t sent, received; // bytes
  size_t sendAt, recvAt; // offsets in the pinned memory
};

class StagedTransport final : public Transport {
public:
  StagedTransport(std::unique_ptr<Transport> inner, std::shared_ptr<StagingQueue> queue)
      : inner(std::move(inner)), queue(std::move(queue)) {}

  int rank() const override { return inner->rank(); }
  int size() const override { return inner->size(); }
  void run(const Operation &operation, Clock::time_point deadline, double seconds) override;
  void announceFailure(const std::string &message) override { inner->announceFailure(message); }

private:
  void layOut(const Operation &operation);
  void copyDown();
  void copyUp(const GpuEvent &end);

  const std::unique_ptr<Transport> inner;
  const std::shared_ptr<StagingQueue> queue;
  std::optional<GpuStream> stream; // made at the first operation with device memory
  PinnedSpace space;
  std::byte *staged = nullptr;
  std::vector<Piece> pieces;
};

void StagedTransport::run(const Operation &operation, Clock::time_point deadline, double seconds) {
  StagingQueue::SharedEventPair eventPair = queue->pop();
  if (!eventPair)
    return inner->run(operation, deadline, seconds);
  if (!stream) {
    useDevice(queue->device).check();
    stream.emplace();
  }
  eventPair->begin.synchronize().check();
  layOut(operation);
  copyDown();
  Operation onHost = operation;
  for (size_t i = 0; i < pieces.size(); ++i) {
    onHost.segments[i].send = staged + pieces[i].sendAt;
    onHost.segments[i].recv = staged + pieces[i].recvAt;
  }
  // The other ranks' time limit starts when this rank is ready.
  auto limit = std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
  inner->run(onHost, Clock::now() + limit, seconds);
  copyUp(eventPair->end);
}

void StagedTransport::layOut(const Operation &operation) {
  constexpr size_t alignment = 64;
  int64_t width = elementSize(operation.dtype());
  size_t at = 0;
  auto reserve = [&](size_t bytes) {
    size_t place = at;
    at += (bytes + alignment - 1) / alignment * alignment;
    return place;
  };
  const std::less<const std::byte *> before;
  pieces.clear();
  for (const br_segment &s : operation.segments) {
    Piece p{static_cast<const std::byte *>(s.send),
            static_cast<std::byte *>(s.recv),
            static_cast<size_t>(countSent(operation, s) * width),
            static_cast<size_t>(countReceived(operation, s) * width),
            0,
            0};
    bool overlap =
        p.sent > 0 && p.received > 0 && before(p.send, p.recv + p.received) && before(p.recv, p.send + p.sent);
    if (overlap) {
      const std::byte *low = std::min<const std::byte *>(p.send, p.recv, before);
      const std::byte *high = std::max<const std::byte *>(p.send + p.sent, p.recv + p.received, before);
      size_t both = reserve(high - low);
      p.sendAt = both + (p.send - low);
      p.recvAt = both + (p.recv - low);
    } else {
      p.sendAt = reserve(p.sent);
      p.recvAt = reserve(p.received);
    }
    pieces.push_back(p);
  }
  staged = space.atLeast(at);
}

void StagedTransport::copyDown() {
  for (const Piece &p : pieces)
    if (p.sent > 0)
      stream->copyToHost(staged + p.sendAt, p.send, p.sent).check();
  stream->synchronize().check();
}

void StagedTransport::copyUp(const GpuEvent &end) {
  for (const Piece &p : pieces)
    if (p.received > 0)
      stream->copyToDevice(p.recv, staged + p.recvAt, p.received).check();
  end.record(*stream).check();
  // The next operation reuses the pinned memory.
  stream->synchronize().check();
}

} // namespace

TransportFactory braid::stagedTransport(TransportFactory inner, std::shared_ptr<StagingQueue> queue) {
  return [=]() -> std::unique_ptr<Transport> { return std::make_unique<StagedTransport>(inner(), queue); };
}
