//===- Store.h - a key-value store that ranks share -----------------------===//
//
// How ranks that share nothing yet find each other (the rendezvous), and where a rank
// that fails says why.  An address is
//
//   file:///FOLDER      files in a folder that all ranks see
//   tcp://HOST:PORT     rank 0 serves it, on that port of that host
//   agent://HOST:PORT   torchrun's agent serves it: ranks may not bind the port
//
// Over TCP the protocol is that of PyTorch's TCPStore, so one client serves both.  A store
// that rank 0 serves answers only whoever proves the job's token; in the others, which
// check none, values carry a MAC of it, if a token was given.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_COMM_STORE_H
#define BRAID_COMM_STORE_H

#include "comm/Joining.h"

#include <chrono>
#include <optional>

namespace braid {

// All throw Error.  Keys are set once.
class Store {
public:
  using Clock = std::chrono::steady_clock;

  virtual ~Store() = default;

  virtual void set(const std::string &key, const std::string &value) = 0;
  // Nothing if the key is not there yet.
  virtual std::optional<std::string> find(const std::string &key) = 0;

  // How long to wait for an answer from now on.
  virtual void setPatience(std::chrono::milliseconds) {}
  // This host's address on the way to the store; empty if it is unknown.
  virtual std::string localAddress() const { return ""; }
  // On the rank that serves the store: waits until the others have disconnected, or
  // until the deadline.
  virtual void waitForOthers(Clock::time_point) {}
  // What else to say when a key is missing; may be empty.
  virtual std::string remark() const { return ""; }

  // Waits for the key; nothing if it was not set by the deadline.
  std::optional<std::string> await(const std::string &key, Clock::time_point deadline);
};

struct StoreAddress {
  enum class Kind { Folder, Served, Agent } kind;
  std::string folder, host;
  int port = 0;
};

// Throws Error when the text is not an address.
StoreAddress parseStoreAddress(const std::string &text);

// Throws Error, before any rank waits, when the address is none or the token is missing
// that it needs: the store of rank 0, where it is reached from other hosts, asks for one.
void checkRendezvous(const Joining &joining);

// That of `joining.rendezvous`.  Keys are prefixed by the job.  Rank 0 serves a store that
// ranks serve themselves; the others try to connect to it until the deadline.
std::unique_ptr<Store> openStore(const Joining &joining, Store::Clock::time_point deadline);

} // namespace braid
#endif // BRAID_COMM_STORE_H
