//===- Walk.h - steps of each rank ------------------------------*- C++ -*-===//
//
// Lists a schedule with its messages as steps: a rank runs a cell, starts a message, or waits for
// one. The inputs, results and saved tensors of a cell are in slots. A list gives the slot of each
// microbatch, so a program needs to know only the microbatch.
//
// A received activation or gradient stays in its slot until the stage releases the microbatch.
// Sends have few slots, and a cell waits for the message that used its slot before. If two
// adjacent stages are on one rank, the result of one is the input of the other.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_LIB_PIPELINE_WALK_H
#define BRAID_LIB_PIPELINE_WALK_H

#include "lib/Pipeline/Messages.h"
#include <array>

namespace braid::pipeline {

/// Kinds of tensors for which a stage has slots.
enum class Buffer : uint8_t { Saved, ActivationIn, ActivationOut, GradientIn, GradientOut };
inline constexpr unsigned kNumBuffers = 5;

struct BufferSlots {
  /// Number of slots; 0 if the stage has no such tensor.
  unsigned count = 0;
  /// Slot of each microbatch.
  std::vector<unsigned> slotOf;
};

struct WalkStep {
  enum Kind : uint8_t { Run, Start, Wait } kind;
  /// Action of the cell, or of the message's producer (Forward: an activation).
  Action action;
  /// For a message, whether this rank sends it.
  bool isSend;
  /// Stage of the cell; for a message, the stage on this rank that sends or receives it.
  unsigned stage, microbatch;

  std::string str() const;
};

struct Walk {
  std::vector<std::vector<WalkStep>> ranks;
  /// Slots by stage.
  std::vector<std::array<BufferSlots, kNumBuffers>> stages;

  const BufferSlots &slots(unsigned stage, Buffer buffer) const { return stages[stage][static_cast<unsigned>(buffer)]; }
};

/// Number of messages of one kind that a stage may be sending at once.
inline constexpr unsigned kSendSlots = 2;

/// Makes the steps of all ranks. O(cells log slots).
Walk makeWalk(const Schedule &schedule, const MessagePlan &plan);
/// Makes the steps with messages in their order for cells of equal time, so that all callers get the
/// same steps for a schedule.
Walk makeWalk(const Schedule &schedule);

/// Executes the lists. Fails unless they complete, run the cells of the schedule in its order,
/// find their inputs, and never overwrite a slot that is still needed.
llvm::Error verify(const Schedule &schedule, const Walk &walk);

} // namespace braid::pipeline

#endif // BRAID_LIB_PIPELINE_WALK_H
