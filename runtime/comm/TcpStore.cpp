//===- TcpStore.cpp - a key-value store over TCP --------------------------===//

#include "comm/TcpStore.h"

#include "base/Error.h"
#include "comm/LocalToken.h"
#include "comm/TcpStoreServer.h"
#include "comm/WaitNotice.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <poll.h>
#include <thread>

using namespace braid;
using namespace braid::tcpstore;

namespace {

using Clock = Store::Clock;

// How long the previous job may hold the port.
constexpr std::chrono::seconds kPreviousJobTimeout(20);

std::string stringOf(const std::string &text) {
  uint64_t length = text.size();
  return std::string(reinterpret_cast<const char *>(&length), sizeof length) + text;
}

// Thrown if a server does not know the job's token.
class TokenError : public Error {
public:
  using Error::Error;
};

// A connection whose exchanges have a time limit.
class Connection {
public:
  Connection(Socket socket, const std::string &server, std::chrono::milliseconds patience)
      : socket(std::move(socket)), server(server) {
    begin(patience);
    uint32_t number = magic;
    send(char(Validate) + std::string(reinterpret_cast<char *>(&number), sizeof number));
  }

  // Starts the time limit of the exchange that follows.
  void begin(std::chrono::milliseconds patience) { deadline = Clock::now() + patience; }
  void send(const std::string &bytes) {
    transfer(POLLOUT, bytes.size(),
             [&](size_t at, size_t left) { return ::send(socket.get(), bytes.data() + at, left, MSG_NOSIGNAL); });
  }
  std::string receive(size_t bytes) {
    std::string text(bytes, '\0');
    transfer(POLLIN, bytes, [&](size_t at, size_t left) { return recv(socket.get(), text.data() + at, left, 0); });
    return text;
  }
  void prove(const JobToken &token);
  SocketAddress localAddress() const { return addressOf(socket); }

private:
  // Moves all bytes, as the socket accepts or delivers them.
  template <class F> void transfer(short event, size_t bytes, const F &move) {
    for (size_t at = 0; at < bytes;) {
      pollfd polled = {socket.get(), event, 0};
      if (poll(&polled, 1, millisecondsUntil(deadline)) <= 0)
        fail("the rendezvous store at ", server, " does not answer");
      ssize_t moved = move(at, bytes - at);
      if (moved == 0 || (moved < 0 && errno != EAGAIN && errno != EINTR))
        fail("the rendezvous store at ", server, " closed the connection");
      at += std::max<ssize_t>(moved, 0);
    }
  }

  Socket socket;
  const std::string &server;
  Clock::time_point deadline;
};

void Connection::prove(const JobToken &token) {
  std::string ownNonce = randomBytes(nonceBytes);
  send(char(Prove) + ownNonce);
  std::string serverNonce = receive(nonceBytes);
  if (!token.isMac(receive(JobToken::macBytes), {"server", ownNonce, serverNonce}))
    throw TokenError(concat("the process that listens at ", server, " does not know this rank's job token"));
  send(token.mac({"client", ownNonce, serverNonce}));
  receive(1);
}

class TcpStore : public Store {
public:
  TcpStore(const StoreAddress &address, const Joining &joining, Clock::time_point deadline)
      : own(joining), address(address), isServed(address.kind == StoreAddress::Kind::Served),
        host(isServed && joining.isOneHost ? "" : address.host), name(concat(address.host, ":", address.port)),
        token(joining.token) {
    if (isServed && joining.rank == 0)
      serve();
    connect(deadline);
  }

  void set(const std::string &key, const std::string &value) override {
    blameRankZero([&] {
      connection->begin(patience);
      connection->send(char(Set) + stringOf("/" + key) + stringOf(value));
    });
  }

  std::optional<std::string> find(const std::string &key) override {
    std::optional<std::string> value;
    blameRankZero([&] { value = findOnServer(key); });
    return value;
  }

  void setAnswerTimeout(std::chrono::milliseconds next) override { patience = next; }
  std::string localAddress() const override { return connection->localAddress().host(); }

  void waitForOthers(Clock::time_point deadline) override {
    while (server && server->members() > 1 && Clock::now() < deadline)
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }

private:
  // Blames rank 0 if the store that it serves is gone.
  template <class F> void blameRankZero(const F &f) const {
    try {
      f();
    } catch (const Error &error) {
      if (!isServed || own.rank == 0)
        throw;
      fail("rank 0 has ended or does not answer: ", error.what());
    }
  }

