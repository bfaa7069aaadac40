//===- Nccl.cpp - communicators and groups of calls -----------------------===//
#include "Failures.h"
#include "NcclExchange.h"
#include "Queues.h"
#include "Violation.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <numeric>
#include <set>
#include <thread>

using namespace shim;

namespace {

constexpr const char *resultNames[] = {"ncclSuccess",       "ncclUnhandledCudaError", "ncclSystemError",
                                       "ncclInternalError", "ncclInvalidArgument",    "ncclInvalidUsage",
                                       "ncclRemoteError",   "ncclInProgress"};
constexpr const char *resultTexts[] = {"no error",
                                       "unhandled cuda error",
                                       "unhandled system error",
                                       "internal error",
                                       "invalid argument",
                                       "invalid usage",
                                       "remote process exited or there was a network error",
                                       "NCCL operation in progress"};
thread_local std::string lastError;
thread_local int groupDepth = 0;
thread_local std::vector<NcclOp> group;

std::map<uint64_t, std::shared_ptr<Clique>> &worlds() {
  static auto *all = new std::map<uint64_t, std::shared_ptr<Clique>>;
  return *all;
}

} // namespace

ncclResult_t shim::failedNccl(ncclResult_t result, std::string why) {
  lastError = std::move(why);
  return result;
}

ncclResult_t shim::failureOfNccl(const char *call) {
  std::string name = injectedFailure(call);
  if (name.empty())
    return ncclSuccess;
  for (int i = 0; i < ncclNumResults; ++i)
    if (name == resultNames[i])
      return failedNccl(ncclResult_t(i), std::string("injected into ") + call);
  std::fprintf(stderr, "error: BRAID_SHIM_FAIL names the unknown error '%s' for %s\n", name.c_str(), call);
  std::_Exit(1);
}

