//===- SharedTransport.h - processes of one host --------------------------===//
#ifndef BRAID_COMM_SHM_SHAREDTRANSPORT_H
#define BRAID_COMM_SHM_SHAREDTRANSPORT_H

#include "comm/Joining.h"
#include "comm/Transport.h"

namespace braid {

// Ranks rendezvous at `joining.rendezvous`, and from then on exchange messages through memory
// that they share.
TransportFactory sharedTransport(const Joining &joining);

} // namespace braid
#endif // BRAID_COMM_SHM_SHAREDTRANSPORT_H
