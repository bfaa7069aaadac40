//===- SharedTransport.h - processes on one host --------------------------===//
#ifndef BRAID_COMM_SHM_SHAREDTRANSPORT_H
#define BRAID_COMM_SHM_SHAREDTRANSPORT_H

#include "comm/Joining.h"
#include "comm/Transport.h"

namespace braid {

// Ranks rendezvous at `joining.rendezvous`, then exchange messages through shared memory.
TransportFactory sharedTransport(const Joining &joining);

} // namespace braid
#endif // BRAID_COMM_SHM_SHAREDTRANSPORT_H
