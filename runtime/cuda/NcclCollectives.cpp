//===- NcclCollectives.cpp - collectives with NCCL ------------------------===//

#include "cuda/NcclCollectives.h"

#include "base/Error.h"
#include "comm/transports.h"
#include "gpu/CollectiveLibrary.h"

#include <algorithm>

using namespace braid;

//===----------------------------------------------------------------------===//
// NCCL's types and calls
//===----------------------------------------------------------------------===//

static ncclDataType_t typeOf(br_dtype dtype) {
  switch (dtype) {
  case BR_F64:
    return ncclFloat64;
  case BR_F32:
    return ncclFloat32;
  case BR_BF16:
    return ncclBfloat16;
  case BR_I32:
    return ncclInt32;
  case BR_I64:
    return ncclInt64;
  case BR_I1: // a byte of 0 or 1
    return ncclUint8;
  case BR_I8:
    return ncclInt8;
  }
  fail("element type ", static_cast<int>(dtype), " is unknown");
}

static ncclRedOp_t reductionOf(br_reduction reduction) {
  switch (reduction) {
  case BR_SUM:
    return ncclSum;
  case BR_MEAN:
    return ncclAvg;
  case BR_MAX:
    return ncclMax;
  case BR_MIN:
    return ncclMin;
  }
  fail("reduction ", static_cast<int>(reduction), " is unknown");
}

void NcclCollectives::issue(const Move &m, const Operation &op, ncclComm_t comm) {
  ncclDataType_t type = typeOf(op.dtype());
  switch (m.kind) {
  case Move::Kind::AllReduce:
    return checkNccl(ncclAllReduce(m.from, m.to, m.count, type, reductionOf(op.reduction()), comm, stream().native()),
                     "ncclAllReduce");
  case Move::Kind::ReduceScatter:
    return checkNccl(
        ncclReduceScatter(m.from, m.to, m.count, type, reductionOf(op.reduction()), comm, stream().native()),
        "ncclReduceScatter");
  case Move::Kind::AllGather:
    return checkNccl(ncclAllGather(m.from, m.to, m.count, type, comm, stream().native()), "ncclAllGather");
  case Move::Kind::Reduce:
    return checkNccl(
        ncclReduce(m.from, m.to, m.count, type, reductionOf(op.reduction()), m.peer, comm, stream().native()),
        "ncclReduce");
  case Move::Kind::Broadcast: // only the root has data to send
    return checkNccl(ncclBroadcast(m.from ? m.from : m.to, m.to, m.count, type, m.peer, comm, stream().native()),
                     "ncclBroadcast");
  case Move::Kind::Send:
    return checkNccl(ncclSend(m.from, m.count, type, m.peer, comm, stream().native()), "ncclSend");
  case Move::Kind::Recv:
    return checkNccl(ncclRecv(m.to, m.count, type, m.peer, comm, stream().native()), "ncclRecv");
  }
}

//===----------------------------------------------------------------------===//
// Starts
//===----------------------------------------------------------------------===//

NcclCollectives::NcclCollectives(const br_model &model, const Rank &rank, const DevicePlace &place,
                                 const std::string &id)
    : WatchedCollectives(model, rank, place),
      communicators(model, *rank.bootstrap, rank.number, id, place.communicatesAlone) {
  communicators.registerMemory(place.arena, model.arena_bytes);
  if (scratchBytes() > 0)
    communicators.registerMemory(scratchMemory(), scratchBytes());
}

NcclCollectives::~NcclCollectives() {
  if (!endWatch()) {
    communicators.abort();
    return;
  }
  const std::string problem = communicators.finish(std::min(bootstrap.timeout(), 30.0));
  if (!problem.empty() && place.failed)
    place.failed(concat("rank ", rankNumber(), " ends its communicators: ", problem));
}

namespace {
// Marks the calling thread as inside NCCL calls, and groups them.
class Inside {
public:
  explicit Inside(NcclCommunicators &communicators) : communicators(communicators) {
    communicators.enter();
    open = ncclGroupStart() == ncclSuccess;
  }
  ~Inside() {
    if (open) // an error came before endGroup
      ncclGroupEnd();
    communicators.leave();
  }
  void endGroup() {
    if (!open)
      fail("ncclGroupStart failed");
    open = false;
    checkNccl(ncclGroupEnd(), "ncclGroupEnd");
  }

private:
  NcclCommunicators &communicators;
  bool open = false;
};
} // namespace

void NcclCollectives::exchange(int32_t index) {
  const Collective &each = collective(index);
  if (each.plan.moves.empty())
    return;
  Inside inside(communicators);
  ncclComm_t comm = communicators.ofGroup(each.operation.group->id);
  for (const Move &move : each.plan.moves)
    issue(move, each.operation, comm);
  inside.endGroup();
  communicators.await(comm);
}

//===----------------------------------------------------------------------===//
// Registration by main
//===----------------------------------------------------------------------===//

static std::string makeId() {
  ncclUniqueId id;
  checkNccl(ncclGetUniqueId(&id), "ncclGetUniqueId");
  return std::string(reinterpret_cast<const char *>(&id), sizeof id);
}

static std::unique_ptr<StreamCollectives> make(const br_model &model, const Rank &rank, const DevicePlace &place,
                                               const std::string &id) {
  return std::make_unique<NcclCollectives>(model, rank, place, id);
}

static std::string allocate(void **memory, uint64_t bytes) {
  const ncclResult_t result = ncclMemAlloc(memory, bytes);
  return result == ncclSuccess ? "" : describeNccl(result);
}

void br_use_nccl() {
  registerCollectives({makeId, make, {"ncclMemAlloc", allocate, [](void *memory) { ncclMemFree(memory); }}});
}
