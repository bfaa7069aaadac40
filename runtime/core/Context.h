//===- Context.h - the state of a running model ---------------------------===//
//
// The state that a running model needs from the runtime: its arena, its library calls and its place
// among ranks.  Each target has its own class.  The core uses only this interface, and the C
// functions for generated code forward to it.
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
  // Throws Error if the ranks do not match the model's mesh.
  br_context(const br_model &model, int threads, const braid::Rank &rank);
  virtual ~br_context() = default;
  br_context(const br_context &) = delete;
  br_context &operator=(const br_context &) = delete;

  const br_model &model;
  const int threads; // of the host
  const braid::Rank rank;

  // First byte of the arena, in the target's memory.
  virtual std::byte *arena() = 0;
  // The same address if the host can access it; null if the arena is on a device.
  virtual std::byte *hostArena() = 0;
  // Copy between the arena and host memory, after all queued work has ended.
  virtual void read(uint64_t offset, void *to, uint64_t bytes) = 0;
  virtual void write(uint64_t offset, const void *from, uint64_t bytes) = 0;
  // Zeros a part of the arena in place, after all queued work has ended.
  virtual void zero(uint64_t offset, uint64_t bytes) = 0;
  // Announces the next read, so that a device can begin to copy.  No program runs before that read.
  virtual void expect(uint64_t, uint64_t) {}

  // First byte of the host memory beside a device's arena, after all queued work has ended; null if
  // there is none.
  virtual std::byte *hostMemory() { return nullptr; }

  // Runs a program on the inputs written before.  On return a CPU has finished it; a device may
  // still have it queued.  Throws Error; RankError if communication failed.
  virtual void run(const br_program &program) = 0;
  // Number of runs that may follow a run before its results are read.
  virtual int runsAhead() const { return 0; }

  // Returns where to write an input of a program's next run; every run needs all of its inputs
  // anew.
  virtual std::byte *input(const br_program &program, const br_io &io) = 0;
  // Returns a scalar result of a program's last run, or of the run `back` runs before it, up to
  // runsAhead().  Waits for that run only.
  virtual const std::byte *result(const br_program &program, const br_io &io, int back) = 0;

  // Called by a thread that uses the model after another one has.
  virtual void enterThread() {}

  // Called after the last run of a command: waits for it, and writes profile and trace.
  virtual void finish() {}

  virtual void matmul(int32_t index, const void *a, const void *b, void *c, const void *bias, const void *addend) = 0;
  // A target without an attention library throws when it makes the context of a model with
  // attention.
  virtual void attention(int32_t, const braid::AttentionPlaces &) {}
  // Whether programs must announce their actions; and the handler of an announcement.
  virtual bool isMeasured() const { return false; }
  virtual void action(int32_t) {}
  virtual br_status start(int32_t collective) = 0;
  virtual br_status wait(int32_t collective) = 0;
  // A target whose arena is in host memory refuses models with memory beside the arena.
  virtual br_status startTransfer(int32_t) { return BR_ERROR; }
  virtual br_status waitForTransfer(int32_t) { return BR_ERROR; }

  // Messages about the device and its memory beside the arena, one line each.
  virtual std::vector<std::string> remarks() const { return {}; }
  // Warnings about unexpected slowness, one sentence each.
  virtual std::vector<std::string> warnings() const { return {}; }

  // Later programs and messages use the slots of this microbatch.
  void useSlotsOf(int32_t microbatch) { slotsOf = microbatch; }
  // Called before a message that no program starts.  Waits for the copies of the last program's
  // results, which the message may overwrite.
  virtual void prepareMessage() {}
  // Throws RankError if a start or a wait has failed.
  virtual void checkMessage(br_status status);
  // Distance in bytes from the first slot to the slot in use.
  int64_t slotOffset(int32_t slots) const {
    return model.slots[slots].of_microbatch[slotsOf] * model.slots[slots].bytes;
  }

  // This rank's number in its group of a kind.
  int32_t indexIn(int32_t group) const { return indices[group]; }

protected:
  // withCollectives: the model with one collective for each microbatch's slot, for a target's
  // tables.  collectiveOfMicrobatch: the current index of a collective in that model.
  const br_model &withCollectives() const { return inSlots.model(); }
  int32_t collectiveOfMicrobatch(int32_t index) const { return inSlots.at(index, slotsOf); }

private:
  std::vector<int32_t> indices;
  const braid::SlotCollectives inSlots;
  int32_t slotsOf = 0; // microbatch of the slots in use
};

namespace braid {

// Makes a model's context on this machine; throws Error if the model cannot run here.
using ContextFactory = std::unique_ptr<br_context> (*)(const br_model &model, int threads, const Rank &rank);

// Prints a library's algorithms for each matmul of a model, without a context, as one JSON object a
// line.
using MatmulLister = void (*)(const br_model &model, int device);

// Programs register the target that they were compiled for (br_use_cpu, br_use_cuda).  `target` is
// the part of br_model.target before the colon.
void registerTarget(const std::string &target, ContextFactory factory, MatmulLister lister = nullptr);
// Whether a model runs on a device, with an arena in its memory.  A model without a target runs on
// the host.
bool isForDevice(const br_model &model);
std::unique_ptr<br_context> makeContext(const br_model &model, int threads, const Rank &rank);
// Throws Error if the target has no library to ask.
void listMatmuls(const br_model &model, int device);

} // namespace braid
#endif // BRAID_CORE_CONTEXT_H
