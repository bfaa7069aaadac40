//===- GatherBlobs.cpp - strings of all ranks -----------------------------===//

#include "comm/GatherBlobs.h"

#include <algorithm>

using namespace braid;

static void gather(br_comm &comm, br_dtype dtype, const void *own, void *all, int64_t each) {
  br_segment segment = {own, all, each * comm.size(), 1, 1};
  comm.wait(comm.start({BR_ALL_GATHER, BR_SUM, dtype, 0, 0, nullptr, 0, &segment, 1}));
}

// Gathers the lengths first, then the blobs, padded to the maximum length.
std::vector<std::string> braid::gatherBlobs(br_comm &ranks, const std::string &blob) {
  std::vector<int64_t> sizes(ranks.size());
  int64_t size = static_cast<int64_t>(blob.size());
  gather(ranks, BR_I64, &size, sizes.data(), 1);
  int64_t maxSize = *std::max_element(sizes.begin(), sizes.end());
  std::string padded = blob, all(maxSize * ranks.size(), '\0');
  padded.resize(maxSize);
  gather(ranks, BR_I1, padded.data(), all.data(), maxSize);
  std::vector<std::string> blobs;
  for (int rank = 0; rank < ranks.size(); ++rank)
    blobs.push_back(all.substr(rank * maxSize, sizes[rank]));
  return blobs;
}
