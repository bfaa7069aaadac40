//===- Context.h - what br_context is -------------------------------------===//
//
// The state that a running model needs from the runtime: its arena, its library
// calls and its place among ranks.  Each target has its own; the core knows them by
// this interface alone, and the C functions that generated code calls go through it.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_CORE_CONTEXT_H
#define BRAID_CORE_CONTEXT_H

#include "base/AttentionPlaces.h"
#include "braid_rt.h"
#include "comm/Rank.h"
#include "core/SlotCollectives.h"

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

struct br_context {
  // Throws Error when the ranks are not those of the model's mesh.
  br_context(const br_model &model, int threads, const braid::Rank &rank);
  virtual ~br_context() = default;
  br_context(const br_context &) = delete;
  br_context &operator=(const br_context &) = delete;

  const br_model &model;
  const int threads; // of the host
  const braid::Rank rank;

  // The arena's first byte, in the memory of the target.
  virtual std::byte *arena() = 0;
  // The same where the host may touch it; null where it lies on a device.
  virtual std::byte *hostArena() = 0;
  // Copies between the arena and the host's memory, after all that runs has ended.
  virtual void read(uint64_t offset, void *to, uint64_t bytes) = 0;
  virtual void write(uint64_t offset, const void *from, uint64_t bytes) = 0;
  // Zeros a part of the arena where it lies, after all that runs has ended.
  virtual void zero(uint64_t offset, uint64_t bytes) = 0;
  // Says which part is read next, so that a device can begin to copy it.  Nothing runs before that read.
  virtual void expect(uint64_t, uint64_t) {}

  // The first byte of the host's memory beside a device's arena, after all that runs has ended; null
  // where there is none.
  virtual std::byte *hostMemory() { return nullptr; }

  // Runs a program on the inputs that were written.  On return the CPU has done so; a
  // device may have it in its queue.  Throws Error; RankError when communication failed.
  virtual void run(const br_program &program) = 0;
  // How many runs of a program may follow one whose results were not asked for yet.
  virtual int runsAhead() const { return 0; }

  // Where an input of a program's next run is written; each run takes all of its inputs
  // anew.
  virtual std::byte *input(const br_program &program, const br_io &io) = 0;
  // A scalar result of a program's last run, or, with a `back` of up to runsAhead(), of
  // an earlier one; waits for that run alone.
  virtual const std::byte *result(const br_program &program, const br_io &io, int back) = 0;

  // After the last run of a command: waits for it, and writes what was asked for.
  virtual void finish() {}

  virtual void matmul(int32_t index, const void *a, const void *b, void *c, const void *bias, const void *addend) = 0;
  // A target without a library for it refuses, when its context is made, a model that calls it.
  virtual void attention(int32_t, const braid::AttentionPlaces &) {}
  // Whether programs say which action comes next, and what happens then.
  virtual bool isMeasured() const { return false; }
  virtual void action(int32_t) {}
  virtual br_status start(int32_t collective) = 0;
  virtual br_status wait(int32_t collective) = 0;
  // A target without memory of its own refuses a model that has some beside its arena.
  virtual br_status startTransfer(int32_t) { return BR_ERROR; }
  virtual br_status waitForTransfer(int32_t) { return BR_ERROR; }

  // Where it runs, and what it takes there beside the arena; a line each, for people.
  virtual std::vector<std::string> remarks() const { return {}; }
  // What makes the model slower than people would expect, a sentence each.
  virtual std::vector<std::string> warnings() const { return {}; }

  // Programs and messages that run from now on use the slots of a microbatch.
  void useSlotsOf(int32_t microbatch) { slotsOf = microbatch; }
  // Before a message is started that no program starts: what the last program left behind is read.
  virtual void prepareMessage() {}
  // Throws RankError where a start or a wait has failed.
  virtual void checkMessage(br_status status);
  // How far the slot in use is behind the first, in bytes.
  int64_t slotOffset(int32_t slots) const {
    return model.slots[slots].of_microbatch[slotsOf] * model.slots[slots].bytes;
  }

  // This rank's number in its group of a kind.
  int32_t indexIn(int32_t group) const { return indices[group]; }

protected:
  // Its collectives, which a target makes its tables from, and the number there of one that runs now.
  const br_model &withCollectives() const { return inSlots.model(); }
  int32_t collectiveNow(int32_t index) const { return inSlots.at(index, slotsOf); }

private:
  std::vector<int32_t> indices;
  const braid::SlotCollectives inSlots;
  int32_t slotsOf = 0; // a microbatch
};

namespace braid {

// Makes the context of a model on this machine; throws Error when it cannot run here.
using ContextFactory = std::unique_ptr<br_context> (*)(const br_model &model, int threads, const Rank &rank);

// Prints what the target's library has for each matmul of a model, without a context: a JSON object a line.
using MatmulLister = void (*)(const br_model &model, int device);

// A program registers the target it was compiled for (br_use_cpu, br_use_cuda).  `target` is
// what stands before the colon in br_model.target.
void registerTarget(const std::string &target, ContextFactory factory, MatmulLister lister = nullptr);
// Whether a model runs on a device, with an arena in its memory; one without a target is for
// the host.
bool isForDevice(const br_model &model);
std::unique_ptr<br_context> makeContext(const br_model &model, int threads, const Rank &rank);
// Throws Error where the target has no library to ask.
void listMatmuls(const br_model &model, int device);

} // namespace braid
#endif // BRAID_CORE_CONTEXT_H
