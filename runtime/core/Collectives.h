//===- Collectives.h - the collectives of a compiled model ----------------===//
//
// The tables of the model with this rank's addresses and groups in them, made
// once: a step only starts and waits.  A rank alone that has collectives (a mesh
// of one) runs them, too, over a communicator of its own.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_CORE_COLLECTIVES_H
#define BRAID_CORE_COLLECTIVES_H

#include "comm/Rank.h"

#include <cstddef>
#include <memory>
#include <vector>

namespace braid {

class Collectives {
public:
  // Makes the groups: every rank does so in the same order.  Throws Error when
  // the ranks are not those of the mesh.
  Collectives(const br_model &model, std::byte *arena, const Rank &rank);

  // Where a collective has tensors in slots, they are those of a microbatch.
  br_status start(int32_t index, int32_t microbatch = 0);
  br_status wait(int32_t index, int32_t microbatch = 0);
  // The communicator's number of what was started last.
  br_ticket ticketOf(int32_t index, int32_t microbatch = 0) const { return variantOf(index, microbatch).ticket; }
  // Null where the model has none.
  br_comm *communicator() const { return comm; }
  // Why a start or a wait failed.
  const char *error() const { return comm ? br_comm_error(comm) : ""; }

private:
  struct EndCommunicator {
    void operator()(br_comm *comm) const;
  };
  std::unique_ptr<br_comm, EndCommunicator> own; // of a rank alone
  br_comm *comm;
  struct Variant {
    std::vector<br_segment> segments;
    br_operation operation;
    br_ticket ticket;
  };
  void add(const br_model &model, std::byte *arena, const br_collective_desc &desc, int32_t group);
  const Variant &variantOf(int32_t index, int32_t microbatch) const {
    return variants[index].size() > 1 ? variants[index][microbatch] : variants[index].front();
  }
  // Of each collective: one, or one for each microbatch.
  std::vector<std::vector<Variant>> variants;
};

} // namespace braid
#endif // BRAID_CORE_COLLECTIVES_H
