//===- TcpStore.h - a store that a process serves over TCP ----------------===//
//
// The protocol is a part of that of PyTorch's TCPStore (since 2.1), so that a rank
// under torchrun can use the store of the agent, which owns the port.  A request
// is a byte, then its arguments; numbers are little-endian, strings a u64 length and
// bytes:
//
//   VALIDATE  u32 magic                 the first request; no answer
//   SET       key, value                no answer
//   GET       key                       a string
//   CHECK     u64 number of keys, keys  a byte: 0 if all are there
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_COMM_TCPSTORE_H
#define BRAID_COMM_TCPSTORE_H

#include "comm/Store.h"

#include <cstdint>

namespace braid {

namespace tcpstore {
enum Word : uint8_t { Validate = 0, Set = 1, Get = 3, Check = 5 };
constexpr uint32_t magic = 0x3C85F7CE;
} // namespace tcpstore

// Connects, again and again until the deadline; with `serve`, listens first.
std::unique_ptr<Store> openTcpStore(const StoreAddress &address, bool serve, Store::Clock::time_point deadline);

} // namespace braid
#endif // BRAID_COMM_TCPSTORE_H
