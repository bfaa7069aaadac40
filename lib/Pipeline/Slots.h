//===- Slots.h - slots of held microbatches ---------------------*- C++ -*-===//
//
// The tensors that a stage keeps of a microbatch from its F to its B or W are in a slot. A
// microbatch gets the lowest free slot, so there are as many slots as microbatches held at
// once. That number follows from the table, and it determines the memory of a rank.
//
// The stages of a rank reach their peaks at different times. So slots that all stages share
// (of the size of the largest) are fewer than the sum over the stages.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_LIB_PIPELINE_SLOTS_H
#define BRAID_LIB_PIPELINE_SLOTS_H

#include "lib/Pipeline/Schedule.h"

namespace braid::pipeline {

enum class SlotsOf { Stage, Rank };

struct Slots {
  /// Number of slots, by stage or by rank.
  std::vector<unsigned> counts;
  /// Slot of each microbatch, by stage.
  std::vector<std::vector<unsigned>> numbers;
};

/// Assigns the slots. O(cells log slots).
Slots assignSlots(const Schedule &schedule, SlotsOf owner);

/// Returns the peak number of microbatches of stages that each rank holds.
std::vector<unsigned> peakHeldMicrobatches(const Schedule &schedule);

} // namespace braid::pipeline

#endif // BRAID_LIB_PIPELINE_SLOTS_H
