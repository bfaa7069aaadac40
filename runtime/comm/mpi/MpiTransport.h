//===- MpiTransport.h - ranks that mpirun started -------------------------===//
#ifndef BRAID_COMM_MPI_MPITRANSPORT_H
#define BRAID_COMM_MPI_MPITRANSPORT_H

#include "comm/Transport.h"

namespace braid {

// Initializes MPI on the communication thread, and finalizes it there: once a
// process.  No other thread may call MPI.
TransportFactory mpiTransport();

} // namespace braid
#endif // BRAID_COMM_MPI_MPITRANSPORT_H
