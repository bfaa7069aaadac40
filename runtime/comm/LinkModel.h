//===- LinkModel.h - how long a real link would take ----------------------===//
//
// Ranks that are threads exchange data at memory speed.  To measure overlap on
// one machine, an operation can be made to end only when a link with a latency
// and a bandwidth would have ended it.  Volumes are those of bandwidth-optimal
// algorithms (Thakur, Rabenseifner, Gropp: Optimization of Collective
// Communication Operations in MPICH, 2005): what the busiest rank sends.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_COMM_LINKMODEL_H
#define BRAID_COMM_LINKMODEL_H

#include "comm/Operation.h"

namespace braid {

struct LinkModel {
  double latencySeconds = 0;
  double bytesPerSecond = 0; // 0: no link is emulated

  // Seconds that `operation` takes; 0 without a link or in a group of one.
  double seconds(const Operation &operation) const {
    int n = operation.group->size();
    if (bytesPerSecond == 0 || n == 1)
      return 0;
    double bytes = static_cast<double>(operation.signature.elements) * elementSize(operation.dtype());
    double others = static_cast<double>(n - 1) / n;
    switch (operation.kind()) {
    case BR_ALL_REDUCE: // reduce_scatter, then all_gather
    case BR_BROADCAST:  // scatter, then all_gather
    case BR_REDUCE:     // reduce_scatter, then gather
      return 2 * (n - 1) * latencySeconds + 2 * others * bytes / bytesPerSecond;
    case BR_REDUCE_SCATTER:
    case BR_ALL_GATHER:
    case BR_ALL_TO_ALL:
    case BR_GATHER:
    case BR_SCATTER:
      return (n - 1) * latencySeconds + others * bytes / bytesPerSecond;
    case BR_PERMUTE:
    case BR_SEND:
    case BR_RECV:
      return latencySeconds + bytes / bytesPerSecond;
    case BR_BARRIER:
      return latencySeconds;
    }
    return 0;
  }
};

// Reads "LATENCY,RATE" in us and GB/s; false when it is something else.
bool parseLink(const std::string &text, LinkModel &link);

} // namespace braid
#endif // BRAID_COMM_LINKMODEL_H
