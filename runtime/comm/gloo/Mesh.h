//===- Mesh.h - connections of all ranks with each other ------------------===//
//
// Gloo's pairs know no secret: each listens on a port of its own, takes whoever comes
// first for its peer, and closes the port.  So ranks open their ports when all are there,
// and close them milliseconds later; then each proves to each, over the new connections,
// that it knows what rank 0 has left in the store.  Where a stranger got in between, all
// connect once more.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_COMM_GLOO_MESH_H
#define BRAID_COMM_GLOO_MESH_H

#include "comm/Store.h"

#include <gloo/rendezvous/context.h>

namespace braid {

// Throws Error that names a rank which has not joined by the deadline, or why ranks cannot
// connect.
std::shared_ptr<gloo::rendezvous::Context> connectMesh(const Joining &joining, Store &store,
                                                       Store::Clock::time_point deadline);

// What Gloo says, without the place in its sources.
std::string textOf(const std::exception &error);

// As long as one lives: where Gloo throws on its own thread, because a connection carries
// what no rank sends, the process ends with a message of ours.
class EndWithMessage {
public:
  explicit EndWithMessage(int rank);
  ~EndWithMessage();
};

} // namespace braid
#endif // BRAID_COMM_GLOO_MESH_H
