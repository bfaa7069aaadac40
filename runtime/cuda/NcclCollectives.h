//===- NcclCollectives.h - collectives with NCCL --------------------------===//
//
// A start records an event on the compute stream, makes the communication stream wait for it, and
// puts the collective there as one NCCL group.  A wait makes the compute stream wait for the
// collective's end.  The host waits for nothing, so a CUDA graph can hold all of it.
//
// Communicators do not block the host: a caller of NCCL polls the state until the call completes,
// fails or times out.
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
#include "gpu/WatchedCollectives.h"

namespace braid {

class NcclCollectives final : public WatchedCollectives {
public:
  // `id` is rank 0's id.  Throws Error if NCCL cannot start.
  NcclCollectives(const br_model &model, const Rank &rank, const DevicePlace &place, const std::string &id);
  ~NcclCollectives() override;

  const char *name() const override { return "nccl"; }
  bool hasRegistered() const override { return communicators.hasRegistered(); }
  void unregister() override { communicators.unregister(); }

private:
  void exchange(int32_t index) override;
  void issue(const Move &move, const Operation &operation, ncclComm_t comm);
  std::string asyncError() override { return communicators.asyncError(); }
  void abort() override { communicators.abort(); }

  NcclCommunicators communicators;
};

} // namespace braid
#endif // BRAID_CUDA_NCCLCOLLECTIVES_H
