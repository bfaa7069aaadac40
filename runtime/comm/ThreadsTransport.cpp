//===- ThreadsTransport.cpp - ranks as threads of a process ---------------===//

#include "comm/ThreadsTransport.h"

#include "comm/Blocks.h"
#include "comm/Combine.h"

#include <cstring>
#include <span>
#include <thread>

using namespace braid;

namespace {

using Partners = std::vector<const Operation *>; // by place in the group

const std::byte *bytes(const void *p) { return static_cast<const std::byte *>(p); }
std::byte *bytes(void *p) { return static_cast<std::byte *>(p); }

// Skips blocks that are already in place.
void copy(std::byte *to, const std::byte *from, int64_t size) {
  if (size > 0 && to != from)
    std::memcpy(to, from, size);
}

void zero(std::byte *to, int64_t size) {
  if (size > 0)
    std::memset(to, 0, size);
}

// Executes one operation for one rank.
class Mover {
public:
  Mover(const Operation &own, const Partners &all)
      : own(own), all(all), n(static_cast<int>(all.size())), me(own.group->me), width(elementSize(own.dtype())) {}

  void move();

private:
  void combineBucket();
  void combineRange(size_t segment, Range range);
  void combineBlock(size_t segment);
  void combineInto(std::span<std::byte *const> targets, std::span<const std::byte *const> sources, int64_t count);
  void copyWhole(size_t segment);
  void placeBlock(size_t segment, int block, const Operation &from);
  void copyBlockFrom(size_t segment, int block, const Operation &from);
  void exchangeBlock(size_t segment, int peer);