  std::optional<std::string> findOnServer(const std::string &key) {
    uint64_t one = 1, length = 0;
    std::string wanted = stringOf("/" + key);
    connection->begin(patience);
    connection->send(char(Check) + std::string(reinterpret_cast<char *>(&one), sizeof one) + wanted);
    if (connection->receive(1)[0])
      return std::nullopt;
    connection->send(char(Get) + wanted);
    std::memcpy(&length, connection->receive(sizeof length).data(), sizeof length);
    if (length > longestString)
      fail("the rendezvous store at ", name,
           " sent a malformed answer; expected the TCPStore protocol of PyTorch 2.1 or later");
    return connection->receive(length);
  }

  void serve();
  void connect(Clock::time_point deadline);
  bool tryToConnect(const SocketAddress &to, Clock::time_point deadline);
  JobToken tokenToProve() const { return token.isEmpty() ? readLocalToken(address.port) : token; }

  const Joining own;
  const StoreAddress address;
  const bool isServed;
  const std::string host, name; // the host is empty for loopback
  const JobToken token;         // as given
  std::unique_ptr<LocalToken> local;
  std::unique_ptr<TcpStoreServer> server;
  std::unique_ptr<Connection> connection;
  std::string reason;                                               // why there is no connection
  std::string refusal;                                              // why a server was refused, in detail
  Clock::time_point foreignPortDeadline = Clock::time_point::max(); // when to treat the port as another job's
  std::chrono::milliseconds patience = std::chrono::seconds(10);    // a store answers at once
};

// Binds the port first: only its owner may write the token for it.
void TcpStore::serve() {
  JobToken own = token.isEmpty() ? JobToken(hexOf(randomBytes(32))) : token;
  server = std::make_unique<TcpStoreServer>(host, address.port, own);
  if (token.isEmpty())
    local = std::make_unique<LocalToken>(address.port, own);
}

// Tries once to connect; on failure sets `reason`.
bool TcpStore::tryToConnect(const SocketAddress &to, Clock::time_point deadline) {
  Socket socket = connectTo(to, deadline);
  if (!socket) {
    reason = concat(strerror(errno), "; rank 0 serves it, or the agent of torchrun");
    return false;
  }
  JobToken own = isServed ? tokenToProve() : JobToken();
  if (isServed && own.isEmpty()) {
    reason =
        "rank 0 has left no job token on this host; set BRAID_JOB_TOKEN to the same secret for all ranks, or another "
        "MASTER_PORT if another program has this port";
    return false;
  }
  try {
    auto left = std::chrono::milliseconds(millisecondsUntil(deadline));
    connection = std::make_unique<Connection>(std::move(socket), name, std::min(patience, left));
    if (isServed)
      connection->prove(own);
    return true;
  } catch (const TokenError &error) {
    refusal = concat(error.what(), "; give all ranks the same BRAID_JOB_TOKEN");
    foreignPortDeadline = std::min(foreignPortDeadline, Clock::now() + kPreviousJobTimeout);
  } catch (const Error &error) {
    reason = concat(error.what(), "; another program may have its port, or rank 0 is of another version");
  }
  connection.reset();
  return false;
}

// Tries until the deadline: the server or its name may not exist yet, the previous job may still hold the
// port for a while, and strangers may be connected.
void TcpStore::connect(Clock::time_point deadline) {
  WaitNotice notice(own);
  do {
    std::string reasonOfFirst; // of the address that rank 0 serves, if its host has it
    for (const SocketAddress &to :
         server ? std::vector<SocketAddress>{server->address()} : resolve(host, address.port, reason)) {
      if (tryToConnect(to, deadline))
        return;
      reasonOfFirst = reasonOfFirst.empty() ? reason : reasonOfFirst;
    }
    reason = reasonOfFirst.empty() ? reason : reasonOfFirst;
    if (isServed && !server)
      notice.reportPeriodically([] { return std::string("rank 0"); });
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  } while (Clock::now() < std::min(deadline, foreignPortDeadline));
  const char *cause = isServed && !server && refusal.empty() ? "rank 0 has not joined: " : "";
  fail(cause, "cannot connect to the rendezvous store at ", name, ": ", refusal.empty() ? reason : refusal);
}

} // namespace

std::unique_ptr<Store> braid::openTcpStore(const StoreAddress &address, const Joining &joining,
                                           Clock::time_point deadline) {
  return std::make_unique<TcpStore>(address, joining, deadline);
}
