//===- TcpStoreServer.h - the process that serves a store -----------------===//
#ifndef BRAID_COMM_TCPSTORESERVER_H
#define BRAID_COMM_TCPSTORESERVER_H

#include "comm/TcpStore.h"

#include <atomic>
#include <list>
#include <map>
#include <thread>

namespace braid {

// Answers on a thread of its own as long as it lives.  Whoever talks nonsense is
// disconnected.
class TcpStoreServer {
public:
  // Throws Error when the port cannot be had.
  explicit TcpStoreServer(int port);
  ~TcpStoreServer();

  // How many are connected.
  int connections() const { return connected; }

private:
  struct Connection {
    int socket;
    std::string received; // and not yet answered
    bool validated = false;
  };

  void loop();
  void accept();
  bool read(Connection &connection);
  bool answer(Connection &connection);

  int listener = -1, stopReader = -1, stopWriter = -1;
  std::list<Connection> clients;
  std::map<std::string, std::string> values;
  std::atomic<int> connected = 0;
  std::thread thread;
};

} // namespace braid
#endif // BRAID_COMM_TCPSTORESERVER_H
