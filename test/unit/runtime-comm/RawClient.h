//===- RawClient.h - a client that need not keep to the protocol ----------===//
#ifndef BRAID_TEST_RAWCLIENT_H
#define BRAID_TEST_RAWCLIENT_H

#include "comm/JobToken.h"
#include "comm/TcpStore.h"

#include <arpa/inet.h>
#include <chrono>
#include <cstddef>
#include <cstdio>
#include <netinet/in.h>
#include <optional>
#include <poll.h>
#include <random>
#include <string>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

namespace braid::test {

// Returns a socket that is bound to the address, or -1.
inline int boundTo(int family, const void *address, socklen_t length) {
  int number = socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (number >= 0 && bind(number, static_cast<const sockaddr *>(address), length) == 0)
    return number;
  close(number);
  return -1;
}

// Returns a free port of 127.0.0.1, which no other call returns before this process ends. scripts/ports.py
// chooses by the same rule.
inline int freePort() {
  static std::minstd_rand random{std::random_device()()};
  for (int attempt = 0; attempt < 10000; ++attempt) {
    const int port = std::uniform_int_distribution(10000, 19999)(random);
    sockaddr_un name = {};
    name.sun_family = AF_UNIX;
    const int length = std::snprintf(name.sun_path + 1, sizeof name.sun_path - 1, "braid-port-%d", port);
    const int claim = boundTo(AF_UNIX, &name, offsetof(sockaddr_un, sun_path) + 1 + length);
    if (claim < 0)
      continue;
    sockaddr_in address = {};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (int probe = boundTo(AF_INET, &address, sizeof address); probe >= 0) {
      close(probe);
      return port; // the claim stays until this process ends
    }
    close(claim);
  }
  return -1;
}

template <class Number> std::string bytesOf(Number number) {
  return std::string(reinterpret_cast<const char *>(&number), sizeof number);
}
inline std::string stringOf(const std::string &text) { return bytesOf(uint64_t{text.size()}) + text; }
inline std::string validate() { return char(tcpstore::Validate) + bytesOf(tcpstore::magic); }
inline std::string setOf(const std::string &key, const std::string &value) {
  return char(tcpstore::Set) + stringOf(key) + stringOf(value);
}
inline std::string getOf(const std::string &key) { return char(tcpstore::Get) + stringOf(key); }

class RawClient {
public:
  explicit RawClient(int port, const char *host = "127.0.0.1") : number(::socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in address = {};
    address.sin_family = AF_INET;
    address.sin_port = htons(static_cast<uint16_t>(port));
    inet_pton(AF_INET, host, &address.sin_addr);
    connected = connect(number, reinterpret_cast<sockaddr *>(&address), sizeof address) == 0;
  }
  ~RawClient() { close(number); }
  RawClient(const RawClient &) = delete;
  RawClient &operator=(const RawClient &) = delete;

  bool isConnected() const { return connected; }
  int socket() const { return number; }

  // Sends bytes within the time limit; returns false if the other side does not accept all.
  bool send(const std::string &bytes, std::chrono::milliseconds patience = std::chrono::seconds(5)) {
    auto deadline = std::chrono::steady_clock::now() + patience;
    for (size_t at = 0; at < bytes.size();) {
      ssize_t sent = ::send(number, bytes.data() + at, bytes.size() - at, MSG_NOSIGNAL | MSG_DONTWAIT);
      if (sent < 0 && errno != EAGAIN)
        return false;
      at += sent > 0 ? sent : 0;
      pollfd polled = {number, POLLOUT, 0};
      if (sent < 0 && (std::chrono::steady_clock::now() > deadline || poll(&polled, 1, 10) < 0))
        return false;
    }
    return true;
  }

  // Receives this many bytes, or fewer if the connection ends or nothing arrives within the time limit.
  std::string receive(size_t bytes, std::chrono::milliseconds patience = std::chrono::seconds(5)) {
    std::string text;
    char buffer[4096];
    pollfd polled = {number, POLLIN, 0};
    while (text.size() < bytes && poll(&polled, 1, static_cast<int>(patience.count())) > 0) {
      ssize_t size = recv(number, buffer, std::min(sizeof buffer, bytes - text.size()), 0);
      if (size <= 0)
        break;
      text.append(buffer, size);
    }
    return text;
  }

  // Returns whether the server ends the connection within the time limit.
  bool isEndedWithin(std::chrono::milliseconds time) {
    auto deadline = std::chrono::steady_clock::now() + time;
    char byte;
    while (std::chrono::steady_clock::now() < deadline) {
      pollfd polled = {number, POLLIN, 0};
      if (poll(&polled, 1, 10) > 0 && recv(number, &byte, 1, 0) <= 0)
        return true;
    }
    return false;
  }

  // Becomes a member of the job.
  bool prove(const JobToken &token) {
    std::string own(tcpstore::nonceBytes, 'c');
    send(validate() + char(tcpstore::Prove) + own);
    std::string serverNonce = receive(tcpstore::nonceBytes), mac = receive(JobToken::macBytes);
    if (!token.isMac(mac, {"server", own, serverNonce}))
      return false;
    return send(token.mac({"client", own, serverNonce})) && receive(1) == std::string(1, '\0');
  }

private:
  const int number;
  bool connected = false;
};

} // namespace braid::test
#endif // BRAID_TEST_RAWCLIENT_H
