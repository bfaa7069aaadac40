//===- TcpStore.cpp - a store that a process serves over TCP --------------===//

#include "comm/TcpStore.h"

#include "base/Error.h"
#include "comm/TcpStoreServer.h"

#include <algorithm>
#include <arpa/inet.h>
#include <cstring>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <thread>
#include <unistd.h>

using namespace braid;
using namespace braid::tcpstore;

namespace {

using Clock = Store::Clock;

int millisecondsUntil(Clock::time_point deadline) {
  auto left = std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now()).count();
  return static_cast<int>(std::clamp<int64_t>(left + 1, 0, 1 << 30));
}

// One attempt with one address; -1, and errno, when the connection fails.
int connectOnce(const addrinfo &address, Clock::time_point deadline) {
  int socket = ::socket(address.ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (socket < 0)
    return -1;
  int reason = 0;
  socklen_t length = sizeof reason;
  if (connect(socket, address.ai_addr, address.ai_addrlen) != 0) {
    reason = errno;
    if (reason == EINPROGRESS) {
      pollfd polled = {socket, POLLOUT, 0};
      reason = ETIMEDOUT;
      if (poll(&polled, 1, std::min(millisecondsUntil(deadline), 5000)) > 0)
        getsockopt(socket, SOL_SOCKET, SO_ERROR, &reason, &length);
    }
  }
  if (reason == 0)
    return socket;
  close(socket);
  errno = reason;
  return -1;
}

// Until the deadline: the server may not be there yet, nor its name.
int connectTo(const StoreAddress &to, Clock::time_point deadline) {
  addrinfo hints = {};
  hints.ai_socktype = SOCK_STREAM;
  std::string port = std::to_string(to.port), reason;
  do {
    addrinfo *addresses = nullptr;
    if (int code = getaddrinfo(to.host.c_str(), port.c_str(), &hints, &addresses); code != 0)
      reason = gai_strerror(code);
    int socket = -1;
    for (addrinfo *each = addresses; each && socket < 0; each = each->ai_next)
      if ((socket = connectOnce(*each, deadline)) < 0)
        reason = strerror(errno);
    if (addresses)
      freeaddrinfo(addresses);
    if (socket >= 0)
      return socket;
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  } while (Clock::now() < deadline);
  fail("cannot connect to the rendezvous store at ", to.host, ":", to.port, ": ", reason,
       "; rank 0 serves it, or the agent of torchrun");
}

std::string stringOf(const std::string &text) {
  uint64_t length = text.size();
  return std::string(reinterpret_cast<const char *>(&length), sizeof length) + text;
}

class TcpStore : public Store {
public:
  TcpStore(const StoreAddress &address, bool serve, Clock::time_point deadline)
      : name(concat(address.host, ":", address.port)),
        server(serve ? std::make_unique<TcpStoreServer>(address.port) : nullptr), socket(connectTo(address, deadline)) {
    int yes = 1;
    setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
    uint32_t number = magic;
    send(char(Validate) + std::string(reinterpret_cast<char *>(&number), sizeof number));
  }
  ~TcpStore() override { close(socket); }

  void set(const std::string &key, const std::string &value) override {
    send(char(Set) + stringOf("/" + key) + stringOf(value));
  }

  std::optional<std::string> find(const std::string &key) override {
    uint64_t one = 1, length = 0;
    std::string wanted = stringOf("/" + key);
    send(char(Check) + std::string(reinterpret_cast<char *>(&one), sizeof one) + wanted);
    char absent = 0;
    receive(&absent, sizeof absent);
    if (absent)
      return std::nullopt;
    send(char(Get) + wanted);
    receive(&length, sizeof length);
    if (length > 1 << 20)
      fail("the rendezvous store at ", name,
           " sent a malformed answer; expected the TCPStore protocol of PyTorch 2.1 or later");
    std::string value(length, '\0');
    receive(value.data(), length);
    return value;
  }

  void setPatience(std::chrono::milliseconds next) override { patience = next; }

  std::string localAddress() const override {
    sockaddr_storage address = {};
    socklen_t length = sizeof address;
    char text[NI_MAXHOST];
    if (getsockname(socket, reinterpret_cast<sockaddr *>(&address), &length) != 0 ||
        getnameinfo(reinterpret_cast<sockaddr *>(&address), length, text, sizeof text, nullptr, 0, NI_NUMERICHOST) != 0)
      return "";
    return text;
  }

  void waitForOthers(Clock::time_point deadline) override {
    while (server && server->connections() > 1 && Clock::now() < deadline)
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }

private:
  void send(const std::string &bytes) {
    transfer(POLLOUT, bytes.size(),
             [&](size_t at, size_t left) { return ::send(socket, bytes.data() + at, left, MSG_NOSIGNAL); });
  }
  void receive(void *data, size_t bytes) {
    transfer(POLLIN, bytes,
             [&](size_t at, size_t left) { return recv(socket, static_cast<char *>(data) + at, left, 0); });
  }

  // Moves all bytes, as the socket takes or gives them.
  template <class F> void transfer(short event, size_t bytes, const F &move) {
    for (size_t at = 0; at < bytes;) {
      pollfd polled = {socket, event, 0};
      if (poll(&polled, 1, static_cast<int>(patience.count())) <= 0)
        fail("the rendezvous store at ", name, " does not answer");
      ssize_t moved = move(at, bytes - at);
      if (moved == 0 || (moved < 0 && errno != EAGAIN && errno != EINTR))
        fail("the rendezvous store at ", name, " closed the connection");
      at += std::max<ssize_t>(moved, 0);
    }
  }

  const std::string name;
  const std::unique_ptr<TcpStoreServer> server;
  const int socket;
  std::chrono::milliseconds patience = std::chrono::seconds(10); // a store has nothing to think about
};

} // namespace

std::unique_ptr<Store> braid::openTcpStore(const StoreAddress &address, bool serve, Clock::time_point deadline) {
  return std::make_unique<TcpStore>(address, serve, deadline);
}
