//===- MessageTransport.cpp - compare signatures, move blocks -------------===//

#include "comm/MessageTransport.h"

#include "base/Error.h"
#include "base/Format.h"
#include "comm/Blocks.h"

using namespace braid;

namespace {

// Returns the chunk size in bytes; all ranks of a group agree on it. Packing space is bounded for any
// number of ranks. Each chunk wakes threads on both sides, which on busy cores takes about as long as
// moving a MiB, so few large chunks are best.
size_t chunkBytesFor(int ranks) {
  constexpr size_t total = 16 << 20, minBytes = 64 << 10, maxBytes = 4 << 20;
  return std::clamp(total / ranks, minBytes, maxBytes) / 64 * 64;
}

} // namespace

void MessageTransport::run(const Operation &op, Clock::time_point until, double timeout) {
  operation = &op;
  group = op.group;
  deadline = until;
  seconds = timeout;
  n = group->size();
  me = group->me;
  chunkBytes = chunkBytesFor(n);
  clearStreams();
  exchangeSignatures();
  const Form sent = op.row().sent.form, received = op.row().received.form;
  if (op.row().movesNothing())
    return;
  if (op.row().reduces)
    return runReduction();
  if (sent == Form::Blocks)
    return received == Form::Blocks ? runAllToAll() : runScatter();
  if (sent == Form::Block)
    return runGather();
  return op.row().hasRoot() ? runBroadcast() : runTransfer();
}

//===----------------------------------------------------------------------===//
// Signatures
//===----------------------------------------------------------------------===//

void MessageTransport::exchangeSignatures() {
  signatures.assign(n, {});
  for (int place = 0; place < n; ++place) {
    if (place == me || (operation->row().hasPeer() && place != operation->root()))
      continue;
    channel->receive(group->ranks[place], group->id, &signatures[place], sizeof(Signature));
    channel->send(group->ranks[place], group->id, &operation->signature, sizeof(Signature));
  }
  complete();
}

void MessageTransport::compare(int place, const Signature &peer) {
  int rank = group->ranks[place];
  lastSeen[rank] = concat("at ", describe(peer, *group), " over ", describe(*group));
  if (!match(operation->signature, me, peer, place))
    fail("rank ", channel->rank(), " waits for ", describe(operation->signature, *group), " while rank ", rank, " is ",
         lastSeen[rank]);
}

// Waits until all posted operations are done. Compares signatures as soon as they arrive, even if other
// ranks never send theirs.
void MessageTransport::complete() {
  std::set<int> late = channel->complete(deadline);
  for (int place = 0; place < static_cast<int>(signatures.size()); ++place)
    if (signatures[place].number)
      compare(place, signatures[place]);
  signatures.clear();
  if (late.empty())
    return;
  bool timedOut = Clock::now() >= deadline;
  std::string text = timedOut ? concat("after ", formatExact(seconds), " s rank ") : "rank ";
  text += concat(channel->rank(), " waits for ", describe(operation->signature, *group));
  for (int rank : late)
    text += concat(rank == *late.begin() ? " while rank " : ", rank ", rank, " ", progressOf(rank));
  throw Error(text);
}

std::string MessageTransport::progressOf(int rank) const {
  auto last = lastSeen.find(rank);
  if (channel->hasEnded(rank))
    return "has ended";
  return last == lastSeen.end() ? "has not been heard from" : "was last seen " + last->second;
}

//===----------------------------------------------------------------------===//
// Streams of the operation's tensors
//===----------------------------------------------------------------------===//

void MessageTransport::clearStreams() {
  outgoing.resize(std::max<size_t>(outgoing.size(), n));
  incoming.resize(std::max<size_t>(incoming.size(), n));
  for (Stream &stream : outgoing)
    stream.clear();
  for (Stream &stream : incoming)
    stream.clear();
}

void MessageTransport::addBlock(Stream &stream, const void *whole, const br_segment &segment, int rows, int block) {
  int64_t width = elementSize(operation->dtype());
  forEachPiece(segment.count, rows, n, block, [&](int64_t inWhole, int64_t, int64_t count) {
    stream.add(static_cast<const std::byte *>(whole) + inWhole * width, count * width);
  });
}