  const Operation &own;
  const Partners &all;
  const int n, me;
  const int64_t width; // bytes per element
};

// Moves data according to the forms of the sent and received tensors. A rank that only sends does nothing.
void Mover::move() {
  const Form sent = own.row().sent.form, received = own.row().received.form;
  if (own.row().reduces && received == Form::Whole)
    return combineBucket();
  if (!own.receives(me))
    return;
  for (size_t i = 0; i < own.segments.size(); ++i) {
    if (own.row().reduces)
      combineBlock(i);
    else if (received == Form::Block)
      copyBlockFrom(i, me, *all[own.root()]);
    else if (received == Form::Whole)
      copyWhole(i);
    else
      for (int peer = 0; peer < n; ++peer)
        sent == Form::Block ? placeBlock(i, peer, *all[peer]) : exchangeBlock(i, peer);
  }
}

// Combines this rank's share: the elements of all tensors, end to end, are split into one range per rank,
// so that ranks have equal work for any tensor sizes.
void Mover::combineBucket() {
  Range ownBlock = flatBlock(own.signature.elements, n, me);
  int64_t at = 0;
  for (size_t i = 0; i < own.segments.size(); ++i) {
    int64_t count = own.segments[i].count;
    Range part = {std::max(ownBlock.begin - at, int64_t{0}), std::min(ownBlock.end - at, count)};
    if (part.size() > 0)
      combineRange(i, part);
    at += count;
  }
}

void Mover::combineRange(size_t segment, Range range) {
  std::vector<const std::byte *> sources;
  std::vector<std::byte *> targets;
  for (const Operation *partner : all) {
    const br_segment &s = partner->segments[segment];
    sources.push_back(bytes(s.send) + range.begin * width);
    if (partner->receives(partner->group->me))
      targets.push_back(bytes(s.recv) + range.begin * width);
  }
  combineInto(targets, sources, range.size());
}

void Mover::combineBlock(size_t segment) {
  const br_segment &s = own.segments[segment];
  std::byte *block = bytes(s.recv);
  std::vector<const std::byte *> sources(n);
  forEachPiece(s.count, s.send_rows, n, me, [&](int64_t inWhole, int64_t inBlock, int64_t count) {
    for (int peer = 0; peer < n; ++peer)
      sources[peer] = bytes(all[peer]->segments[segment].send) + inWhole * width;
    std::byte *target = block + inBlock * width;
    combineInto({&target, 1}, sources, count);
  });
  int64_t filled = blockCount(s.count, s.send_rows, n, me);
  zero(block + filled * width, (blockCapacity(s.count, n) - filled) * width);
}

// A target may alias a source at the same elements: each piece is read from all sources before it is
// written to any target, and is copied to the others while it is in cache.
void Mover::combineInto(std::span<std::byte *const> targets, std::span<const std::byte *const> sources, int64_t count) {
  constexpr int64_t pieceElements = 1 << 14;
  std::vector<const void *> at(sources.size());
  for (int64_t begin = 0; begin < count; begin += pieceElements) {
    int64_t size = std::min(pieceElements, count - begin);
    for (size_t i = 0; i < sources.size(); ++i)
      at[i] = sources[i] + begin * width;
    std::byte *first = targets[0] + begin * width;
    combine(own.dtype(), own.reduction(), at, first, size);
    for (std::byte *target : targets.subspan(1))
      std::memcpy(target + begin * width, first, size * width);
  }
}

// Copies from the rank that has the tensor for this rank; writes zeros if there is none.
void Mover::copyWhole(size_t segment) {
  const br_segment &s = own.segments[segment];
  if (own.source() < 0)
    return zero(bytes(s.recv), s.count * width);
  const Operation &from = own.row().hasPeer() ? *all[0] : *all[own.source()]; // the sender is first
  copy(bytes(s.recv), bytes(from.segments[segment].send), s.count * width);
}

// Copies a block of `from` to its place in this rank's whole tensor.
void Mover::placeBlock(size_t segment, int block, const Operation &from) {
  const br_segment &s = own.segments[segment];
  const std::byte *source = bytes(from.segments[segment].send);
  forEachPiece(s.count, s.recv_rows, n, block, [&](int64_t inWhole, int64_t inBlock, int64_t count) {
    copy(bytes(s.recv) + inWhole * width, source + inBlock * width, count * width);
  });
}

// Copies a block of `from`'s whole tensor to this rank's own buffer.
void Mover::copyBlockFrom(size_t segment, int block, const Operation &from) {
  const br_segment &s = own.segments[segment], &source = from.segments[segment];
  forEachPiece(s.count, source.send_rows, n, block, [&](int64_t inWhole, int64_t inBlock, int64_t count) {
    copy(bytes(s.recv) + inBlock * width, bytes(source.send) + inWhole * width, count * width);
  });
  int64_t filled = blockCount(s.count, source.send_rows, n, block);
  zero(bytes(s.recv) + filled * width, (blockCapacity(s.count, n) - filled) * width);
}

// Copies the block that `peer` has for this rank to its place among the received blocks. Both layouts list
// the block's elements in the same order, in pieces of different sizes.
void Mover::exchangeBlock(size_t segment, int peer) {
  const br_segment &s = own.segments[segment], &source = all[peer]->segments[segment];
  int64_t inner = s.count / s.recv_rows / n;
  forEachPiece(s.count, source.send_rows, n, me, [&](int64_t inWhole, int64_t inBlock, int64_t count) {
    const std::byte *from = bytes(source.send) + inWhole * width;
    while (count > 0) {
      int64_t row = inBlock / inner, column = inBlock % inner, size = std::min(count, inner - column);
      copy(bytes(s.recv) + ((row * n + peer) * inner + column) * width, from, size * width);
      from += size * width;
      inBlock += size;
      count -= size;
    }
  });
}

class ThreadsTransport : public Transport {
public:
  ThreadsTransport(std::shared_ptr<ThreadsHub> hub, int rank, LinkModel link)
      : hub(std::move(hub)), ownRank(rank), link(link) {}
  ~ThreadsTransport() override { hub->leave(ownRank); }

  int rank() const override { return ownRank; }
  int size() const override { return hub->size(); }

  void run(const Operation &operation, Clock::time_point deadline, double seconds) override {
    Mover(operation, hub->rendezvous(ownRank, operation, deadline, seconds)).move();
    hub->finish(ownRank, operation);
    if (double time = link.seconds(operation); time > 0)
      std::this_thread::sleep_until(hub->rendezvousAt(ownRank) +
                                    std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(time)));
  }

  void announceFailure(const std::string &message) override { hub->fail(message); }

private:
  const std::shared_ptr<ThreadsHub> hub;
  const int ownRank;
  const LinkModel link;
};

} // namespace

TransportFactory braid::threadsTransport(std::shared_ptr<ThreadsHub> hub, int rank, LinkModel link) {
  return [=] { return std::make_unique<ThreadsTransport>(hub, rank, link); };
}
