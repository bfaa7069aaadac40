//===- Collectives.h - the collectives of a compiled model ----------------===//
//
// The model's tables with this rank's addresses and groups, made once: a step only starts and
// waits.  A single rank with collectives (a mesh of one) runs them too, over its own communicator.
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
  // Makes the groups; all ranks do so in the same order.  Throws Error if the ranks do not match
  // the mesh.
  Collectives(const br_model &model, std::byte *arena, const Rank &rank);

  br_status start(int32_t index);
  br_status wait(int32_t index);
  // The communicator's ticket of the last start.
  br_ticket ticketOf(int32_t index) const { return tickets[index]; }
  // Null if the model has no collectives.
  br_comm *communicator() const { return comm; }
  // The reason why a start or a wait failed.
  const char *error() const { return comm ? br_comm_error(comm) : ""; }

private:
  struct EndCommunicator {
    void operator()(br_comm *comm) const;
  };
  std::unique_ptr<br_comm, EndCommunicator> own; // for a single rank
  br_comm *comm;
  std::vector<std::vector<br_segment>> segments;
  std::vector<br_operation> operations;
  std::vector<br_ticket> tickets;
};

} // namespace braid
#endif // BRAID_CORE_COLLECTIVES_H
