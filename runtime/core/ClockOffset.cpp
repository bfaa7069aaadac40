//===- ClockOffset.cpp - one clock for the ranks of several hosts ---------===//

#include "core/ClockOffset.h"

#include <algorithm>
#include <cstring>
#include <fstream>
#include <limits>

using namespace braid;

static constexpr int kExchanges = 16;

namespace {
// Time of this exchange's send, and of the previous exchange's receive, by the rank's own clock.
struct Times {
  double sent, receivedBefore;

  std::string bytes() const { return {reinterpret_cast<const char *>(this), sizeof *this}; }
  static Times of(const std::string &bytes) {
    Times times{};
    std::memcpy(&times, bytes.data(), std::min(bytes.size(), sizeof times));
    return times;
  }
};
} // namespace

double braid::clockOffset(const GatherBlobs &gather, int rank, const std::string &host,
                          const std::function<double()> &now) {
  const std::vector<std::string> hosts = gather(host);
  if (std::all_of(hosts.begin(), hosts.end(), [&](const std::string &other) { return other == hosts[0]; }))
    return 0;
  constexpr double infinity = std::numeric_limits<double>::infinity();
  double upper = infinity, lower = -infinity;
  Times own{0, infinity};
  for (int i = 0; i < kExchanges; ++i) {
    const double sentBefore = own.sent;
    own.sent = now();
    const Times first = Times::of(gather(own.bytes())[0]);
    own.receivedBefore = now();
    upper = std::min(upper, own.receivedBefore - first.sent);
    lower = std::max(lower, sentBefore - first.receivedBefore);
  }
  return hosts[rank] == hosts[0] ? 0 : (lower + upper) / 2;
}

std::string braid::clockOfHost() {
  std::ifstream file("/proc/sys/kernel/random/boot_id");
  std::string text;
  std::getline(file, text);
  return text;
}
