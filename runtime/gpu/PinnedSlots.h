//===- PinnedSlots.h - pinned memory for inputs and results ---------------===//
//
// Each program has two slots in pinned memory for its inputs and scalar results, used by alternate
// runs.  While the device runs one program, the host writes the inputs of the next run and reads
// the results of the previous one.
//
//   copy      | inputs n |            | results n | inputs n+1 |
//   compute              | program n  |                        | program n+1
//
// Buffers of the arena are reused over time.  So inputs arrive after the previous program has
// ended, and results leave before the next one begins.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_GPU_PINNEDSLOTS_H
#define BRAID_GPU_PINNEDSLOTS_H

#include "braid_rt.h"
#include "gpu/Memory.h"
#include "gpu/Streams.h"

#include <cstddef>
#include <functional>
#include <vector>

namespace braid {

class PinnedSlots {
public:
  // Blocks the host until the device has passed an event; throws Error.
  using Wait = std::function<void(const GpuEvent &)>;
  PinnedSlots(const br_model &model, std::byte *arena, const Streams &streams, Wait wait);

  // Returns where the host writes an input of the program's next run.
  std::byte *input(const br_program &program, const br_io &io);
  // Called before and after a run.  send() copies the inputs to the device once the previous
  // program has ended; fetch() copies scalar results back.
  void send(const br_program &program, ProgramErrors &errors);
  void fetch(const br_program &program, ProgramErrors &errors);
  // Makes later work on the compute stream wait for the last results, so that it may overwrite
  // them.
  void settle(ProgramErrors &errors);
  // GpuEvent at the end of the last program.
  const GpuEvent &lastEnd() const { return ended; }
  // Returns a scalar result of the last run (`back` 0) or of the run before it (1); null for other
  // results.
  const std::byte *result(const br_program &program, const br_io &io, int back);

private:
  struct Program {
    explicit Program(const br_program &program);

    const br_program &program;
    std::vector<size_t> places; // offset of each input and each scalar result
    size_t bytes = 0;           // size of a slot
    PinnedMemory memory;
    GpuEvent sent[2], fetched[2];
    int64_t runs = 0;       // number of runs sent
    bool isWritable = true; // whether the host may write the next run's slot

    std::byte *slot(int64_t run) const { return memory.data() + (run % 2) * bytes; }
  };
  Program &stateOf(const br_program &program);

  std::byte *arena;
  const Streams &streams;
  Wait wait;
  GpuEvent ended; // end of the last program
  const GpuEvent *lastFetched = nullptr;
  std::vector<Program> programs;
};

} // namespace braid
#endif // BRAID_GPU_PINNEDSLOTS_H
