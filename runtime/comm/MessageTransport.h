//===- MessageTransport.h - collectives over messages ---------------------===//
//
// Every collective for every library that can send and receive (Channel.h).
//
// First the ranks of an operation exchange signatures, all with all: no rank
// touches data before it knows that all have started the same operation.
//
// Then data goes in chunks straight from its owner to whoever needs it.
//   reduce_scatter  every rank sends each other rank the part that this one
//                   combines (pairwise exchange), and combines its own part in the
//                   order of the group: (n-1)/n of the bytes, as for a ring, but
//                   with a fixed order, so the bits are those of `threads`.
//   all_reduce      the same, and the combined chunks go to everyone while the
//                   next chunks come in (Rabenseifner's two phases).
//   broadcast       scatter, then all_gather (van de Geijn): twice the bytes for
//                   any n, where a tree takes log n times.
// A rank sends n-1 messages a chunk: meant for tens of ranks, not for thousands.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_COMM_MESSAGETRANSPORT_H
#define BRAID_COMM_MESSAGETRANSPORT_H

#include "comm/Channel.h"
#include "comm/Stream.h"

#include <map>

namespace braid {

class MessageTransport : public Transport {
public:
  explicit MessageTransport(std::unique_ptr<Channel> channel) : channel(std::move(channel)) {}

  int rank() const override { return channel->rank(); }
  int size() const override { return channel->size(); }
  void run(const Operation &operation, Clock::time_point deadline, double seconds) override;
  void announceFailure(const std::string &message) override { channel->announceFailure(message); }

private:
  // What is running, for the functions below.
  const Operation *operation = nullptr;
  const Group *group = nullptr;
  Clock::time_point deadline;
  double seconds = 0;
  int n = 0, me = 0;
  size_t chunkBytes = 0;

  void exchangeSignatures();
  void compare(int place, const Signature &theirs);
  void complete();
  std::string whereIs(int rank) const;

  void runReduction();
  void sendContributions(size_t chunk);
  void combineChunk(size_t chunk);
  void sendResults(size_t chunk);
  void runGather();
  void runScatter();
  void runAllToAll();
  void runBroadcast();
  void runTransfer();
  void exchange();

  void addBlock(Stream &stream, const void *whole, const br_segment &segment, int rows, int block);
  void addSlice(Stream &stream, bool received, int slice);
  void zeroPadding(const br_segment &segment, int rows);
  void clearStreams();

  // Chunk `chunk` of a stream, to or from the rank at `place`, in place or packed.
  void sendChunk(int place, const Stream &stream, size_t chunk);
  void receiveChunk(int place, const Stream &stream, size_t chunk);
  void unpackChunks();
  size_t chunkSize(const Stream &stream, size_t chunk) const;
  size_t chunksIn(const std::vector<Stream> &streams) const;

  struct Unpack {
    const Stream *stream;
    size_t begin, bytes;
    const std::byte *from;
  };

  const std::unique_ptr<Channel> channel;
  std::vector<Signature> signatures;              // by place
  std::map<int, std::string> lastSeen;            // by rank: the operation that it was at
  std::vector<Stream> outgoing, incoming;         // by place
  std::vector<std::byte> sendSpace, receiveSpace; // a chunk a place, for packing
  std::vector<std::byte> contributions;           // a chunk a place
  std::vector<std::byte> result;                  // a chunk
  std::vector<Unpack> unpacks;
};

} // namespace braid
#endif // BRAID_COMM_MESSAGETRANSPORT_H
