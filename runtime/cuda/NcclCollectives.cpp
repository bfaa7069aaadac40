//===- NcclCollectives.cpp - collectives with NCCL ------------------------===//

#include "cuda/NcclCollectives.h"

#include "base/Error.h"
#include "base/Format.h"
#include "comm/transports.h"
#include "cuda/Check.h"
#include "cuda/NcclLibrary.h"

#include <exception>

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
    return checkNccl(ncclAllReduce(m.from, m.to, m.count, type, reductionOf(op.reduction()), comm, stream()),
                     "ncclAllReduce");
  case Move::Kind::ReduceScatter:
    return checkNccl(ncclReduceScatter(m.from, m.to, m.count, type, reductionOf(op.reduction()), comm, stream()),
                     "ncclReduceScatter");
  case Move::Kind::AllGather:
    return checkNccl(ncclAllGather(m.from, m.to, m.count, type, comm, stream()), "ncclAllGather");
  case Move::Kind::Reduce:
    return checkNccl(ncclReduce(m.from, m.to, m.count, type, reductionOf(op.reduction()), m.peer, comm, stream()),
                     "ncclReduce");
  case Move::Kind::Broadcast: // only the root has data to send
    return checkNccl(ncclBroadcast(m.from ? m.from : m.to, m.to, m.count, type, m.peer, comm, stream()),
                     "ncclBroadcast");
  case Move::Kind::Send:
    return checkNccl(ncclSend(m.from, m.count, type, m.peer, comm, stream()), "ncclSend");
  case Move::Kind::Recv:
    return checkNccl(ncclRecv(m.to, m.count, type, m.peer, comm, stream()), "ncclRecv");
  }
}

//===----------------------------------------------------------------------===//
// Starts
//===----------------------------------------------------------------------===//

NcclCollectives::NcclCollectives(const br_model &model, const Rank &rank, const DevicePlace &place,
                                 const std::string &id)
    : StreamCollectives(model, rank, place), bootstrap(*rank.bootstrap), device(place.device),
      communicators(model, *rank.bootstrap, rank.number, id, place.communicatesAlone) {
  communicators.registerMemory(place.arena, model.arena_bytes);
  if (scratchBytes() > 0)
    communicators.registerMemory(scratchMemory(), scratchBytes());
}

void NcclCollectives::begin() {
  watcher = std::thread([this] { watch(); });
}

NcclCollectives::~NcclCollectives() {
  if (!watcher.joinable()) { // begin() was never called
    communicators.abort();
    return;
  }
  // The other ranks also come to their ends, unless something has failed on any rank.
  const bool isGood = !hasFailed() && std::uncaught_exceptions() == 0 && drain() == BR_OK;
  if (!isGood && place.failed)
    place.failed(hasFailed() ? error() : concat("rank ", rankNumber(), " ends after an error of its own"));
  {
    std::lock_guard lock(watchMutex);
    ending = true;
  }
  changed.notify_all();
  watcher.join();
  if (!isGood) {
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

void NcclCollectives::started(int32_t index) {
  if (collective(index).isCaptured)
    return; // the host waits for the whole graph instead
  std::lock_guard lock(watchMutex);
  if (inFlight.empty())
    runnableSince = Clock::now();
  inFlight.push_back({index, collective(index).action, collective(index).direct});
  if (inFlight.size() > 2 * static_cast<size_t>(count())) // prunes between two rounds of the watching thread
    dropEnded();
}

void NcclCollectives::enter(const char *next) {
  std::lock_guard lock(watchMutex);
  call = next;
  callSince = Clock::now();
}

void NcclCollectives::leave() {
  std::lock_guard lock(watchMutex);
  call = nullptr;
}

// Polls instead of blocking in the driver, where nothing could wake it.
br_status NcclCollectives::synchronize(cudaEvent_t end) {
  {
    std::lock_guard lock(watchMutex);
    awaited = end;
    awaitedSince = Clock::now();
  }
  constexpr auto afterFailure = std::chrono::seconds(10); // aborted kernels end soon
  std::optional<Clock::time_point> last;
  cudaError_t code = queryEvent(end);
  for (; code == cudaErrorNotReady && (!last || Clock::now() < *last); code = queryEvent(end)) {
    if (hasFailed() && !last)
      last = Clock::now() + afterFailure;
    std::this_thread::sleep_for(std::chrono::microseconds(20));
  }
  {
    std::lock_guard lock(watchMutex);
    awaited = nullptr;
  }
  if (code != cudaSuccess && code != cudaErrorNotReady)
    noteFailure(concat("rank ", rankNumber(), ": the device failed: ", describeCuda(code)));
  return hasFailed() ? BR_ERROR : BR_OK;
}

//===----------------------------------------------------------------------===//
// The watch
//===----------------------------------------------------------------------===//

void NcclCollectives::watch() {
  cudaSetDevice(device);
  std::unique_lock lock(watchMutex);
  while (!ending) {
    changed.wait_for(lock, std::chrono::milliseconds(50));
    lock.unlock();
    std::string trouble = hasFailed() ? error() : findFailure();
    if (!trouble.empty()) {
      noteFailure(trouble);
      bootstrap.publishNotice("failure", trouble);
      communicators.abort();
      return;
    }
    lock.lock();
  }
}

std::string NcclCollectives::findFailure() {
  if (std::string notice = bootstrap.findNotice("failure"); !notice.empty())
    return notice;
  std::lock_guard lock(watchMutex);
  if (std::string async = communicators.asyncError(); !async.empty())
    return concat("rank ", rankNumber(), ": ",
                  inFlight.empty() ? "" : describe(inFlight[0].index, inFlight[0].action) + ": ", async);
  return findLate();
}

std::string NcclCollectives::findLate() {
  const auto isLate = [now = Clock::now(), limit = std::chrono::duration<double>(bootstrap.timeout())](
                          Clock::time_point begin) { return now - begin >= limit; };
  if (call && isLate(callSince))
    return concat("after ", formatExact(bootstrap.timeout()), " s rank ", rankNumber(), " is still in ", call,
                  ", which may wait for other ranks; start a process for each GPU, or run with --cuda-graph=off");
  if (std::string late = findLateCollective(); !late.empty())
    return late;
  const bool waits = inFlight.empty() && awaited && queryEvent(awaited) == cudaErrorNotReady;
  if (!waits || !isLate(awaitedSince))
    return "";
  return concat("after ", formatExact(bootstrap.timeout()), " s rank ", rankNumber(),
                " waits for a CUDA graph with collectives; run with --cuda-graph=off to see for which one");
}

// The caller must hold watchMutex.
void NcclCollectives::dropEnded() {
  while (!inFlight.empty() && queryEvent(inFlight[0].eventPair->end) == cudaSuccess) {
    inFlight.pop_front();
    runnableSince = Clock::now();
  }
}

// Reports the first unfinished collective if it exceeds the timeout, counted from when the device
// reached it.
std::string NcclCollectives::findLateCollective() {
  dropEnded();
  if (inFlight.empty())
    return "";
  const Clock::time_point now = Clock::now();
  if (queryEvent(inFlight[0].eventPair->begin) == cudaErrorNotReady)
    runnableSince = now;
  if (now - runnableSince < std::chrono::duration<double>(bootstrap.timeout()))
    return "";
  return concat("after ", formatExact(bootstrap.timeout()), " s rank ", rankNumber(), " waits for ",
                describe(inFlight[0].index, inFlight[0].action));
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
  registerNccl({makeId, make, {"ncclMemAlloc", allocate, [](void *memory) { ncclMemFree(memory); }}});
}
