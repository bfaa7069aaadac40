//===- NcclCommunicators.h - a communicator for each kind of group --------===//
//
// One of all ranks, and for each kind of group of the mesh one that is split off:
// kinds that mean the same ranks in the same order share one.  All ranks split in the
// same order, whatever their own programs use.
//
// Their collectives have at most as many CTAs as the program was compiled for: matmuls that run
// beside them leave so many multiprocessors alone.  How many of them a collective needs, NCCL
// chooses, so there is no least number.
//
// None blocks the host.  After a call NCCL may still be connecting ranks, and completes
// later; until then the communicator accepts no other call.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_CUDA_NCCLCOMMUNICATORS_H
#define BRAID_CUDA_NCCLCOMMUNICATORS_H

#include "comm/Bootstrap.h"

#include <atomic>
#include <functional>
#include <nccl.h>

namespace braid {

// NCCL's text for an error, and what it knows beside it.
std::string describeNccl(ncclResult_t result);
// Throws Error with NCCL's text for anything but success and work in progress.
void checkNccl(ncclResult_t result, const char *call);

class NcclCommunicators {
public:
  // `id` is that of rank 0.  Kinds whose groups are one rank, or the world, need no communicator of
  // their own, but have one with `splitsAll`.  Throws Error when ranks do not join in time or NCCL fails.
  NcclCommunicators(const br_model &model, Bootstrap &bootstrap, int rank, const std::string &id, bool splitsAll);
  // Aborts what has not been finished.
  ~NcclCommunicators();

  ncclComm_t ofGroup(int32_t kind) const { return all[byKind[kind]]; }
  int size() const { return static_cast<int>(all.size()); }

  // Registers memory with all communicators, as far as NCCL can.
  void registerMemory(void *memory, size_t bytes);
  bool hasRegistered() const { return canRegister; }
  void unregister();

  // Waits until the last call has completed.  Throws Error when it failed, when the ranks
  // were aborted or after the time-out.
  void await(ncclComm_t comm);

  // The text of an error that NCCL has noticed since; empty when there is none.
  std::string asyncError();

  // Says whether the calling thread is inside of NCCL calls, which an abort waits for.
  void enter();
  void leave();

  // Ends everything that waits for other ranks; any thread, more than once.
  void abort();
  // Ends them together with the other ranks.  Aborts what they have not ended in time, and returns
  // why; empty for a good end.
  std::string finish(double seconds);

private:
  ncclConfig_t configuration() const;
  void connect(int rank, int size, const std::string &id);
  void split(const br_model &model, int rank, bool splitsAll);
  void splitOff(int32_t color, int32_t place);
  void awaitBy(ncclComm_t comm, Clock::time_point deadline, const char *what);

  Bootstrap &bootstrap;
  const int ctas;              // 0: NCCL chooses
  std::vector<ncclComm_t> all; // the world first
  std::vector<size_t> byKind;  // places in `all`
  std::vector<std::pair<ncclComm_t, void *>> registered;
  bool canRegister = true;
  std::mutex mutex; // of `all` against an abort
  std::condition_variable left;
  bool inside = false;
  std::atomic<bool> aborted = false;
};

} // namespace braid
#endif // BRAID_CUDA_NCCLCOMMUNICATORS_H
