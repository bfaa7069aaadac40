//===- OwnAddress.h - where this process is, and where others reach it ----===//
#ifndef BRAID_COMM_OWNADDRESS_H
#define BRAID_COMM_OWNADDRESS_H

#include <string>

namespace braid {

// A numeric address of this machine: one that its name stands for, else that of its
// first interface that is up; a loopback address only when there is nothing else.
// The name alone would not do: it may be unknown, as in containers, or stand for a
// loopback address, as Debian's installer sets it.
std::string ownAddress();

// Which kernel this process runs on, since it was started, and which of its numberings of processes is this one's:
// a container may have its own.
std::string ownHost();

} // namespace braid
#endif // BRAID_COMM_OWNADDRESS_H
