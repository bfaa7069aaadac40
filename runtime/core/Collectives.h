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

  br_status start(int32_t index);
  br_status wait(int32_t index);
  // The communicator's number of what was started last.
  br_ticket ticketOf(int32_t index) const { return tickets[index]; }
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
  std::vector<std::vector<br_segment>> segments;
  std::vector<br_operation> operations;
  std::vector<br_ticket> tickets;
};

} // namespace braid
#endif // BRAID_CORE_COLLECTIVES_H
