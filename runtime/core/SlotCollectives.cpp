//===- SlotCollectives.cpp - collectives of tensors in slots --------------===//

#include "core/SlotCollectives.h"

#include <algorithm>

using namespace braid;

static int32_t microbatchesOf(const br_model &model, const br_collective_desc &d) {
  int32_t microbatches = 1;
  for (int32_t s = 0; s < d.n_segments; ++s)
    for (int32_t slots : {d.segments[s].send_slots, d.segments[s].recv_slots})
      if (slots != 0)
        microbatches = std::max(microbatches, model.slots[slots - 1].n_microbatches);
  return microbatches;
}

static uint64_t placeIn(const br_model &model, uint64_t offset, int32_t slots, int32_t microbatch) {
  return slots == 0 ? offset : offset + model.slots[slots - 1].of_microbatch[microbatch] * model.slots[slots - 1].bytes;
}

SlotCollectives::SlotCollectives(const br_model &model) : expanded(model) {
  for (int32_t i = 0; i < model.n_collectives; ++i) {
    const br_collective_desc &d = model.collectives[i];
    first.push_back(static_cast<int32_t>(collectives.size()));
    for (int32_t microbatch = 0, n = microbatchesOf(model, d); microbatch < n; ++microbatch) {
      std::vector<br_segment_desc> &expandedSegments = segments.emplace_back(d.segments, d.segments + d.n_segments);
      for (br_segment_desc &segment : expandedSegments) {
        segment.send = placeIn(model, segment.send, segment.send_slots, microbatch);
        segment.recv = placeIn(model, segment.recv, segment.recv_slots, microbatch);
      }
      collectives.push_back(d);
      collectives.back().segments = expandedSegments.data();
    }
  }
  first.push_back(static_cast<int32_t>(collectives.size()));
  expanded.collectives = collectives.data();
  expanded.n_collectives = static_cast<int32_t>(collectives.size());
}