namespace {

bool isBlocking(const ncclConfig_t *config) { return !config || config->blocking != 0; }

// 0: the library chooses; -1: refused.
int ctasOf(const ncclConfig_t *config) {
  if (!config || (config->maxCTAs == INT_MIN && config->minCTAs == INT_MIN))
    return 0;
  const int least = config->minCTAs == INT_MIN ? 1 : config->minCTAs;
  const int most = config->maxCTAs == INT_MIN ? 32 : config->maxCTAs;
  return least < 1 || most < least || most > 32 ? -1 : most;
}

bool isUnderWay(ncclComm_t comm) {
  return comm->pending || !comm->clique || !comm->clique->isComplete() ||
         (comm->finalizing && comm->clique->finalized < comm->clique->size) ||
         std::any_of(comm->clique->splits.begin(), comm->clique->splits.end(),
                     [&](auto &entry) { return entry.second.made[comm->rank]; });
}

ncclResult_t settle(Lock &lock, ncclComm_t comm, bool blocking) {
  if (!blocking)
    return isUnderWay(comm) ? ncclInProgress : ncclSuccess;
  runUntil(lock, comm->device, [&] { return !isUnderWay(comm) || comm->aborted; });
  return ncclSuccess;
}

// All ranks have arrived at a split. The ranks of each color form a communicator, in order of their keys.
void finishSplit(Clique &old, Clique::Split &split) {
  std::set<int> colors(split.colors.begin(), split.colors.end());
  for (int color : colors) {
    std::vector<int> ranks;
    for (int r = 0; r < old.size; ++r)
      if (split.colors[r] == color && color != NCCL_SPLIT_NOCOLOR)
        ranks.push_back(r);
    std::stable_sort(ranks.begin(), ranks.end(), [&](int a, int b) { return split.keys[a] < split.keys[b]; });
    auto clique = std::make_shared<Clique>(ranks.size());
    for (size_t i = 0; i < ranks.size(); ++i) {
      clique->members[i] = split.made[ranks[i]];
      split.made[ranks[i]]->rank = i;
      split.made[ranks[i]]->clique = clique;
    }
    clique->arrived = ranks.size();
  }
}

//===----------------------------------------------------------------------===//
// Operations
//===----------------------------------------------------------------------===//

void writeCollective(const Issue &issue, const NcclOp &op) {
  Line(issue, "collective")
      .field("kind", std::string(nameOf(op.kind)))
      .field("communicator", op.comm->clique->id)
      .field("size", op.comm->clique->size)
      .field("rank", op.comm->rank)
      .field("device", op.comm->device)
      .field("ctas", op.comm->ctas)
      .field("count", op.count)
      .field("bytes", sizeOf(op.type))
      .field("reduction", op.reduction)
      .field("peer", op.peer)
      .range("reads", op.from, op.sent())
      .range("writes", op.to, op.received())
      .write(issue.owner);
}

// The operations of a group on one stream, which begin and end together.
Work workOf(const std::vector<NcclOp> &ops) {
  auto posted = std::make_shared<std::vector<PostedPtr>>();
  Work work;
  work.ready = [ops, posted] {
    if (posted->empty())
      for (const NcclOp &op : ops) {
        posted->push_back(std::make_shared<Posted>(Posted{op}));
        if (!op.comm->aborted)
          post(posted->back());
      }
    return std::all_of(posted->begin(), posted->end(),
                       [](const PostedPtr &one) { return one->done || one->op.comm->aborted; });
  };
  work.run = [ops](const Issue &issue) {
    if (tracing())
      for (const NcclOp &op : ops)
        writeCollective(issue, op);
  };
  return work;
}

ncclResult_t putOnStreams(const std::vector<NcclOp> &all) {
  std::vector<cudaStream_t> streams;
  for (const NcclOp &op : all)
    if (std::find(streams.begin(), streams.end(), op.stream) == streams.end())
      streams.push_back(op.stream);
  for (cudaStream_t stream : streams) {
    std::vector<NcclOp> own;
    std::copy_if(all.begin(), all.end(), std::back_inserter(own),
                 [&](const NcclOp &op) { return op.stream == stream; });
    std::vector<std::shared_ptr<int>> held; // while a graph has the work
    for (const NcclOp &op : own)
      held.push_back(op.comm->graphs);
    if (issue(stream, [own, held] { return workOf(own); }))
      return failedNccl(ncclUnhandledCudaError, "cannot put the group on its stream");
  }
  return ncclSuccess;
}

// With non-blocking communicators, nothing is on a stream before the caller has polled twice. A caller that continues
// without polling records its events too early.
ncclResult_t issueGroup() {
  std::vector<NcclOp> all;
  all.swap(group);
  if (all.empty() || all[0].comm->blocking)
    return putOnStreams(all);
  Lock lock(queuesMutex);
  auto pending = std::make_shared<PendingGroup>(PendingGroup{all});
  for (const NcclOp &op : all)
    op.comm->pending = pending;
  return ncclInProgress;
}

void settlePending(Lock &lock, ncclComm_t comm) {
  if (!comm->pending || ++comm->pending->asked < 2)
    return;
  const std::vector<NcclOp> ops = comm->pending->ops;
  for (const NcclOp &op : ops)
    op.comm->pending = nullptr;
  lock.unlock();
  const ncclResult_t result = putOnStreams(ops);
  lock.lock();
  if (result != ncclSuccess)
    comm->failure = result;
}

ncclResult_t add(const char *call, const NcclOp &op) {
  if (ncclResult_t result = failureOfNccl(call))
    return result;
  {
    Lock lock(queuesMutex);
    if (op.comm->aborted || isUnderWay(op.comm))
      return failedNccl(ncclInvalidUsage, std::string(call) + " on a communicator that is not ready");
    if (op.comm->device != (op.stream ? op.stream->device : currentDevice()))
      return failedNccl(ncclInvalidUsage, std::string(call) + " on a stream of another device");
    if (op.peer < 0 || op.peer >= op.comm->clique->size)
      return failedNccl(ncclInvalidArgument, std::string(call) + " names a rank that there is not");
  }
  group.push_back(op);
  return groupDepth ? ncclSuccess : issueGroup();
}

} // namespace

//===----------------------------------------------------------------------===//
// Communicators
//===----------------------------------------------------------------------===//

ncclResult_t ncclGetVersion(int *version) {
  *version = NCCL_VERSION_CODE;
  return ncclSuccess;
}

ncclResult_t ncclGetUniqueId(ncclUniqueId *id) {
  FAIL_IF_TOLD_NCCL(ncclGetUniqueId);
  Lock lock(queuesMutex);
  static uint64_t count = 0;
  *id = {};
  ++count;
  std::memcpy(id->internal, &count, sizeof(count));
  return ncclSuccess;
}

