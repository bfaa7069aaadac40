//===- NcclExchange.h - what ranks of a communicator have come to ---------===//
//
// An operation is posted when it is at the head of its stream. A collective runs when all ranks have posted their next
// collective, which must agree. A send runs when its peer has posted the receive. The last one to arrive moves the
// data. queuesMutex guards everything.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_SHIM_NCCLEXCHANGE_H
#define BRAID_SHIM_NCCLEXCHANGE_H

#include "nccl.h"

#include <deque>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace shim {

enum class NcclKind { AllReduce, ReduceScatter, AllGather, Broadcast, Reduce, Send, Recv };

struct NcclOp {
  NcclKind kind;
  const void *from;
  void *to;
  size_t count;
  ncclDataType_t type;
  ncclRedOp_t reduction;
  int peer; // or root
  ncclComm_t comm;
  cudaStream_t stream;

  // Bytes that the rank sends and receives; 0 if it does not.
  size_t sent() const, received() const;
};

// A rank's pending operation of one kind.
struct Posted {
  NcclOp op;
  bool done = false;
};
using PostedPtr = std::shared_ptr<Posted>;

// The ranks of a communicator.
struct Clique {
  int id, size;
  std::vector<ncclComm_t> members;                                      // null: not yet there
  std::vector<std::deque<PostedPtr>> collectives;                       // by rank
  std::map<std::pair<int, int>, std::deque<PostedPtr>> sends, receives; // by source and target
  int finalized = 0;
  int arrived = 0;
  // Pending splits: the ranks that have arrived at the n-th split, with color and key.
  struct Split {
    std::vector<ncclComm_t> made;
    std::vector<int> colors, keys;
    int arrived = 0;
  };
  std::map<int, Split> splits;

  explicit Clique(int size);
  bool isComplete() const { return arrived == size; }
};

const char *nameOf(NcclKind kind);
size_t sizeOf(ncclDataType_t type);
std::string describe(const NcclOp &op);

void post(const PostedPtr &posted);

// Calls of a group that are not yet on their streams, because non-blocking communicators put them there later.
struct PendingGroup {
  std::vector<NcclOp> ops;
  int asked = 0; // how often for its state
};

// Records the text of ncclGetLastError, and returns the result.
ncclResult_t failedNccl(ncclResult_t result, std::string why);
// Returns the result of a call by BRAID_SHIM_FAIL.
ncclResult_t failureOfNccl(const char *call);
#define FAIL_IF_TOLD_NCCL(call)                                                                                        \
  if (ncclResult_t result = failureOfNccl(#call))                                                                      \
  return result

// The caller must hold queuesMutex. The first reports a violation if memory is registered with a communicator that is
// about to end. The second handles such memory in an abort.
void refuseRegistered(const char *call, ncclComm_t comm);
void forgetRegistrations(ncclComm_t comm);

} // namespace shim

struct ncclComm {
  std::shared_ptr<shim::Clique> clique;
  int rank, device;
  int splits = 0;
  bool aborted = false, finalizing = false;
  ncclResult_t failure = ncclSuccess;
  bool blocking = true;
  int ctas = 0;                                          // at most; 0: as many as the library chooses
  std::shared_ptr<shim::PendingGroup> pending = nullptr; // null: what was called has settled
  std::shared_ptr<int> graphs = std::make_shared<int>(); // held by those that have its collectives
};

#endif // BRAID_SHIM_NCCLEXCHANGE_H
