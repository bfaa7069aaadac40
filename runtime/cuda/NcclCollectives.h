//===- NcclCollectives.h - collectives on the communication stream --------===//
//
// A start records an event on the compute stream, lets the communication stream wait
// for it, and puts the collective there as one NCCL group; a wait lets the compute
// stream wait for its end.  The host waits for nothing, so a CUDA graph can hold all
// of it.
//
// Communicators do not block the host: whoever calls NCCL polls the state until it
// has completed, has failed, or time has passed.  A thread watches the collectives that
// are under way.  When NCCL reports an error, another rank has failed, or one does not
// end in time, all communicators are aborted: kernels that wait for other ranks end,
// and every later call fails with the reason.  What blocks in spite of that is left to
// Watchdog.
//
// What NCCL does other than the host's transports: reductions combine in an order of
// its own (bf16 rounds at each step), so their bits depend on the number of ranks and
// on NCCL's choices; a maximum or minimum with a NaN need not be NaN.  It does not
// compare what ranks come to: the tables of the ranks are compared at start instead.
//
// NCCL can register the arena with a communicator, to send from where data lies; all
// ranks do, or none.  The arena is memory of ncclMemAlloc, which more of its algorithms can
// use than other memory.
//
// NCCL's calls that are used, 2.19 or newer:
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
  // `id` is that of rank 0.  Throws Error when NCCL cannot start.
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

  // The watching thread.
  void watch();
  std::string findTrouble();
  std::string findLate();
  std::string findLateCollective();
  void dropEnded();

  Bootstrap &bootstrap;
  const int device;
  NcclCommunicators communicators;
  // Between the calling thread and the one that watches:
  std::mutex watchMutex;
  std::condition_variable changed;
  struct Started {
    int32_t index;
    const char *action;
    SharedEventPair eventPair;
  };
  std::deque<Started> underWay;  // outside of captures, not seen to have ended
  Clock::time_point since;       // nothing of these has ended, while the first could run
  cudaEvent_t awaited = nullptr; // by the host
  Clock::time_point awaitedSince;
  const char *call = nullptr; // that the host is in
  Clock::time_point callSince;
  bool ending = false;
  std::thread watcher; // from the beginning on
};

} // namespace braid
#endif // BRAID_CUDA_NCCLCOLLECTIVES_H
