//===- Store.h - a key-value store that ranks share -----------------------===//
//
// Lets ranks that share nothing yet find each other (the rendezvous), and holds the message of a failing
// rank. An address is one of:
//
//   file:///FOLDER      files in a folder that all ranks see
//   tcp://HOST:PORT     rank 0 serves it, on that port of that host
//   agent://HOST:PORT   torchrun's agent serves it: ranks may not bind the port
//
// TCP stores use the protocol of PyTorch's TCPStore, so one client works with both. The store that rank 0
// serves answers only clients that prove the job's token. The other stores check no token; if one was
// given, each value carries a MAC made with it.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_COMM_STORE_H
#define BRAID_COMM_STORE_H

#include "comm/Joining.h"

#include <chrono>
#include <optional>

namespace braid {

// All functions throw Error. A key is set only once.
class Store {
public:
  using Clock = std::chrono::steady_clock;

  virtual ~Store() = default;

  virtual void set(const std::string &key, const std::string &value) = 0;
  // Returns nothing if the key is not set yet.
  virtual std::optional<std::string> find(const std::string &key) = 0;

  // Sets how long to wait for an answer from now on.
  virtual void setAnswerTimeout(std::chrono::milliseconds) {}
  // Returns this host's address on the route to the store; empty if unknown.
  virtual std::string localAddress() const { return ""; }
  // On the rank that serves the store: waits until the other ranks have disconnected, or until the
  // deadline.
  virtual void waitForOthers(Clock::time_point) {}
  // Returns a text to add to the message about a missing key; may be empty.
  virtual std::string remark() const { return ""; }

  // Waits for the key. Returns nothing if it is not set by the deadline.
  std::optional<std::string> await(const std::string &key, Clock::time_point deadline);
};

struct StoreAddress {
  enum class Kind { Folder, Served, Agent } kind;
  std::string folder, host;
  int port = 0;
};

// Parses an address; throws Error for other texts.
StoreAddress parseStoreAddress(const std::string &text);

// Throws Error, before any rank waits, if the address is invalid or needs a token that is missing: the
// store of rank 0 needs one if other hosts can reach it.
void checkRendezvous(const Joining &joining);

// Opens the store at `joining.rendezvous`. Keys are prefixed with the job. If ranks serve the store
// themselves, rank 0 serves it; the other ranks try to connect to it until the deadline.
std::unique_ptr<Store> openStore(const Joining &joining, Store::Clock::time_point deadline);

} // namespace braid
#endif // BRAID_COMM_STORE_H
