//===- ArenaCopies.h - copies between the host's memory and the arena -----===//
//
// The host reads and writes these parts of the arena between programs: tensors of checkpoints,
// initial values, logits.  Their host memory is not pinned, so the driver would copy it through
// small buffers of its own.  Instead they go piece by piece through two pinned buffers: while the
// device copies one piece, host threads copy the other.
//
// The caller may announce the next part to read: then the device copies its first two pieces while
// the host is still busy with the previous part.
//
// The buffers are made at the first copy: 64 MiB each, or the size of the largest part if that is
// smaller.  If the system refuses to pin that much, their size is halved, down to 1 MiB.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_GPU_ARENACOPIES_H
#define BRAID_GPU_ARENACOPIES_H

#include "gpu/Memory.h"
#include "gpu/Streams.h"

#include <optional>
#include <vector>

namespace braid {

class ArenaCopies {
public:
  static constexpr uint64_t maxBytes = 64 << 20, minBytes = 1 << 20;

  // `largest` is the size of the largest part in bytes.  Copies go on `stream`, after all programs
  // have ended.
  ArenaCopies(std::byte *arena, uint64_t largest, const GpuStream &stream, int threads, uint64_t limit = maxBytes);

  // Both return when the copy is complete.  Throw Error if memory cannot be pinned or the device
  // fails.
  void read(uint64_t offset, void *to, uint64_t bytes);
  void write(uint64_t offset, const void *from, uint64_t bytes);

  // Announces the next read; nothing writes to this part before that read.
  void expect(uint64_t offset, uint64_t bytes);
  // Cancels the announced read.
  void forget() { expected.reset(); }

  uint64_t bufferBytes() const { return pieceBytes; }

private:
  struct Buffer {
    PinnedMemory memory;
    GpuEvent done = GpuEvent(); // the last copy from or to this buffer
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
  const GpuStream &stream;
  int threads;
  uint64_t pieceBytes;           // size of a buffer
  std::vector<Buffer> buffers;   // empty before the first copy
  std::optional<Range> expected; // announced part; its first pieces are in flight
};

} // namespace braid
#endif // BRAID_GPU_ARENACOPIES_H
