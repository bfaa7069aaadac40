//===- TcpStore.h - a key-value store over TCP ----------------------------===//
//
// Uses a part of the protocol of PyTorch's TCPStore (since 2.1), so that a rank under torchrun can use the
// store of the agent, which owns the port. A request is a byte and its arguments. Numbers are
// little-endian; a string is a u64 length and its bytes:
//
//   VALIDATE  u32 magic                 the first request; no answer
//   SET       key, value                no answer
//   GET       key                       a string
//   CHECK     u64 number of keys, keys  a byte: 0 if all are there
//
// The store that rank 0 serves expects one more request, directly after VALIDATE. With it both sides prove
// that they know the job's token (c and s are 32 random bytes):
//
//   PROVE     c                         s, MAC of ("server", c, s)
//             MAC of ("client", c, s)   a zero byte
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_COMM_TCPSTORE_H
#define BRAID_COMM_TCPSTORE_H

#include "comm/Store.h"

#include <cstdint>

namespace braid {

namespace tcpstore {
enum Word : uint8_t { Validate = 0, Set = 1, Get = 3, Check = 5, Prove = 0x50 };
constexpr uint32_t magic = 0x3C85F7CE;
constexpr size_t nonceBytes = 32;
constexpr uint64_t longestString = 1 << 20;
} // namespace tcpstore

// Connects, with retries until the deadline. If ranks serve the store, rank 0 listens first.
std::unique_ptr<Store> openTcpStore(const StoreAddress &address, const Joining &joining,
                                    Store::Clock::time_point deadline);

} // namespace braid
#endif // BRAID_COMM_TCPSTORE_H
