//===- FailureBoard.cpp - failure messages in the store -------------------===//

#include "comm/FailureBoard.h"

#include "base/Error.h"

using namespace braid;

static std::string keyOf(int rank) { return concat("failure-", rank); }

void FailureBoard::announce(const std::string &message) const {
  try {
    store->set(keyOf(rank), message);
  } catch (const Error &) { // the other ranks will not learn the reason
  }
}

// Throws nothing if the store is closed: it has no message then.
void FailureBoard::throwAnnounced() const {
  std::optional<std::string> message;
  try {
    for (int other = 0; other < size && !message; ++other)
      message = store->find(keyOf(other));
  } catch (const Error &) {
  }
  if (message)
    throw Error(*message);
}
