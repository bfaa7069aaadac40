//===- Slots.h - where held microbatches lie --------------------*- C++ -*-===//
//
// What a stage keeps of a microbatch from its F to its B or W lies in a slot.  A microbatch
// gets the lowest slot that is free, so there are no more slots than microbatches held at
// once: that number follows from the table, and with it the memory of a rank.
//
// Stages of a rank hold their most at different times, so slots that all of them share (of the
// size of the largest) are fewer than those of each stage together.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_LIB_PIPELINE_SLOTS_H
#define BRAID_LIB_PIPELINE_SLOTS_H

#include "lib/Pipeline/Schedule.h"

namespace braid::pipeline {

enum class SlotsOf { Stage, Rank };

struct Slots {
  /// How many there are, by stage or by rank.
  std::vector<unsigned> counts;
  /// The slot of each microbatch, by stage.
  std::vector<std::vector<unsigned>> numbers;
};

/// O(cells log slots).
Slots assignSlots(const Schedule &schedule, SlotsOf owner);

/// The most microbatches of stages that each rank holds at once.
std::vector<unsigned> peaksHeld(const Schedule &schedule);

} // namespace braid::pipeline

#endif // BRAID_LIB_PIPELINE_SLOTS_H
