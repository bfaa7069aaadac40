//===- SharedRings.h - shared memory of ranks on one host -----------------===//
//
// A ring of bytes from each rank to each other rank, and one futex word per rank to sleep on. A ring has
// one writer and one reader: each counts the bytes that it has moved, and reads the other's count. The
// memory has no file name: rank 0 creates it and the other ranks open it through /proc. It is freed with
// the last process, however that process ends.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_COMM_SHM_SHAREDRINGS_H
#define BRAID_COMM_SHM_SHAREDRINGS_H

#include "comm/Store.h"

#include <atomic>
#include <memory>
#include <sys/types.h>
#include <vector>

namespace braid {

// Shared state of one rank.
struct alignas(64) RankState {
  std::atomic<uint32_t> events; // counts events that may unblock the rank; a futex
  std::atomic<uint32_t> sleeps; // whether the rank waits for the next event
  std::atomic<uint32_t> hasLeft;
};
static_assert(std::atomic<uint32_t>::is_always_lock_free && std::atomic<uint64_t>::is_always_lock_free);

struct Ring {
  alignas(64) std::atomic<uint64_t> written;
  alignas(64) std::atomic<uint64_t> read;
};

class SharedRings {
public:
  // Allocates the bytes of all rings at once. Throws Error if there is not enough memory.
  static std::unique_ptr<SharedRings> make(int ranks);
  // Opens the rings of another process by its descriptor number.
  static std::unique_ptr<SharedRings> open(int ranks, pid_t maker, int descriptor);
  ~SharedRings();
  SharedRings(const SharedRings &) = delete;
  SharedRings &operator=(const SharedRings &) = delete;

  RankState &stateOf(int rank) { return states[rank]; }
  Ring &ring(int from, int to) { return rings[indexOf(from, to)]; }
  std::byte *bytesOf(int from, int to) { return data + indexOf(from, to) * capacity; }
  size_t ringBytes() const { return capacity; }
  // Rank 0's descriptor, which other ranks open; -1 once it is closed.
  int descriptor() const { return file; }
  void closeDescriptor();

private:
  SharedRings(int ranks, int file);
  void map();
  size_t indexOf(int from, int to) const { return static_cast<size_t>(from) * (ranks - 1) + to - (to > from); }

  const int ranks;
  const size_t capacity;
  int file;
  std::byte *memory = nullptr;
  RankState *states = nullptr;
  Ring *rings = nullptr;
  std::byte *data = nullptr;
};

// The rings of a job, and its processes.
struct SharedJob {
  std::unique_ptr<SharedRings> rings;
  std::vector<int> processes; // by rank: a descriptor, readable once the process has ended; -1 for this rank
};

// All ranks meet at the store. Throws an Error that names a rank which has not joined by the deadline, or
// which cannot share memory with rank 0.
SharedJob joinSharedJob(const Joining &joining, Store &store, Store::Clock::time_point deadline);

} // namespace braid
#endif // BRAID_COMM_SHM_SHAREDRINGS_H
