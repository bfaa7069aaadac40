//===- ThreadsTransport.h - ranks that are threads of one process ---------===//
//
// Nothing is sent: between the two barriers of an operation every rank reads the others'
// operands where they are.  In a reduction each rank combines its part of the
// elements from all operands, in the order of the group, and writes the result
// straight to everyone who gets it: every operand is read once and every result
// written once (reduce-scatter and all-gather in one pass), with no memory beside
// the operands.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_COMM_THREADSTRANSPORT_H
#define BRAID_COMM_THREADSTRANSPORT_H

#include "comm/LinkModel.h"
#include "comm/ThreadsHub.h"

namespace braid {

// The transport of `rank`; all ranks of the process share the hub.
TransportFactory threadsTransport(std::shared_ptr<ThreadsHub> hub, int rank, LinkModel link = {});

} // namespace braid
#endif // BRAID_COMM_THREADSTRANSPORT_H