const char *ncclGetErrorString(ncclResult_t result) {
  return result >= 0 && result < ncclNumResults ? resultTexts[result] : "unknown result code";
}
const char *ncclGetLastError(ncclComm_t) { return lastError.c_str(); }

ncclResult_t ncclCommInitRankConfig(ncclComm_t *comm, int ranks, ncclUniqueId id, int rank, ncclConfig_t *config) {
  FAIL_IF_TOLD_NCCL(ncclCommInitRankConfig);
  Lock lock(queuesMutex);
  uint64_t number;
  std::memcpy(&number, id.internal, sizeof(number));
  if (rank < 0 || rank >= ranks || !number || ctasOf(config) < 0)
    return failedNccl(ncclInvalidArgument, "there is no such rank or id, or number of CTAs");
  std::shared_ptr<Clique> &clique = worlds()[number];
  if (!clique)
    clique = std::make_shared<Clique>(ranks);
  if (clique->size != ranks || clique->members[rank])
    return failedNccl(ncclInvalidUsage, "the ranks disagree on how many or which they are");
  for (ncclComm_t other : clique->members)
    if (other && other->device == currentDevice())
      return failedNccl(ncclInvalidUsage, format("Duplicate GPU detected : rank %d and rank %d both on CUDA device %d",
                                                 rank, other->rank, currentDevice()));
  *comm = new ncclComm{clique, rank, currentDevice()};
  (*comm)->blocking = isBlocking(config);
  (*comm)->ctas = ctasOf(config);
  clique->members[rank] = *comm;
  ++clique->arrived;
  queuesChanged.notify_all();
  return settle(lock, *comm, isBlocking(config));
}

ncclResult_t ncclCommInitRank(ncclComm_t *comm, int ranks, ncclUniqueId id, int rank) {
  return ncclCommInitRankConfig(comm, ranks, id, rank, nullptr);
}

ncclResult_t ncclCommSplit(ncclComm_t comm, int color, int key, ncclComm_t *made, ncclConfig_t *config) {
  FAIL_IF_TOLD_NCCL(ncclCommSplit);
  Lock lock(queuesMutex);
  if (isUnderWay(comm))
    return failedNccl(ncclInvalidUsage, "ncclCommSplit on a communicator that is not ready");
  if (ctasOf(config) < 0)
    return failedNccl(ncclInvalidArgument, "there is no such number of CTAs");
  Clique &clique = *comm->clique;
  int which = comm->splits++;
  Clique::Split &split = clique.splits[which];
  split.made.resize(clique.size);
  split.colors.resize(clique.size);
  split.keys.resize(clique.size);
  split.made[comm->rank] = *made = new ncclComm{nullptr, 0, comm->device};
  (*made)->blocking = isBlocking(config);
  (*made)->ctas = ctasOf(config);
  split.colors[comm->rank] = color;
  split.keys[comm->rank] = key;
  if (++split.arrived == clique.size) {
    finishSplit(clique, split);
    clique.splits.erase(which);
    queuesChanged.notify_all();
  }
  return settle(lock, comm, isBlocking(config));
}

ncclResult_t ncclCommGetAsyncError(ncclComm_t comm, ncclResult_t *error) {
  Lock lock(queuesMutex);
  if (ncclResult_t result = failureOfNccl("ncclCommGetAsyncError"))
    comm->failure = result;
  settlePending(lock, comm);
  runAll(lock, comm->device);
  *error = comm->failure ? comm->failure : isUnderWay(comm) ? ncclInProgress : ncclSuccess;
  return ncclSuccess;
}

