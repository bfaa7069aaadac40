//===- TcpStoreServer.cpp - server of a key-value store -------------------===//

#include "comm/TcpStoreServer.h"

#include "base/Error.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <poll.h>
#include <unistd.h>
#include <vector>

using namespace braid;

// Listens on the first address that this host has. Does not try the next one if another program has the port there:
// the other ranks would ask that program.
static Socket listenAt(const std::string &host, int port) {
  std::string reason = "it has no address";
  for (const SocketAddress &address : addressesToServe(host, port, reason)) {
    if (Socket socket = listenOn(address))
      return socket;
    const int code = errno;
    reason = code == EADDRNOTAVAIL ? concat(address.host(), " is not an address of this host")
                                   : concat(address.host(), ": ", strerror(code));
    if (code == EADDRINUSE)
      break;
  }
  fail("rank 0 cannot serve the rendezvous store at ", host.empty() ? "this host" : host, " on port ", port, ": ",
       reason, "; set another MASTER_PORT, or MASTER_ADDR to an address of rank 0's host");
}

TcpStoreServer::TcpStoreServer(const std::string &host, int port, JobToken token, StoreLimits limits)
    : token(std::move(token)), limits(limits), table(this->limits), listener(listenAt(host, port)) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0)
    fail("cannot make a pipe: ", strerror(errno));
  stopReader = Socket(ends[0]);
  stopWriter = Socket(ends[1]);
  thread = std::thread([this] { loop(); });
}

TcpStoreServer::~TcpStoreServer() {
  stopWriter = Socket();
  thread.join();
}

void TcpStoreServer::loop() {
  std::vector<pollfd> polled;
  while (true) {
    bool listens = listensFrom <= Clock::now();
    polled = {{stopReader.get(), POLLIN, 0}, {listens ? listener.get() : -1, POLLIN, 0}};
    for (const StoreClient &client : clients)
      polled.push_back({client.socketNumber(), client.events(), 0});
    if (poll(polled.data(), polled.size(), millisecondsUntil(nextDeadline())) < 0)
      continue;
    if (polled[0].revents)
      return;
    Clock::time_point now = Clock::now();
    size_t i = 2;
    clients.remove_if([&](StoreClient &client) {
      short happened = polled[i++].revents;
      return client.deadline() <= now || ((happened || client.isReady()) && !client.serve(happened));
    });
    if (polled[1].revents)
      accept();
    count();
  }
}

// Returns when the next work without an event is due.
TcpStoreServer::Clock::time_point TcpStoreServer::nextDeadline() const {
  Clock::time_point now = Clock::now(), next = now + std::chrono::hours(1);
  if (listensFrom > now)
    next = listensFrom;
  for (const StoreClient &client : clients)
    next = client.isReady() ? now : std::min(next, client.deadline());
  return next;
}

// Accepts several clients per turn, because new clients may arrive faster than turns.
void TcpStoreServer::accept() {
  for (int i = 0; i < 16; ++i) {
    Socket socket(::accept4(listener.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    bool isFull = !socket && (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM);
    bool hasRoom = (socket || isFull) && makeRoom();
    if (isFull) // the client stays queued, and poll would report it again at once
      listensFrom = Clock::now() + std::chrono::milliseconds(100);
    if (!socket)
      return;
    if (hasRoom)
      clients.emplace_back(std::move(socket), token, table, limits);
  }
}

// Makes room for one more client. If there are too many, disconnects the oldest stranger.
bool TcpStoreServer::makeRoom() {
  auto isUnauthenticated = [](const StoreClient &client) { return client.isUnauthenticated(); };
  size_t unauthenticated = std::count_if(clients.begin(), clients.end(), isUnauthenticated);
  if (unauthenticated >= limits.maxUnauthenticated || clients.size() >= limits.clients)
    if (auto oldest = std::find_if(clients.begin(), clients.end(), isUnauthenticated); oldest != clients.end())
      clients.erase(oldest);
  return clients.size() < limits.clients;
}

void TcpStoreServer::count() {
  memberCount = static_cast<int>(std::count_if(clients.begin(), clients.end(),
                                               [](const StoreClient &client) { return !client.isUnauthenticated(); }));
}
