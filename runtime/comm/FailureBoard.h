//===- FailureBoard.h - why a rank has failed, for the others -------------===//
#ifndef BRAID_COMM_FAILUREBOARD_H
#define BRAID_COMM_FAILUREBOARD_H

#include "comm/Store.h"

namespace braid {

// A rank that fails leaves its reason in the store; others look when they see that it has ended.
class FailureBoard {
public:
  FailureBoard() = default;
  FailureBoard(std::shared_ptr<Store> store, int rank, int size) : store(std::move(store)), rank(rank), size(size) {}

  void announce(const std::string &message) const;
  // Throws Error with the message of the first rank that has left one.
  void throwAnnounced() const;

private:
  std::shared_ptr<Store> store;
  int rank = 0, size = 0;
};

} // namespace braid
#endif // BRAID_COMM_FAILUREBOARD_H
