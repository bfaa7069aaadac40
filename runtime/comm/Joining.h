//===- Joining.h - settings before a process is connected -----------------===//
#ifndef BRAID_COMM_JOINING_H
#define BRAID_COMM_JOINING_H

#include <memory>
#include <string>

namespace braid {

class Presence;
class Store;

struct Joining {
  int rank = 0, size = 1;                       // size 0: the transport knows both
  double timeout = 30;                          // seconds to wait for the rendezvous
  std::string rendezvous;                       // address (Store.h); some transports need none
  std::string job;                              // prefix of keys, unique to this job and attempt
  std::string token;                            // secret shared by the ranks; empty if none was given
  bool isOneHost = false;                       // whether the launcher says that all ranks are on this host
  std::shared_ptr<Store> store = nullptr;       // store of the rendezvous, if it is already open
  std::shared_ptr<Presence> presence = nullptr; // of this process; may be null
};

} // namespace braid
#endif // BRAID_COMM_JOINING_H
