//===- Walk.h - what each rank does, step by step ---------------*- C++ -*-===//
//
// A schedule with its messages as lists: a rank runs a cell, starts a message, or waits for one,
// one after the other.  What a cell takes, makes and keeps lies in slots, of which a list says for
// each microbatch which one it is, so that a program needs no more than the microbatch.
//
// A received activation or gradient stays in its slot until the stage releases the microbatch.
// What is sent has few slots, and a cell waits for the message that used its slot before.  Where
// two neighbouring stages are on one rank, what the one makes is what the other takes.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_LIB_PIPELINE_WALK_H
#define BRAID_LIB_PIPELINE_WALK_H

#include "lib/Pipeline/Messages.h"
#include <array>

namespace braid::pipeline {

/// What a stage has slots for.
enum class Buffer : uint8_t { Saved, ActivationIn, ActivationOut, GradientIn, GradientOut };
inline constexpr unsigned kNumBuffers = 5;

struct BufferSlots {
  /// 0 where the stage has no such thing.
  unsigned count = 0;
  /// By microbatch.
  std::vector<unsigned> slotOf;
};

struct WalkStep {
  enum Kind : uint8_t { Run, Start, Wait } kind;
  /// The cell, or the message's producer (Forward: an activation) seen from its stage.
  Action action;
  /// Of a message: whether this rank sends it.
  bool isSend;
  /// The stage of the cell; of a message the one that sends, or receives, it here.
  unsigned stage, microbatch;

  std::string str() const;
};

struct Walk {
  std::vector<std::vector<WalkStep>> ranks;
  /// By stage.
  std::vector<std::array<BufferSlots, kNumBuffers>> stages;

  const BufferSlots &slots(unsigned stage, Buffer buffer) const { return stages[stage][static_cast<unsigned>(buffer)]; }
};

/// How many things of one kind a stage may be sending.
inline constexpr unsigned kSendSlots = 2;

/// O(cells log slots).
Walk makeWalk(const Schedule &schedule, const MessagePlan &plan);
/// With messages in the order that they have where all cells take equally long: everybody who asks for
/// that of a schedule gets the same.
Walk makeWalk(const Schedule &schedule);

/// Carries the lists out: whether they come to an end, run the cells of the schedule in its order,
/// find what they take, and never write a slot that is still needed.
llvm::Error verify(const Schedule &schedule, const Walk &walk);

} // namespace braid::pipeline

#endif // BRAID_LIB_PIPELINE_WALK_H
