//===- ThreadsTransport.h - ranks as threads of a process -----------------===//
//
// No data is sent: between the two barriers of an operation, every rank reads the operands of the other
// ranks in place. In a reduction, each rank combines its part of the elements from all operands, in the
// order of the group, and writes the result directly to every receiver. So every operand is read once and
// every result is written once (reduce-scatter and all-gather in one pass), without extra memory.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_COMM_THREADSTRANSPORT_H
#define BRAID_COMM_THREADSTRANSPORT_H

#include "comm/LinkModel.h"
#include "comm/ThreadsHub.h"

namespace braid {

// Creates the transport of `rank`; all ranks of the process share the hub.
TransportFactory threadsTransport(std::shared_ptr<ThreadsHub> hub, int rank, LinkModel link = {});

} // namespace braid
#endif // BRAID_COMM_THREADSTRANSPORT_H
