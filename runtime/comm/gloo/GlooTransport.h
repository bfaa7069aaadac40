//===- GlooTransport.h - processes connected over TCP ---------------------===//
#ifndef BRAID_COMM_GLOO_GLOOTRANSPORT_H
#define BRAID_COMM_GLOO_GLOOTRANSPORT_H

#include "comm/TransportRegistry.h"

namespace braid {

// Ranks rendezvous at `joining.rendezvous`. Each rank listens on the network interface in
// GLOO_SOCKET_IFNAME. By default, it listens on the interface that leads to the store, or on that of this
// host's name.
TransportFactory glooTransport(const Joining &joining);

} // namespace braid
#endif // BRAID_COMM_GLOO_GLOOTRANSPORT_H
