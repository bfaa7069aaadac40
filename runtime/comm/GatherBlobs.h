//===- GatherBlobs.h - strings of all ranks -------------------------------===//
#ifndef BRAID_COMM_GATHERBLOBS_H
#define BRAID_COMM_GATHERBLOBS_H

#include "comm/Communicator.h"

#include <string>
#include <vector>

namespace braid {

// Returns the blobs of all ranks, in rank order. All ranks must call it. Throws Error if communication
// fails.
std::vector<std::string> gatherBlobs(br_comm &ranks, const std::string &blob);

} // namespace braid
#endif // BRAID_COMM_GATHERBLOBS_H
