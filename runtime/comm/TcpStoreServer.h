//===- TcpStoreServer.h - the process that serves a store -----------------===//
#ifndef BRAID_COMM_TCPSTORESERVER_H
#define BRAID_COMM_TCPSTORESERVER_H

#include "comm/StoreClient.h"

#include <atomic>
#include <list>
#include <thread>

namespace braid {

// Answers on a thread of its own as long as it lives, which no client can block: sockets
// do not, and each client has its turn.  Whoever cannot prove the token in time, talks
// nonsense or exceeds the limits is disconnected.
class TcpStoreServer {
public:
  // Throws Error when no address of the host can be had; `host` may be empty, for loopback.
  TcpStoreServer(const std::string &host, int port, JobToken token, StoreLimits limits = {});
  // Within a second, whatever clients do.
  ~TcpStoreServer();

  // How many are connected that have proved the token.
  int members() const { return memberCount; }
  // Where it listens.
  SocketAddress address() const { return addressOf(listener); }

private:
  using Clock = StoreClient::Clock;

  void loop();
  Clock::time_point nextDeadline() const;
  void accept();
  bool makeRoom();
  void count();

  const JobToken token;
  const StoreLimits limits;
  StoreTable table;
  Socket listener, stopReader, stopWriter;
  std::list<StoreClient> clients;  // in the order of their arrival
  Clock::time_point listensFrom{}; // no more can be accepted before
  std::atomic<int> memberCount = 0;
  std::thread thread;
};

} // namespace braid
#endif // BRAID_COMM_TCPSTORESERVER_H
