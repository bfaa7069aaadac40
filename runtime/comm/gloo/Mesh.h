//===- Mesh.h - connections between all pairs of ranks --------------------===//
//
// Gloo's pairs check no secret: each pair listens on its own port, accepts the first connection as its
// peer, and closes the port. So ranks open their ports only when all ranks are ready, and close them
// milliseconds later. Then each rank proves to each other rank, over the new connections, that it knows a
// secret that rank 0 left in the store. If a stranger got in between, all ranks connect again.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_COMM_GLOO_MESH_H
#define BRAID_COMM_GLOO_MESH_H

#include "comm/Store.h"

#include <gloo/rendezvous/context.h>

namespace braid {

// Throws an Error that names a rank which has not joined by the deadline, or says why ranks cannot connect.
std::shared_ptr<gloo::rendezvous::Context> connectMesh(const Joining &joining, Store &store,
                                                       Store::Clock::time_point deadline);

// Returns Gloo's message without the location in its sources.
std::string textOf(const std::exception &error);

// During its lifetime: if Gloo throws on its own thread, because a connection carries data that no rank
// sends, the process ends with our message.
class EndWithMessage {
public:
  explicit EndWithMessage(int rank);
  ~EndWithMessage();
};

} // namespace braid
#endif // BRAID_COMM_GLOO_MESH_H
