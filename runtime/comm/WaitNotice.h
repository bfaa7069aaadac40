//===- WaitNotice.h - say every ten seconds who is missing ----------------===//
#ifndef BRAID_COMM_WAITNOTICE_H
#define BRAID_COMM_WAITNOTICE_H

#include "base/Error.h"
#include "base/Format.h"
#include "base/Message.h"
#include "comm/Presence.h"
#include "comm/Store.h"

#include <algorithm>
#include <chrono>
#include <optional>
#include <string>

namespace braid {

class WaitNotice {
public:
  explicit WaitNotice(const Joining &own) : own(own) {}

  // Prints, every ten seconds, the ranks that have not joined: `missingRanks()` returns "rank 2" or "ranks 2, 3".
  // Throws RankError if the process of a rank has ended.
  template <class F> void reportPeriodically(const F &missingRanks) {
    if (own.presence)
      own.presence->checkOthers();
    const auto now = Clock::now();
    if (now - last < kInterval)
      return;
    last = now;
    const auto waited = std::chrono::duration_cast<std::chrono::seconds>(now - begin).count();
    const std::string names = missingRanks();
    if (!names.empty())
      notice(concat("rank ", own.rank, " of ", own.size, " waits for ", names, " to join: ", waited, " of ",
                    formatExact(own.timeout), " s"));
  }

private:
  using Clock = std::chrono::steady_clock;
  static constexpr std::chrono::seconds kInterval{10};

  const Joining &own;
  const Clock::time_point begin = Clock::now();
  Clock::time_point last = begin;
};

// Waits for a value that a rank sets in the store, and prints a notice every ten seconds. Returns nothing
// at the deadline.
inline std::optional<std::string> awaitFrom(Store &store, const std::string &key, const std::string &rank,
                                            const Joining &own, Store::Clock::time_point deadline) {
  WaitNotice notice(own);
  for (;;) {
    const Store::Clock::time_point moment = std::min(deadline, Store::Clock::now() + std::chrono::seconds(1));
    if (std::optional<std::string> value = store.await(key, moment))
      return value;
    if (Store::Clock::now() >= deadline)
      return std::nullopt;
    notice.reportPeriodically([&] { return "rank " + rank; });
  }
}

} // namespace braid
#endif // BRAID_COMM_WAITNOTICE_H
