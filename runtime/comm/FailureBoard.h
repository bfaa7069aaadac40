//===- FailureBoard.h - failure messages in the store ---------------------===//
#ifndef BRAID_COMM_FAILUREBOARD_H
#define BRAID_COMM_FAILUREBOARD_H

#include "comm/Store.h"

namespace braid {

// A failing rank leaves its message in the store; other ranks look for it when they see that the rank has
// ended.
class FailureBoard {
public:
  FailureBoard() = default;
  FailureBoard(std::shared_ptr<Store> store, int rank, int size) : store(std::move(store)), rank(rank), size(size) {}

  void announce(const std::string &message) const;
  // Throws Error with the message of the lowest rank that has left one.
  void throwAnnounced() const;

private:
  std::shared_ptr<Store> store;
  int rank = 0, size = 0;
};

} // namespace braid
#endif // BRAID_COMM_FAILUREBOARD_H
