//===- GlooTransport.h - processes that reach each other over TCP ---------===//
#ifndef BRAID_COMM_GLOO_GLOOTRANSPORT_H
#define BRAID_COMM_GLOO_GLOOTRANSPORT_H

#include "comm/TransportRegistry.h"

namespace braid {

// Ranks rendezvous at `joining.rendezvous`.  Each listens on the network
// interface that GLOO_SOCKET_IFNAME names, or else on the one that leads to the
// store, or to this host's name.
TransportFactory glooTransport(const Joining &joining);

} // namespace braid
#endif // BRAID_COMM_GLOO_GLOOTRANSPORT_H
