//===- NcclCommunicators.h - a communicator for each kind of group --------===//
//
// One communicator for all ranks, and one split off for each kind of group in the mesh.  Kinds with
// the same ranks in the same order share one.  All ranks split in the same order, whatever their
// own programs use.
//
// Collectives use at most the number of CTAs that the program was compiled for: matmuls beside them
// leave that many multiprocessors free.  NCCL chooses how many of them a collective uses, so there
// is no lower limit.
//
// Communicators do not block the host.  After a call NCCL may still be connecting ranks, and
// completes later; until then the communicator accepts no other call.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_CUDA_NCCLCOMMUNICATORS_H
#define BRAID_CUDA_NCCLCOMMUNICATORS_H

#include "comm/Bootstrap.h"

#include <atomic>
#include <functional>
#include <nccl.h>

namespace braid {

// Returns NCCL's text for an error, and its details of the last error.
std::string describeNccl(ncclResult_t result);
// Throws Error with NCCL's text unless `result` is success or in progress.
void checkNccl(ncclResult_t result, const char *call);

class NcclCommunicators {
public:
  // `id` is rank 0's id.  Kinds whose groups are one rank or the world get a communicator of their
  // own only with `splitsAll`.  Throws Error if ranks do not join in time or NCCL fails.
  NcclCommunicators(const br_model &model, Bootstrap &bootstrap, int rank, const std::string &id, bool splitsAll);
  // Aborts unless finish() has succeeded.
  ~NcclCommunicators();

  ncclComm_t ofGroup(int32_t kind) const { return all[byKind[kind]]; }
  int size() const { return static_cast<int>(all.size()); }

  // Registers memory with all communicators, if NCCL can.
  void registerMemory(void *memory, size_t bytes);
  bool hasRegistered() const { return canRegister; }
  void unregister();

  // Waits until the last call completes.  Throws Error if it fails, after an abort, or after the
  // timeout.
  void await(ncclComm_t comm);

  // Returns the text of an asynchronous NCCL error; empty if there is none.
  std::string asyncError();

  // Mark the calling thread as inside NCCL calls; an abort waits for it.
  void enter();
  void leave();

  // Ends all waits for other ranks.  Callable from any thread, more than once.
  void abort();
  // Ends the communicators together with the other ranks.  Aborts if they do not end within
  // `seconds`, and returns why; empty for success.
  std::string finish(double seconds);

private:
  ncclConfig_t configuration() const;
  void connect(int rank, int size, const std::string &id);
  void split(const br_model &model, int rank, bool splitsAll);
  void splitOff(int32_t color, int32_t place);
  void awaitBy(ncclComm_t comm, Clock::time_point deadline, const char *what);

  Bootstrap &bootstrap;
  const int ctas;              // 0 lets NCCL choose
  std::vector<ncclComm_t> all; // the world communicator is first
  std::vector<size_t> byKind;  // indices into `all`
  std::vector<std::pair<ncclComm_t, void *>> registered;
  bool canRegister = true;
  std::mutex mutex; // guards `all` against an abort
  std::condition_variable left;
  bool inside = false;
  std::atomic<bool> aborted = false;
};

} // namespace braid
#endif // BRAID_CUDA_NCCLCOMMUNICATORS_H
