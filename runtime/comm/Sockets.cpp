//===- Sockets.cpp - TCP addresses and sockets ----------------------------===//

#include "comm/Sockets.h"

#include "comm/OwnAddress.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <unistd.h>

using namespace braid;
using Clock = std::chrono::steady_clock;

Socket::~Socket() {
  int reason = errno;
  if (number >= 0)
    close(number);
  errno = reason;
}

//===----------------------------------------------------------------------===//
// Addresses
//===----------------------------------------------------------------------===//

std::string SocketAddress::host() const {
  char text[NI_MAXHOST];
  return getnameinfo(get(), length, text, sizeof text, nullptr, 0, NI_NUMERICHOST) == 0 ? text : "";
}

int SocketAddress::port() const {
  return ntohs(storage.ss_family == AF_INET6 ? reinterpret_cast<const sockaddr_in6 &>(storage).sin6_port
                                             : reinterpret_cast<const sockaddr_in &>(storage).sin_port);
}

bool SocketAddress::isLoopback() const {
  if (storage.ss_family == AF_INET6)
    return IN6_IS_ADDR_LOOPBACK(&reinterpret_cast<const sockaddr_in6 &>(storage).sin6_addr);
  return ntohl(reinterpret_cast<const sockaddr_in &>(storage).sin_addr.s_addr) >> 24 == 127;
}

std::vector<SocketAddress> braid::resolve(const std::string &host, int port, std::string &reason) {
  addrinfo hints = {}, *first = nullptr;
  hints.ai_socktype = SOCK_STREAM;
  std::string service = std::to_string(port);
  std::vector<SocketAddress> addresses;
  if (int code = getaddrinfo(host.empty() ? nullptr : host.c_str(), service.c_str(), &hints, &first); code != 0) {
    reason = gai_strerror(code);
    return addresses;
  }
  for (addrinfo *each = first; each; each = each->ai_next) {
    SocketAddress &address = addresses.emplace_back();
    std::memcpy(&address.storage, each->ai_addr, each->ai_addrlen);
    address.length = each->ai_addrlen;
  }
  freeaddrinfo(first);
  if (host.empty())
    std::stable_partition(addresses.begin(), addresses.end(),
                          [](const SocketAddress &address) { return address.storage.ss_family == AF_INET; });
  return addresses;
}

std::vector<SocketAddress> braid::addressesToServe(const std::string &host, int port, std::string &reason) {
  std::vector<SocketAddress> addresses = resolve(host, port, reason);
  bool isLoopback = std::all_of(addresses.begin(), addresses.end(), [](auto &each) { return each.isLoopback(); });
  // A loopback address is intended if the user gave "localhost", no host, or the numeric address itself.
  bool isMeant = host.empty() || host == "localhost" ||
                 std::any_of(addresses.begin(), addresses.end(), [&](auto &each) { return each.host() == host; });
  return isLoopback && !isMeant ? resolve(ownAddress(), port, reason) : addresses;
}

SocketAddress braid::addressOf(const Socket &socket) {
  SocketAddress address;
  address.length = sizeof address.storage;
  if (getsockname(socket.get(), reinterpret_cast<sockaddr *>(&address.storage), &address.length) != 0)
    address.length = 0;
  return address;
}

//===----------------------------------------------------------------------===//
// Sockets
//===----------------------------------------------------------------------===//

static Socket makeSocket(const SocketAddress &address) {
  return Socket(::socket(address.storage.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
}

Socket braid::listenOn(const SocketAddress &address) {
  Socket socket = makeSocket(address);
  int enabled = 1;
  if (socket)
    setsockopt(socket.get(), SOL_SOCKET, SO_REUSEADDR, &enabled, sizeof enabled);
  if (socket && bind(socket.get(), address.get(), address.length) == 0 && listen(socket.get(), 1024) == 0)
    return socket;
  return Socket();
}

Socket braid::connectTo(const SocketAddress &address, Clock::time_point deadline) {
  Socket socket = makeSocket(address);
  if (!socket)
    return socket;
  int reason = 0, enabled = 1;
  socklen_t length = sizeof reason;
  if (connect(socket.get(), address.get(), address.length) != 0) {
    reason = errno;
    if (reason == EINPROGRESS) {
      pollfd polled = {socket.get(), POLLOUT, 0};
      reason = ETIMEDOUT;
      if (poll(&polled, 1, std::min(millisecondsUntil(deadline), 5000)) > 0)
        getsockopt(socket.get(), SOL_SOCKET, SO_ERROR, &reason, &length);
    }
  }
  setsockopt(socket.get(), IPPROTO_TCP, TCP_NODELAY, &enabled, sizeof enabled);
  errno = reason;
  return reason == 0 ? std::move(socket) : Socket();
}

int braid::millisecondsUntil(Clock::time_point deadline) {
  auto left = std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now()).count();
  return static_cast<int>(std::clamp<int64_t>(left + 1, 0, 1 << 30));
}
