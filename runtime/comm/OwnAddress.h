//===- OwnAddress.h - network address and identity of a host --------------===//
#ifndef BRAID_COMM_OWNADDRESS_H
#define BRAID_COMM_OWNADDRESS_H

#include <string>

namespace braid {

// Returns a numeric address of this machine. Prefers an address of its host name, then the first interface
// that is up; uses a loopback address only if there is no other. The host name alone is not reliable: it
// may be unknown, as in containers, or resolve to a loopback address, as set by Debian's installer.
std::string ownAddress();

// Identifies the running kernel since its boot and the process-id namespace of this process; a container
// may have its own namespace.
std::string ownHost();

} // namespace braid
#endif // BRAID_COMM_OWNADDRESS_H
