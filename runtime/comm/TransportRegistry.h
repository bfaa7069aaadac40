//===- TransportRegistry.h - transports by name ---------------------------===//
//
// Which there are is known to main (transports.h), not to the runtime: a program
// that is not linked with a library does not need it.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_COMM_TRANSPORTREGISTRY_H
#define BRAID_COMM_TRANSPORTREGISTRY_H

#include "comm/Transport.h"

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace braid {

class Store;

// What a process knows before it is connected to the others.
struct Joining {
  int rank = 0, size = 1;                 // size 0: the transport knows both
  double timeout = 30;                    // seconds, to rendezvous
  std::string rendezvous;                 // where (Store.h); not every transport needs one
  std::string job;                        // what makes keys of this job and attempt different
  std::shared_ptr<Store> store = nullptr; // that of the rendezvous, if it is open already
};

using TransportMaker = TransportFactory (*)(const Joining &joining);

// Before any thread looks for one.
void registerTransport(std::string name, TransportMaker maker);

// Null when the program has no such transport.
TransportMaker findTransport(std::string_view name);

// "gloo, mpi", in the order of registration; empty if there is none.
std::string registeredTransports();

} // namespace braid
#endif // BRAID_COMM_TRANSPORTREGISTRY_H
