//===- MpiTransport.h - ranks started by mpirun ---------------------------===//
#ifndef BRAID_COMM_MPI_MPITRANSPORT_H
#define BRAID_COMM_MPI_MPITRANSPORT_H

#include "comm/TransportRegistry.h"

namespace braid {

// Initializes and finalizes MPI on the communication thread, once per process. No other thread may call
// MPI. MPI finds ranks by itself and has its own timeouts: the address and timeout of `joining` are not
// used.
TransportFactory mpiTransport(const Joining &joining = {});

} // namespace braid
#endif // BRAID_COMM_MPI_MPITRANSPORT_H
