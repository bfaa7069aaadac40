//===- ArenaCopies.h - copies between the host's memory and the arena -----===//
//
// What the host reads from the arena or writes there between programs: tensors of checkpoints,
// initial values, logits.  Their memory on the host is not pinned, and the driver would copy it
// through small buffers of its own.  So it goes by pieces through two pinned buffers: while the
// device copies one piece, threads of the host copy the other.
//
// A part that is read next may be announced: the device copies its first two pieces while the host
// is still busy with the part before.
//
// The buffers are made at the first copy: 64 MiB each, or as large as the largest part.  Where
// the system does not let so much be pinned, they are half as large, and so on down to 1 MiB.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_CUDA_ARENACOPIES_H
#define BRAID_CUDA_ARENACOPIES_H

#include "cuda/PinnedSlots.h"
#include "cuda/Streams.h"

#include <optional>
#include <vector>

namespace braid {

class ArenaCopies {
public:
  static constexpr uint64_t mostBytes = 64 << 20, leastBytes = 1 << 20;

  // `largest` is the number of bytes of the largest part.  Copies go on `stream`, after all programs
  // have ended.
  ArenaCopies(std::byte *arena, uint64_t largest, cudaStream_t stream, int threads, uint64_t limit = mostBytes);

  // Both return when the copy is over.  Throw Error when memory cannot be pinned, or the device fails.
  void read(uint64_t offset, void *to, uint64_t bytes);
  void write(uint64_t offset, const void *from, uint64_t bytes);

  // The next read is of this part, and nothing writes there before it.
  void expect(uint64_t offset, uint64_t bytes);
  // What was expected is not read after all.
  void forget() { expected.reset(); }

  uint64_t bufferBytes() const { return pieceBytes; }

private:
  struct Buffer {
    PinnedMemory memory;
    Event done = Event(); // the last copy from it or to it
  };
  struct Range {
    uint64_t offset, bytes;
    bool operator==(const Range &) const = default;
  };

  void makeBuffers();
  void fetch(const Range &part, uint64_t piece);
  uint64_t piecesOf(const Range &part) const { return (part.bytes + pieceBytes - 1) / pieceBytes; }
  uint64_t lengthOf(const Range &part, uint64_t piece) const;
  Buffer &bufferOf(uint64_t piece) { return buffers[piece % 2]; }
  void await(const Buffer &buffer) const;
  void copyOnHost(std::byte *to, const std::byte *from, uint64_t bytes) const;

  std::byte *arena;
  cudaStream_t stream;
  int threads;
  uint64_t pieceBytes;           // of a buffer
  std::vector<Buffer> buffers;   // none before the first copy
  std::optional<Range> expected; // its first pieces are on their way
};

} // namespace braid
#endif // BRAID_CUDA_ARENACOPIES_H
