//===- MessageChunks.cpp - chunked streams and reductions -----------------===//

#include "comm/Blocks.h"
#include "comm/Combine.h"
#include "comm/MessageTransport.h"

using namespace braid;

size_t MessageTransport::chunkSize(const Stream &stream, size_t chunk) const {
  size_t begin = chunk * chunkBytes;
  return begin < stream.size() ? std::min(chunkBytes, stream.size() - begin) : 0;
}

size_t MessageTransport::chunksIn(const std::vector<Stream> &streams) const {
  size_t longest = 0;
  for (const Stream &stream : streams)
    longest = std::max(longest, stream.size());
  return (longest + chunkBytes - 1) / chunkBytes;
}

void MessageTransport::sendChunk(int place, const Stream &stream, size_t chunk) {
  size_t begin = chunk * chunkBytes, bytes = chunkSize(stream, chunk);
  if (bytes == 0)
    return;
  std::byte *data = stream.inPlace(begin, bytes);
  if (!data) {
    sendSpace.resize(std::max(sendSpace.size(), n * chunkBytes));
    data = sendSpace.data() + place * chunkBytes;
    stream.read(begin, bytes, data);
  }
  channel->send(group->ranks[place], group->id, data, bytes);
}

void MessageTransport::receiveChunk(int place, const Stream &stream, size_t chunk) {
  size_t begin = chunk * chunkBytes, bytes = chunkSize(stream, chunk);
  if (bytes == 0)
    return;
  std::byte *data = stream.inPlace(begin, bytes);
  if (!data) {
    receiveSpace.resize(std::max(receiveSpace.size(), n * chunkBytes));
    data = receiveSpace.data() + place * chunkBytes;
    unpacks.push_back({&stream, begin, bytes, data});
  }
  channel->receive(group->ranks[place], group->id, data, bytes);
}

void MessageTransport::unpackChunks() {
  for (const Unpack &unpack : unpacks)
    unpack.stream->write(unpack.begin, unpack.bytes, unpack.from);
  unpacks.clear();
}

// Sends every outgoing stream and receives every incoming stream, chunk by chunk.
void MessageTransport::exchange() {
  if (outgoing[me].size())
    outgoing[me].copyTo(incoming[me]);
  size_t chunks = std::max(chunksIn(outgoing), chunksIn(incoming));
  for (size_t chunk = 0; chunk < chunks; ++chunk) {
    for (int step = 1; step < n; ++step) {
      receiveChunk((me + step) % n, incoming[(me + step) % n], chunk);
      sendChunk((me + step) % n, outgoing[(me + step) % n], chunk);
    }
    complete();
    unpackChunks();
  }
}

//===----------------------------------------------------------------------===//
// Reductions
//===----------------------------------------------------------------------===//

// outgoing[p] is this rank's operand for the part that rank p combines; incoming[p] is the destination of
// that part's result. The results of chunk k and the operands of chunk k+1 travel at the same time: their
// elements differ, so results may overwrite operands.
void MessageTransport::runReduction() {
  const bool scatters = operation->row().received.form == Form::Block;
  for (int place = 0; place < n; ++place) {
    if (scatters) {
      for (const br_segment &segment : operation->segments)
        addBlock(outgoing[place], segment.send, segment, segment.send_rows, place);
    } else {
      addSlice(outgoing[place], /*received=*/false, place);
      if (operation->receives(me))
        addSlice(incoming[place], /*received=*/true, place);
    }
  }
  if (scatters)
    for (const br_segment &segment : operation->segments)
      incoming[me].add(segment.recv,
                       blockCount(segment.count, segment.send_rows, n, me) * elementSize(operation->dtype()));
  contributions.resize(std::max(contributions.size(), n * chunkBytes));
  result.resize(std::max(result.size(), chunkBytes));

  size_t chunks = chunksIn(outgoing);
  if (chunks) {
    sendContributions(0);
    complete();
  }
  for (size_t chunk = 0; chunk < chunks; ++chunk) {
    combineChunk(chunk);
    if (!scatters)
      sendResults(chunk);
    sendContributions(chunk + 1);
    complete();
    unpackChunks();
  }
  if (scatters)
    for (const br_segment &segment : operation->segments)
      zeroPadding(segment, segment.send_rows);
}

void MessageTransport::sendContributions(size_t chunk) {
  for (int step = 1; step < n; ++step) {
    int place = (me + step) % n;
    if (size_t bytes = chunkSize(outgoing[me], chunk))
      channel->receive(group->ranks[place], group->id, contributions.data() + place * chunkBytes, bytes);
    sendChunk(place, outgoing[place], chunk);
  }
}

// Combines the operands in the order of the group, including this rank's own.
void MessageTransport::combineChunk(size_t chunk) {
  size_t bytes = chunkSize(outgoing[me], chunk);
  if (bytes == 0)
    return;
  std::byte *own = contributions.data() + me * chunkBytes;
  if (std::byte *data = outgoing[me].inPlace(chunk * chunkBytes, bytes))
    own = data;
  else
    outgoing[me].read(chunk * chunkBytes, bytes, own);
  std::vector<const void *> sources;
  for (int place = 0; place < n; ++place)
    sources.push_back(place == me ? own : contributions.data() + place * chunkBytes);
  combine(operation->dtype(), operation->reduction(), sources, result.data(),
          static_cast<int64_t>(bytes) / elementSize(operation->dtype()));
  if (operation->receives(me))
    incoming[me].write(chunk * chunkBytes, bytes, result.data());
}

void MessageTransport::sendResults(size_t chunk) {
  size_t bytes = chunkSize(outgoing[me], chunk);
  for (int step = 1; step < n; ++step) {
    int place = (me + step) % n;
    if (operation->receives(me))
      receiveChunk(place, incoming[place], chunk);
    if (operation->receives(place) && bytes)
      channel->send(group->ranks[place], group->id, result.data(), bytes);
  }
}
