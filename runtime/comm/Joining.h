//===- Joining.h - what a process knows before it is connected ------------===//
#ifndef BRAID_COMM_JOINING_H
#define BRAID_COMM_JOINING_H

#include <memory>
#include <string>

namespace braid {

class Presence;
class Store;

struct Joining {
  int rank = 0, size = 1;                       // size 0: the transport knows both
  double timeout = 30;                          // seconds, to rendezvous
  std::string rendezvous;                       // where (Store.h); not every transport needs one
  std::string job;                              // what makes keys of this job and attempt different
  std::string token;                            // the secret that the ranks share; empty: none was given
  bool isOneHost = false;                       // all ranks are on this host, as the launcher says
  std::shared_ptr<Store> store = nullptr;       // that of the rendezvous, if it is open already
  std::shared_ptr<Presence> presence = nullptr; // of this process; null: none
};

} // namespace braid
#endif // BRAID_COMM_JOINING_H
