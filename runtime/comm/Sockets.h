//===- Sockets.h - TCP addresses and sockets ------------------------------===//
#ifndef BRAID_COMM_SOCKETS_H
#define BRAID_COMM_SOCKETS_H

#include <chrono>
#include <string>
#include <sys/socket.h>
#include <utility>
#include <vector>

namespace braid {

// Owns a socket and closes it; -1 is no socket.
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
  std::string host() const; // numeric address
  int port() const;
  bool isLoopback() const;
};

// Resolves a host name; an empty name gives the loopback addresses, IPv4 first. Returns an empty list, and
// sets `reason`, if there is no address.
std::vector<SocketAddress> resolve(const std::string &host, int port, std::string &reason);

// Returns the addresses that rank 0 listens on. If the host name resolves to a loopback address on this
// host only, as set by Debian's installer, uses the address that other hosts can reach.
std::vector<SocketAddress> addressesToServe(const std::string &host, int port, std::string &reason);

// Returns a non-blocking socket; on failure, returns no socket and sets errno.
Socket listenOn(const SocketAddress &address);
Socket connectTo(const SocketAddress &address, std::chrono::steady_clock::time_point deadline);

// Returns the local address of a socket.
SocketAddress addressOf(const Socket &socket);

// Returns a timeout for poll: at least 0, and rounded up past the deadline.
int millisecondsUntil(std::chrono::steady_clock::time_point deadline);

} // namespace braid
#endif // BRAID_COMM_SOCKETS_H
