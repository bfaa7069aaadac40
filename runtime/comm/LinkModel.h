//===- LinkModel.h - emulate the time of a real link ----------------------===//
//
// Ranks that are threads exchange data at memory speed. To measure overlap on one machine, an operation can
// be delayed until a link with a given latency and bandwidth would have finished it: messages × latency +
// bytes / bandwidth. The kind of the operation gives its messages and bytes (CollectiveKinds.h).
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_COMM_LINKMODEL_H
#define BRAID_COMM_LINKMODEL_H

#include "comm/Operation.h"

namespace braid {

struct LinkModel {
  double latencySeconds = 0;
  double bytesPerSecond = 0; // 0: no link is emulated

  // Returns the seconds that `operation` takes; 0 without a link or in a group of one rank.
  double seconds(const Operation &operation) const {
    int n = operation.group->size();
    if (bytesPerSecond == 0 || n == 1)
      return 0;
    int64_t bytes = operation.signature.elements * elementSize(operation.dtype());
    return operation.row().messages(n) * latencySeconds + operation.row().bytesSent(bytes, n) / bytesPerSecond;
  }
};

// Parses "LATENCY,RATE" in µs and GB/s; returns false for other texts.
bool parseLink(const std::string &text, LinkModel &link);

} // namespace braid
#endif // BRAID_COMM_LINKMODEL_H