// Adds slice `slice` of the elements: all tensors, end to end, are split into one range per rank.
void MessageTransport::addSlice(Stream &stream, bool received, int slice) {
  int64_t width = elementSize(operation->dtype()), at = 0;
  Range range = flatBlock(operation->signature.elements, n, slice);
  for (const br_segment &segment : operation->segments) {
    int64_t begin = std::max(range.begin - at, int64_t{0}), end = std::min(range.end - at, segment.count);
    const void *data = received ? segment.recv : segment.send;
    if (begin < end)
      stream.add(static_cast<const std::byte *>(data) + begin * width, (end - begin) * width);
    at += segment.count;
  }
}

void MessageTransport::zeroPadding(const br_segment &segment, int rows) {
  int64_t width = elementSize(operation->dtype());
  int64_t filled = blockCount(segment.count, rows, n, me), padding = blockCapacity(segment.count, n) - filled;
  if (padding > 0)
    std::memset(static_cast<std::byte *>(segment.recv) + filled * width, 0, padding * width);
}

//===----------------------------------------------------------------------===//
// Moving blocks
//===----------------------------------------------------------------------===//

void MessageTransport::runGather() {
  int64_t width = elementSize(operation->dtype());
  for (const br_segment &segment : operation->segments) {
    for (int place = 0; place < n; ++place) {
      if (operation->receives(place))
        outgoing[place].add(segment.send, blockCount(segment.count, segment.recv_rows, n, me) * width);
      if (operation->receives(me))
        addBlock(incoming[place], segment.recv, segment, segment.recv_rows, place);
    }
  }
  exchange();
}

void MessageTransport::runScatter() {
  int64_t width = elementSize(operation->dtype());
  for (const br_segment &segment : operation->segments) {
    for (int place = 0; operation->isRoot() && place < n; ++place)
      addBlock(outgoing[place], segment.send, segment, segment.send_rows, place);
    incoming[operation->root()].add(segment.recv, blockCount(segment.count, segment.send_rows, n, me) * width);
  }
  exchange();
  for (const br_segment &segment : operation->segments)
    zeroPadding(segment, segment.send_rows);
}

void MessageTransport::runAllToAll() {
  for (const br_segment &segment : operation->segments) {
    for (int place = 0; place < n; ++place) {
      addBlock(outgoing[place], segment.send, segment, segment.send_rows, place);
      addBlock(incoming[place], segment.recv, segment, segment.recv_rows, place);
    }
  }
  exchange();
}

void MessageTransport::runBroadcast() {
  int root = operation->root();
  for (int place = 0; place < n; ++place)
    if (operation->isRoot())
      addSlice(outgoing[place], /*received=*/false, place);
  addSlice(incoming[root], /*received=*/true, me);
  exchange();
  clearStreams();
  for (int place = 0; place < n; ++place) {
    // The root has all data; it copies what it sent to its own result.
    if (place != root && place != me)
      addSlice(outgoing[place], /*received=*/!operation->isRoot(), me);
    if (me != root && place != me)
      addSlice(incoming[place], /*received=*/true, place);
    if (me == root && place != me) {
      addSlice(outgoing[me], /*received=*/false, place);
      addSlice(incoming[me], /*received=*/true, place);
    }
  }
  exchange();
}

// Moves whole tensors from one rank to one rank. A rank without a source receives zeros.
void MessageTransport::runTransfer() {
  int source = operation->source(), target = operation->target();
  int64_t width = elementSize(operation->dtype());
  for (const br_segment &segment : operation->segments) {
    if (target >= 0)
      outgoing[target].add(segment.send, segment.count * width);
    if (source >= 0)
      incoming[source].add(segment.recv, segment.count * width);
    else if (segment.count && operation->receives(me))
      std::memset(segment.recv, 0, segment.count * width);
  }
  exchange();
}
