//===- TransportRegistry.h - transports by name ---------------------------===//
//
// `main` registers the available transports (transports.h), not the runtime: so a program that is not
// linked with a library does not need it.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_COMM_TRANSPORTREGISTRY_H
#define BRAID_COMM_TRANSPORTREGISTRY_H

#include "comm/Joining.h"
#include "comm/Transport.h"

#include <string>
#include <string_view>

namespace braid {

using TransportMaker = TransportFactory (*)(const Joining &joining);

// Call before any thread looks up a transport.
void registerTransport(std::string name, TransportMaker maker);

// Returns null if the program has no such transport.
TransportMaker findTransport(std::string_view name);

// Returns a text such as "gloo, mpi, shm", in the order of registration; empty if there is none.
std::string registeredTransports();

} // namespace braid
#endif // BRAID_COMM_TRANSPORTREGISTRY_H
