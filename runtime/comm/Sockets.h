//===- Sockets.h - addresses and sockets of TCP ---------------------------===//
#ifndef BRAID_COMM_SOCKETS_H
#define BRAID_COMM_SOCKETS_H

#include <chrono>
#include <string>
#include <sys/socket.h>
#include <utility>
#include <vector>

namespace braid {

// Closes it at the end; -1 is none.
class Socket {
public:
  explicit Socket(int number = -1) : number(number) {}
  Socket(Socket &&other) noexcept : number(std::exchange(other.number, -1)) {}
  Socket &operator=(Socket &&other) noexcept {
    std::swap(number, other.number);
    return *this;
  }
  ~Socket();

  int get() const { return number; }
  explicit operator bool() const { return number >= 0; }

private:
  int number;
};

struct SocketAddress {
  sockaddr_storage storage = {};
  socklen_t length = 0;

  const sockaddr *get() const { return reinterpret_cast<const sockaddr *>(&storage); }
  std::string host() const; // numeric
  int port() const;
  bool isLoopback() const;
};

// What the name stands for; the loopback addresses, IPv4 first, for an empty one.
// Nothing, and the reason, when there is nothing.
std::vector<SocketAddress> resolve(const std::string &host, int port, std::string &reason);

// Those that rank 0 listens on: of a name that this host alone takes for a loopback address,
// as Debian's installer sets it, the address that others reach this host by.
std::vector<SocketAddress> addressesToServe(const std::string &host, int port, std::string &reason);

// A socket that does not block; none, and errno, when that fails.
Socket listenOn(const SocketAddress &address);
Socket connectTo(const SocketAddress &address, std::chrono::steady_clock::time_point deadline);

// Its own end.
SocketAddress addressOf(const Socket &socket);

// For poll: at least 0, and enough to be past the deadline.
int millisecondsUntil(std::chrono::steady_clock::time_point deadline);

} // namespace braid
#endif // BRAID_COMM_SOCKETS_H
