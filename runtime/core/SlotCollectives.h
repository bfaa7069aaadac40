//===- SlotCollectives.h - collectives whose tensors lie in slots ---------===//
//
// A collective of a program of microbatches may send from, or receive into, a slot that depends on the
// microbatch.  Here it is one collective for each of them, so whoever makes tables with addresses, once,
// need not know of slots.
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

  // The model with these in place of its collectives.
  const br_model &model() const { return expanded; }
  // The number there of a collective of the model's, for a microbatch.
  int32_t at(int32_t index, int32_t microbatch) const {
    return first[index] + (first[index + 1] - first[index] > 1 ? microbatch : 0);
  }

private:
  std::list<std::vector<br_segment_desc>> segments;
  std::vector<br_collective_desc> collectives;
  std::vector<int32_t> first; // of each, and the end
  br_model expanded;
};

} // namespace braid
#endif // BRAID_CORE_SLOTCOLLECTIVES_H
