//===- TcpStoreServer.cpp - the process that serves a store ---------------===//

#include "comm/TcpStoreServer.h"

#include "base/Error.h"

#include <cstring>
#include <fcntl.h>
#include <netinet/in.h>
#include <optional>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>
#include <vector>

using namespace braid;
using namespace braid::tcpstore;

namespace {

constexpr uint64_t longestString = 1 << 20;

// All interfaces; IPv6 takes IPv4, too, where there is IPv6.
int listenOn(int port) {
  int yes = 1, no = 0;
  sockaddr_in6 six = {};
  six.sin6_family = AF_INET6;
  six.sin6_port = htons(static_cast<uint16_t>(port));
  sockaddr_in four = {};
  four.sin_family = AF_INET;
  four.sin_port = six.sin6_port;
  int listener = socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0);
  bool isSix = listener >= 0;
  if (!isSix)
    listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (listener < 0)
    return -1;
  setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  if (isSix)
    setsockopt(listener, IPPROTO_IPV6, IPV6_V6ONLY, &no, sizeof no);
  const sockaddr *address = isSix ? reinterpret_cast<sockaddr *>(&six) : reinterpret_cast<sockaddr *>(&four);
  if (bind(listener, address, isSix ? sizeof six : sizeof four) == 0 && listen(listener, 1024) == 0)
    return listener;
  int reason = errno;
  close(listener);
  errno = reason;
  return -1;
}

// Takes what a word is made of from the front of what was received; nothing is
// taken before all of it is there.
class Reader {
public:
  explicit Reader(const std::string &text) : text(text) {}

  template <class Number> std::optional<Number> number() {
    Number value;
    if (text.size() - at < sizeof value)
      return std::nullopt;
    std::memcpy(&value, text.data() + at, sizeof value);
    at += sizeof value;
    return value;
  }
  std::optional<std::string> string() {
    auto length = number<uint64_t>();
    if (length && *length > longestString)
      isNonsense = true;
    if (!length || isNonsense || text.size() - at < *length)
      return std::nullopt;
    at += *length;
    return text.substr(at - *length, *length);
  }

  size_t taken() const { return at; }
  bool isNonsense = false;

private:
  const std::string &text;
  size_t at = 0;
};

bool sendAll(int socket, const std::string &bytes) {
  return send(socket, bytes.data(), bytes.size(), MSG_NOSIGNAL) == static_cast<ssize_t>(bytes.size());
}

} // namespace

TcpStoreServer::TcpStoreServer(int port) {
  listener = listenOn(port);
  int ends[2];
  if (listener < 0)
    fail("rank 0 cannot serve the rendezvous store on port ", port, ": ", strerror(errno), "; set another MASTER_PORT");
  if (pipe2(ends, O_CLOEXEC) != 0) {
    close(listener);
    fail("cannot make a pipe: ", strerror(errno));
  }
  stopReader = ends[0];
  stopWriter = ends[1];
  thread = std::thread([this] { loop(); });
}

TcpStoreServer::~TcpStoreServer() {
  close(stopWriter);
  thread.join();
  for (Connection &client : clients)
    close(client.socket);
  close(stopReader);
  close(listener);
}

void TcpStoreServer::loop() {
  std::vector<pollfd> polled;
  while (true) {
    polled = {{stopReader, POLLIN, 0}, {listener, POLLIN, 0}};
    for (const Connection &client : clients)
      polled.push_back({client.socket, POLLIN, 0});
    if (poll(polled.data(), polled.size(), -1) < 0)
      continue;
    if (polled[0].revents)
      return;
    size_t i = 2;
    for (auto client = clients.begin(); client != clients.end(); ++i) {
      if (polled[i].revents == 0 || read(*client)) {
        ++client;
        continue;
      }
      close(client->socket);
      client = clients.erase(client);
      --connected;
    }
    if (polled[1].revents)
      accept();
  }
}

void TcpStoreServer::accept() {
  int socket = ::accept4(listener, nullptr, nullptr, SOCK_CLOEXEC);
  if (socket < 0)
    return;
  clients.push_back({socket, "", false});
  ++connected;
}

// False when the connection is at its end.
bool TcpStoreServer::read(Connection &connection) {
  char buffer[1 << 16];
  ssize_t size = recv(connection.socket, buffer, sizeof buffer, MSG_DONTWAIT);
  if (size < 0)
    return errno == EAGAIN || errno == EINTR;
  if (size == 0)
    return false;
  connection.received.append(buffer, size);
  size_t before;
  do {
    before = connection.received.size();
    if (!answer(connection))
      return false;
  } while (!connection.received.empty() && connection.received.size() < before);
  return true;
}

// Answers the first word, if it is there as a whole; false for nonsense.
bool TcpStoreServer::answer(Connection &connection) {
  Reader reader(connection.received);
  uint8_t word = *reader.number<uint8_t>();
  if (!connection.validated && word != Validate)
    return false;
  std::optional<std::string> reply;
  if (word == Validate) {
    if (auto number = reader.number<uint32_t>()) {
      connection.validated = *number == magic;
      reply = "";
    }
  } else if (word == Set) {
    auto key = reader.string(), value = key ? reader.string() : std::nullopt;
    if (value) {
      values[*key] = *value;
      reply = "";
    }
  } else if (word == Get) {
    if (auto key = reader.string()) {
      auto found = values.find(*key);
      if (found == values.end())
        return false;
      uint64_t length = found->second.size();
      reply = std::string(reinterpret_cast<const char *>(&length), sizeof length) + found->second;
    }
  } else if (word == Check) {
    auto count = reader.number<uint64_t>();
    bool all = true, whole = count.has_value();
    for (uint64_t i = 0; whole && i < *count; ++i) {
      auto key = reader.string();
      whole = key.has_value();
      all &= whole && values.count(*key);
    }
    if (whole)
      reply = std::string(1, all ? '\0' : '\1');
  } else {
    return false;
  }
  if (reader.isNonsense || (reply && !connection.validated))
    return false;
  if (reply) {
    connection.received.erase(0, reader.taken());
    return reply->empty() || sendAll(connection.socket, *reply);
  }
  return true;
}
