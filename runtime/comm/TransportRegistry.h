//===- TransportRegistry.h - transports by name ---------------------------===//
//
// Which there are is known to main (transports.h), not to the runtime: a program
// that is not linked with a library does not need it.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_COMM_TRANSPORTREGISTRY_H
#define BRAID_COMM_TRANSPORTREGISTRY_H

#include "comm/Joining.h"
#include "comm/Transport.h"

#include <string>
#include <string_view>
#include <vector>

namespace braid {

using TransportMaker = TransportFactory (*)(const Joining &joining);

// Before any thread looks for one.
void registerTransport(std::string name, TransportMaker maker);

// Null when the program has no such transport.
TransportMaker findTransport(std::string_view name);

// "gloo, mpi, shm", in the order of registration; empty if there is none.
std::string registeredTransports();

} // namespace braid
#endif // BRAID_COMM_TRANSPORTREGISTRY_H
