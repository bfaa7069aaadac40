//===- MpiTransport.h - ranks that mpirun started -------------------------===//
#ifndef BRAID_COMM_MPI_MPITRANSPORT_H
#define BRAID_COMM_MPI_MPITRANSPORT_H

#include "comm/TransportRegistry.h"

namespace braid {

// Initializes MPI on the communication thread, and finalizes it there: once a
// process.  No other thread may call MPI.  MPI has its own way to find ranks, and
// its time-outs: those of `joining` are not used.
TransportFactory mpiTransport(const Joining &joining = {});

} // namespace braid
#endif // BRAID_COMM_MPI_MPITRANSPORT_H