// NCCL destroys or aborts a communicator only when no graph has its collectives. If the caller destroys the graphs
// later, it waits forever.
static void awaitGraphs(const char *call, ncclComm_t comm, std::chrono::seconds time) {
  const auto end = std::chrono::steady_clock::now() + time;
  while (comm->graphs.use_count() > 1) {
    if (std::chrono::steady_clock::now() >= end)
      violation(format("%s of a communicator whose collectives are in a CUDA graph: NCCL waits until the graph is "
                       "destroyed",
                       call),
                false);
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

ncclResult_t ncclCommFinalize(ncclComm_t comm) {
  FAIL_IF_TOLD_NCCL(ncclCommFinalize);
  awaitGraphs("ncclCommFinalize", comm, std::chrono::seconds(0));
  Lock lock(queuesMutex);
  refuseRegistered("ncclCommFinalize", comm);
  if (comm->finalizing)
    return failedNccl(ncclInvalidUsage, "ncclCommFinalize was called before");
  comm->finalizing = true;
  ++comm->clique->finalized;
  queuesChanged.notify_all();
  return settle(lock, comm, false);
}

// Issued work may still refer to them, so they stay.
ncclResult_t ncclCommDestroy(ncclComm_t) { return ncclSuccess; }

ncclResult_t ncclCommAbort(ncclComm_t comm) {
  blockIfTold("ncclCommAbort");
  Lock lock(queuesMutex);
  comm->aborted = true;
  comm->pending = nullptr;
  forgetRegistrations(comm);
  if (Clique *clique = comm->clique.get()) { // no other rank can match what this rank has posted
    clique->collectives[comm->rank].clear();
    for (auto &[ranks, queue] : clique->sends)
      if (ranks.first == comm->rank)
        queue.clear();
    for (auto &[ranks, queue] : clique->receives)
      if (ranks.second == comm->rank)
        queue.clear();
  }
  queuesChanged.notify_all();
  lock.unlock();
  awaitGraphs("ncclCommAbort", comm, std::chrono::seconds(60)); // another thread may destroy them
  return ncclSuccess;
}

ncclResult_t ncclCommCount(ncclComm_t comm, int *count) {
  *count = comm->clique->size;
  return ncclSuccess;
}
ncclResult_t ncclCommUserRank(ncclComm_t comm, int *rank) {
  *rank = comm->rank;
  return ncclSuccess;
}
ncclResult_t ncclCommCuDevice(ncclComm_t comm, int *device) {
  *device = comm->device;
  return ncclSuccess;
}

//===----------------------------------------------------------------------===//
// Calls
//===----------------------------------------------------------------------===//

ncclResult_t ncclGroupStart() {
  FAIL_IF_TOLD_NCCL(ncclGroupStart);
  ++groupDepth;
  return ncclSuccess;
}

ncclResult_t ncclGroupEnd() {
  if (!groupDepth)
    return failedNccl(ncclInvalidUsage, "ncclGroupEnd: not in a group call");
  if (--groupDepth)
    return ncclSuccess;
  if (ncclResult_t result = failureOfNccl("ncclGroupEnd")) {
    group.clear();
    return result;
  }
  return issueGroup();
}

ncclResult_t ncclAllReduce(const void *from, void *to, size_t count, ncclDataType_t type, ncclRedOp_t op,
                           ncclComm_t comm, cudaStream_t stream) {
  return add("ncclAllReduce", {NcclKind::AllReduce, from, to, count, type, op, 0, comm, stream});
}
ncclResult_t ncclReduceScatter(const void *from, void *to, size_t count, ncclDataType_t type, ncclRedOp_t op,
                               ncclComm_t comm, cudaStream_t stream) {
  return add("ncclReduceScatter", {NcclKind::ReduceScatter, from, to, count, type, op, 0, comm, stream});
}
ncclResult_t ncclAllGather(const void *from, void *to, size_t count, ncclDataType_t type, ncclComm_t comm,
                           cudaStream_t stream) {
  return add("ncclAllGather", {NcclKind::AllGather, from, to, count, type, ncclSum, 0, comm, stream});
}
ncclResult_t ncclBroadcast(const void *from, void *to, size_t count, ncclDataType_t type, int root, ncclComm_t comm,
                           cudaStream_t stream) {
  return add("ncclBroadcast", {NcclKind::Broadcast, from, to, count, type, ncclSum, root, comm, stream});
}
ncclResult_t ncclReduce(const void *from, void *to, size_t count, ncclDataType_t type, ncclRedOp_t op, int root,
                        ncclComm_t comm, cudaStream_t stream) {
  return add("ncclReduce", {NcclKind::Reduce, from, to, count, type, op, root, comm, stream});
}
ncclResult_t ncclSend(const void *from, size_t count, ncclDataType_t type, int peer, ncclComm_t comm,
                      cudaStream_t stream) {
  return add("ncclSend", {NcclKind::Send, from, nullptr, count, type, ncclSum, peer, comm, stream});
}
ncclResult_t ncclRecv(void *to, size_t count, ncclDataType_t type, int peer, ncclComm_t comm, cudaStream_t stream) {
  return add("ncclRecv", {NcclKind::Recv, nullptr, to, count, type, ncclSum, peer, comm, stream});
}
