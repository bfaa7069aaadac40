//===- LinkModel.h - how long a real link would take ----------------------===//
//
// Ranks that are threads exchange data at memory speed.  To measure overlap on
// one machine, an operation can be made to end only when a link with a latency
// and a bandwidth would have ended it: messages × latency + bytes / bandwidth, which
// are those of the kind (CollectiveKinds.h).
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
    int64_t bytes = operation.signature.elements * elementSize(operation.dtype());
    return operation.row().messages(n) * latencySeconds + operation.row().bytesSent(bytes, n) / bytesPerSecond;
  }
};

// Reads "LATENCY,RATE" in us and GB/s; false when it is something else.
bool parseLink(const std::string &text, LinkModel &link);

} // namespace braid
#endif // BRAID_COMM_LINKMODEL_H
