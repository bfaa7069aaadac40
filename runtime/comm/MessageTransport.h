//===- MessageTransport.h - collectives over messages ---------------------===//
//
// Implements every collective for any library with send and receive (Channel).
//
// First, all ranks of an operation exchange signatures with each other: no rank touches data before it
// knows that all have started the same operation.
//
// Then data moves in chunks, directly from its owner to its receivers:
//   reduce_scatter  every rank sends each other rank the part that the other
//                   combines (pairwise exchange), and combines its own part in the
//                   order of the group: (n-1)/n of the bytes, as for a ring, but
//                   in a fixed order, so the bits equal those of `threads`.
//   all_reduce      the same; combined chunks are sent to all ranks while the
//                   next chunks arrive (Rabenseifner's two phases).
//   broadcast       scatter, then all_gather (van de Geijn): twice the bytes for
//                   any n, where a tree takes log n times the bytes.
// A rank sends n-1 messages per chunk: this suits tens of ranks, not thousands.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_COMM_MESSAGETRANSPORT_H
#define BRAID_COMM_MESSAGETRANSPORT_H

#include "comm/Stream.h"
#include "comm/Transport.h"

#include <map>
#include <set>

namespace braid {

// The operations that a library must provide to carry every collective: post sends and receives, and
// complete them. Messages with the same tag from one rank to another arrive in order. Used from one thread.
class Channel {
public:
  virtual ~Channel() = default;

  virtual int rank() const = 0;
  virtual int size() const = 0;

  // The channel owns the memory until `complete`. A message has at most a few MiB; a message of 0 bytes is
  // not sent.
  virtual void send(int peer, int tag, const void *data, size_t bytes) = 0;
  virtual void receive(int peer, int tag, void *data, size_t bytes) = 0;

  // Waits until all posted operations are done, and returns an empty set. If that becomes impossible, or is
  // not done by `deadline`, returns the ranks to blame. Throws Error with a rank's message if that rank has
  // announced a failure.
  virtual std::set<int> complete(Clock::time_point deadline) = 0;

  // Whether the rank is known to have ended.
  virtual bool hasEnded(int peer) const = 0;

  // See Transport::announceFailure.
  virtual void announceFailure(const std::string &message) = 0;
};

class MessageTransport : public Transport {
public:
  explicit MessageTransport(std::unique_ptr<Channel> channel) : channel(std::move(channel)) {}

  int rank() const override { return channel->rank(); }
  int size() const override { return channel->size(); }
  void run(const Operation &operation, Clock::time_point deadline, double seconds) override;
  void announceFailure(const std::string &message) override { channel->announceFailure(message); }

private:
  // The running operation, for the functions below.
  const Operation *operation = nullptr;
  const Group *group = nullptr;
  Clock::time_point deadline;
  double seconds = 0;
  int n = 0, me = 0;
  size_t chunkBytes = 0;

  void exchangeSignatures();
  void compare(int place, const Signature &peer);
  void complete();
  std::string progressOf(int rank) const;

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

  // Sends or receives chunk `chunk` of a stream, in place or packed; the peer is the rank at `place`.
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
  std::vector<Signature> signatures;              // by place in the group
  std::map<int, std::string> lastSeen;            // by rank: its last known operation
  std::vector<Stream> outgoing, incoming;         // by place in the group
  std::vector<std::byte> sendSpace, receiveSpace; // one chunk per place, for packing
  std::vector<std::byte> contributions;           // one chunk per place
  std::vector<std::byte> result;                  // one chunk
  std::vector<Unpack> unpacks;
};

} // namespace braid
#endif // BRAID_COMM_MESSAGETRANSPORT_H
