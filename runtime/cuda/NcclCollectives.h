//===- NcclCollectives.h - collectives with NCCL --------------------------===//
//
// A start records an event on the compute stream, makes the communication stream wait for it, and
// puts the collective there as one NCCL group.  A wait makes the compute stream wait for the
// collective's end.  The host waits for nothing, so a CUDA graph can hold all of it.
//
// Communicators do not block the host: a caller of NCCL polls the state until the call completes,
// fails or times out.  A thread watches the collectives in flight.  If NCCL reports an error,
// another rank fails, or a collective does not end in time, all communicators are aborted.  Then
// kernels that wait for other ranks end, and every later call fails with the reason.  Watchdog
// handles calls that block in spite of that.
//
// NCCL differs from the host's transports.  Its reductions combine in its own order (bf16 rounds at
// each step), so their bits depend on the number of ranks and on NCCL's choices.  A maximum or
// minimum with a NaN need not be NaN.  NCCL does not compare the collectives that ranks start; so
// the ranks compare their tables at start.
//
// NCCL can register the arena with a communicator, to send directly from the data; all ranks
// register, or none.  The arena's memory is from ncclMemAlloc, which more of NCCL's algorithms can
// use than other memory.
//
// NCCL calls in use, 2.19 or newer:
//   ncclGetVersion ncclGetUniqueId ncclGetErrorString ncclGetLastError
//   ncclCommInitRankConfig ncclCommSplit        (both with blocking = 0 and maxCTAs)
//   ncclCommGetAsyncError ncclCommFinalize ncclCommDestroy ncclCommAbort
//   ncclMemAlloc ncclMemFree ncclCommRegister ncclCommDeregister
//   ncclGroupStart ncclGroupEnd
//   ncclAllReduce ncclReduceScatter ncclAllGather ncclBroadcast ncclReduce
//   ncclSend ncclRecv
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_CUDA_NCCLCOLLECTIVES_H
#define BRAID_CUDA_NCCLCOLLECTIVES_H

#include "cuda/NcclCommunicators.h"
#include "cuda/StreamCollectives.h"

#include <condition_variable>
#include <deque>
#include <thread>

namespace braid {

class NcclCollectives final : public StreamCollectives {
public:
  // `id` is rank 0's id.  Throws Error if NCCL cannot start.
  NcclCollectives(const br_model &model, const Rank &rank, const DevicePlace &place, const std::string &id);
  ~NcclCollectives() override;

  void begin() override;
  void enter(const char *call) override;
  void leave() override;
  br_status synchronize(cudaEvent_t end) override;
  const char *name() const override { return "nccl"; }
  bool hasRegistered() const override { return communicators.hasRegistered(); }
  void unregister() override { communicators.unregister(); }

private:
  void exchange(int32_t index) override;
  void started(int32_t index) override;
  void issue(const Move &move, const Operation &operation, ncclComm_t comm);

  // Called by the watching thread.
  void watch();
  std::string findFailure();
  std::string findLate();
  std::string findLateCollective();
  void dropEnded();

  Bootstrap &bootstrap;
  const int device;
  NcclCommunicators communicators;
  // Shared by the calling thread and the watching thread:
  std::mutex watchMutex;
  std::condition_variable changed;
  struct Started {
    int32_t index;
    const char *action;
    SharedEventPair eventPair;
  };
  std::deque<Started> inFlight;    // in flight outside of captures
  Clock::time_point runnableSince; // since when the first of these could run
  cudaEvent_t awaited = nullptr;   // event that the host waits for
  Clock::time_point awaitedSince;
  const char *call = nullptr; // call that the host is in
  Clock::time_point callSince;
  bool ending = false;
  std::thread watcher; // runs from begin() on
};

} // namespace braid
#endif // BRAID_CUDA_NCCLCOLLECTIVES_H
