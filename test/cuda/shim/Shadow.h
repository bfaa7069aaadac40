//===- Shadow.h - what is known of every byte of memory -------------------===//
//
// Shadow memory has one byte for each byte (was it ever written?) and one Cell for each pair of bytes: its last writer,
// and its readers since the launch began.
//
// Time is a number of *segments*: a block starts a new one, and so does each barrier of a whole block. Segments are
// numbered in the order in which they run, so an older access is from an earlier launch (before `launch`), from another
// block of this launch (before `block`), ordered by a barrier of the block (before `now`), or concurrent with the other
// threads of the segment. Barriers of a part of a warp also order accesses; vector clocks of the 32 threads of a warp
// count them.
//
// Pairs of bytes are exact for elements of at least two bytes. For single bytes, a race on two halves of a pair looks
// like a race on one byte, so each cell records the halves and compares only the last access.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_SHIM_SHADOW_H
#define BRAID_SHIM_SHADOW_H

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

namespace shim {

using Segment = uint32_t;

// A thread's knowledge of its warp: the barrier count at which each other thread last synchronized with it, and its own
// count.
struct WarpClock {
  std::array<uint32_t, 32> known{};
};

// The thread that accesses memory, and its segments.
struct Accessor {
  Segment launch, block, now;
  uint16_t thread;
  const WarpClock *clock;

  unsigned warp() const { return thread / 32; }
  unsigned lane() const { return thread % 32; }
  uint32_t count() const { return clock->known[lane()]; }
};

struct Cell {
  Segment writeSegment = 0, readSegment = 0;
  uint32_t writeCount = 0, readCount = 0; // of the warp's clock
  uint32_t readLanes = 0;
  uint16_t writeThread = 0;
  uint8_t readWarp = 0;
  uint8_t manyBlocks : 1 = 0, manyWarps : 1 = 0, writeHalves : 2 = 0, readHalves : 2 = 0;
};

// Ranges [begin, end) of bytes.
using Ranges = std::vector<std::pair<uint64_t, uint64_t>>;

class Shadow {
public:
  explicit Shadow(size_t bytes);

  // Returns the fault of the access, or "" if there is none.
  std::string load(const Accessor &accessor, size_t offset, size_t bytes);
  std::string store(const Accessor &accessor, size_t offset, size_t bytes);

  // Accesses of copies, libraries and the host.
  void written(size_t offset, size_t bytes);
  void copied(size_t offset, const Shadow &from, size_t fromOffset, size_t bytes);
  void unwrite(); // all is as if it was never written
  // One byte for each byte: 1 if it was written.
  const uint8_t *knownAt(size_t offset) const { return known.get() + offset; }
  void setKnown(size_t offset, const uint8_t *from, size_t bytes);
  // Returns the first byte of the range that was never written; `bytes` if there is none.
  size_t unwritten(size_t offset, size_t bytes) const;
  void forget(); // as fresh memory

  // Returns the memory accessed since the launch with this first segment.
  void accessed(Segment launch, Ranges &reads, Ranges &writes);

private:
  void touch(Segment launch, size_t offset, size_t bytes);

  // Zero is the initial state, so unused pages cost nothing.
  template <class T> using Zeroed = std::unique_ptr<T[], decltype(&std::free)>;
  size_t bytes;
  Zeroed<Cell> cells;
  Zeroed<uint8_t> known;
  std::vector<Segment> pages; // the launch that touched each page last
  std::vector<uint32_t> touched;
  Segment touching = 0; // the launch that `touched` is of
};

// A new segment.
Segment nextSegment();

} // namespace shim
#endif // BRAID_SHIM_SHADOW_H
