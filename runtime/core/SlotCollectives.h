//===- SlotCollectives.h - collectives of tensors in slots ----------------===//
//
// A collective in a program for microbatches may send from, or receive into, a slot that depends on
// the microbatch.  This class expands it into one collective for each microbatch.  So code that
// computes tables of addresses once need not know slots.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_CORE_SLOTCOLLECTIVES_H
#define BRAID_CORE_SLOTCOLLECTIVES_H

#include "braid_rt.h"

#include <list>
#include <vector>

namespace braid {

class SlotCollectives {
public:
  explicit SlotCollectives(const br_model &model);

  // The model with the expanded collectives.
  const br_model &model() const { return expanded; }
  // Index of a collective of the original model in the expanded model, for a microbatch.
  int32_t at(int32_t index, int32_t microbatch) const {
    return first[index] + (first[index + 1] - first[index] > 1 ? microbatch : 0);
  }

private:
  std::list<std::vector<br_segment_desc>> segments;
  std::vector<br_collective_desc> collectives;
  std::vector<int32_t> first; // first expanded index of each collective, and the end
  br_model expanded;
};

} // namespace braid
#endif // BRAID_CORE_SLOTCOLLECTIVES_H
