//===- TcpStoreServer.h - server of a key-value store ---------------------===//
#ifndef BRAID_COMM_TCPSTORESERVER_H
#define BRAID_COMM_TCPSTORESERVER_H

#include "comm/StoreClient.h"

#include <atomic>
#include <list>
#include <thread>

namespace braid {

// Answers on its own thread during its lifetime. No client can block it: sockets are non-blocking, and
// clients take turns. A client that does not prove the token in time, sends invalid requests or exceeds the
// limits is disconnected.
class TcpStoreServer {
public:
  // Throws Error if no address of the host is available. An empty `host` means loopback.
  TcpStoreServer(const std::string &host, int port, JobToken token, StoreLimits limits = {});
  // Ends within a second, whatever clients do.
  ~TcpStoreServer();

  // Returns the number of connected clients that have proved the token.
  int members() const { return memberCount; }
  // Returns the address that the server listens on.
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
  std::list<StoreClient> clients;  // in order of arrival
  Clock::time_point listensFrom{}; // accepts no client before this time
  std::atomic<int> memberCount = 0;
  std::thread thread;
};

} // namespace braid
#endif // BRAID_COMM_TCPSTORESERVER_H
