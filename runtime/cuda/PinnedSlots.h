//===- PinnedSlots.h - inputs and results on their way --------------------===//
//
// Each program has two places in pinned memory for its inputs and two for its scalar
// results, which its runs take in turns: the host writes the inputs of a run, and reads
// the results of the one before, while the device is at another.
//
//   copy      | inputs n |            | results n | inputs n+1 |
//   compute              | program n  |                        | program n+1
//
// Buffers of the arena are shared over time, so inputs arrive after the program before
// has ended, and results leave before the next begins.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_CUDA_PINNEDSLOTS_H
#define BRAID_CUDA_PINNEDSLOTS_H

#include "braid_rt.h"
#include "cuda/Check.h"
#include "cuda/Streams.h"

#include <cstddef>
#include <functional>
#include <vector>

namespace braid {

// Memory of the host that the device copies from and to.
class PinnedMemory {
public:
  explicit PinnedMemory(size_t bytes);
  ~PinnedMemory();
  PinnedMemory(PinnedMemory &&other) noexcept : base(other.base) { other.base = nullptr; }
  PinnedMemory(const PinnedMemory &) = delete;
  PinnedMemory &operator=(const PinnedMemory &) = delete;

  std::byte *data() const { return base; }

private:
  std::byte *base = nullptr;
};

class PinnedSlots {
public:
  // Blocks the host until the device has come by an event; throws Error.
  using Wait = std::function<void(cudaEvent_t)>;
  PinnedSlots(const br_model &model, std::byte *arena, const Streams &streams, Wait wait);

  // Where an input of the program's next run is written.
  std::byte *input(const br_program &program, const br_io &io);
  // Around a run: inputs go down before it, once what ran before has ended; scalar
  // results come up behind it.
  void send(const br_program &program, ProgramErrors &errors);
  void fetch(const br_program &program, ProgramErrors &errors);
  // What comes next on the compute stream, and waits for it, may write over the last results.
  void settle(ProgramErrors &errors);
  // When the last program was done.
  cudaEvent_t lastEnd() const { return ended; }
  // A scalar result of the last run, or of the one before it; null for others.
  const std::byte *result(const br_program &program, const br_io &io, int back);

private:
  struct Program {
    explicit Program(const br_program &program);

    const br_program &program;
    std::vector<size_t> places; // of each input and each scalar result
    size_t bytes = 0;           // of a slot
    PinnedMemory memory;
    Event sent[2], fetched[2];
    int64_t runs = 0;       // that were sent
    bool isWritable = true; // the next run's slot

    std::byte *slot(int64_t run) const { return memory.data() + (run % 2) * bytes; }
  };
  Program &stateOf(const br_program &program);

  std::byte *arena;
  const Streams &streams;
  Wait wait;
  Event ended; // the last program
  const Event *lastFetched = nullptr;
  std::vector<Program> programs;
};

} // namespace braid
#endif // BRAID_CUDA_PINNEDSLOTS_H
