//===- MessageTransport.cpp - comparing signatures, moving blocks ---------===//

#include "comm/MessageTransport.h"

#include "base/Error.h"
#include "base/Format.h"
#include "comm/Blocks.h"

using namespace braid;

namespace {

// Packing space is bounded whatever the number of ranks; all ranks of a group
// agree on it.  Each chunk wakes threads on both sides, which beside busy cores
// takes about as long as to move a MiB: few and large ones.
size_t chunkBytesFor(int ranks) {
  constexpr size_t total = 16 << 20, least = 64 << 10, most = 4 << 20;
  return std::clamp(total / ranks, least, most) / 64 * 64;
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
  switch (op.kind()) {
  case BR_ALL_REDUCE:
  case BR_REDUCE_SCATTER:
  case BR_REDUCE:
    return runReduction();
  case BR_ALL_GATHER:
  case BR_GATHER:
    return runGather();
  case BR_SCATTER:
    return runScatter();
  case BR_ALL_TO_ALL:
    return runAllToAll();
  case BR_BROADCAST:
    return runBroadcast();
  case BR_PERMUTE:
    return runPermute();
  case BR_SEND:
  case BR_RECV:
    return runTransfer();
  case BR_BARRIER:
    return;
  }
}

//===----------------------------------------------------------------------===//
// Signatures
//===----------------------------------------------------------------------===//

void MessageTransport::exchangeSignatures() {
  signatures.assign(n, {});
  for (int place = 0; place < n; ++place) {
    if (place == me || (operation->isTransfer() && place != operation->root()))
      continue;
    channel->receive(group->ranks[place], group->id, &signatures[place], sizeof(Signature));
    channel->send(group->ranks[place], group->id, &operation->signature, sizeof(Signature));
  }
  complete();
}

void MessageTransport::compare(int place, const Signature &theirs) {
  int rank = group->ranks[place];
  lastSeen[rank] = concat("at ", describe(theirs, *group), " over ", describe(*group));
  if (!match(operation->signature, me, theirs, place))
    fail("rank ", channel->rank(), " waits for ", describe(operation->signature, *group), " while rank ", rank, " is ",
         lastSeen[rank]);
}

// Ends when everything posted is done.  Signatures are compared as soon as they
// are there, even when others never come.
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
    text += concat(rank == *late.begin() ? " while rank " : ", rank ", rank, " ", whereIs(rank));
  throw Error(text);
}

std::string MessageTransport::whereIs(int rank) const {
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

// The elements of all tensors, end to end, split into one range for each rank.
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
      if (gets(place))
        outgoing[place].add(segment.send, blockCount(segment.count, segment.recv_rows, n, me) * width);
      if (gets(me))
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
    // The root has everything; it copies what it has sent to its own result.
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

void MessageTransport::runPermute() {
  int source = operation->permuteSource(), target = operation->permuteTarget();
  int64_t width = elementSize(operation->dtype());
  for (const br_segment &segment : operation->segments) {
    if (target >= 0)
      outgoing[target].add(segment.send, segment.count * width);
    if (source >= 0)
      incoming[source].add(segment.recv, segment.count * width);
    else if (segment.count)
      std::memset(segment.recv, 0, segment.count * width);
  }
  exchange();
}

void MessageTransport::runTransfer() {
  int64_t width = elementSize(operation->dtype());
  for (const br_segment &segment : operation->segments) {
    if (operation->kind() == BR_SEND)
      outgoing[operation->root()].add(segment.send, segment.count * width);
    else
      incoming[operation->root()].add(segment.recv, segment.count * width);
  }
  exchange();
}

// Whether the rank at `place` gets what is gathered or combined.
bool MessageTransport::gets(int place) const {
  switch (operation->kind()) {
  case BR_GATHER:
  case BR_REDUCE:
    return place == operation->root();
  default:
    return true;
  }
}
