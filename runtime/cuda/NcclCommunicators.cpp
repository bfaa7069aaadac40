//===- NcclCommunicators.cpp - a communicator for each kind of group ------===//

#include "cuda/NcclCommunicators.h"

#include "base/Error.h"
#include "base/Format.h"
#include "core/Mesh.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <thread>
#include <utility>

using namespace braid;

std::string braid::describeNccl(ncclResult_t result) {
  std::string more = ncclGetLastError(nullptr) ? ncclGetLastError(nullptr) : "";
  while (!more.empty() && (more.back() == '\n' || more.back() == ' '))
    more.pop_back();
  return concat(ncclGetErrorString(result), more.empty() ? "" : ": ", more);
}

void braid::checkNccl(ncclResult_t result, const char *call) {
  if (result != ncclSuccess && result != ncclInProgress)
    fail(call, " failed: ", describeNccl(result));
}

static Clock::time_point deadlineAfter(double seconds) {
  return Clock::now() + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
}

ncclConfig_t NcclCommunicators::configuration() const {
  ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
  config.blocking = 0;
  if (ctas > 0)
    config.maxCTAs = ctas;
  return config;
}

//===----------------------------------------------------------------------===//
// Construction
//===----------------------------------------------------------------------===//

NcclCommunicators::NcclCommunicators(const br_model &model, Bootstrap &bootstrap, int rank, const std::string &id,
                                     bool splitsAll)
    : bootstrap(bootstrap), ctas(model.comm_ctas) {
  try {
    connect(rank, worldSize(model), id);
    split(model, rank, splitsAll);
  } catch (...) {
    abort();
    throw;
  }
}

NcclCommunicators::~NcclCommunicators() { abort(); }

void NcclCommunicators::connect(int rank, int size, const std::string &id) {
  ncclUniqueId unique;
  if (id.size() != sizeof unique)
    fail("rank 0 sent an NCCL id of ", id.size(), " bytes, but this program's NCCL has ids of ", sizeof unique);
  std::memcpy(&unique, id.data(), sizeof unique);
  ncclConfig_t config = configuration();
  all.push_back(nullptr);
  checkNccl(ncclCommInitRankConfig(&all[0], size, unique, rank, &config), "ncclCommInitRankConfig");
  awaitBy(all[0], deadlineAfter(bootstrap.timeout()), "ncclCommInitRankConfig");
}

// `color` is the group's number, and the key is the rank's place in it.
void NcclCommunicators::split(const br_model &model, int rank, bool splitsAll) {
  std::map<std::vector<std::vector<int32_t>>, size_t> made;
  for (int32_t kind = 0; kind < std::max(model.n_groups, 1); ++kind) {
    std::vector<std::vector<int32_t>> groups = groupsOf(model, kind);
    bool isWorld = groups.size() == 1 && std::is_sorted(groups[0].begin(), groups[0].end());
    const bool isAlone = groups[0].size() == 1; // a group of one rank, which does not communicate
    if ((isWorld || isAlone) && !(splitsAll && kind > 0)) {
      byKind.push_back(0);
      continue;
    }
    auto [found, isNew] = made.try_emplace(groups, all.size());
    byKind.push_back(found->second);
    for (size_t color = 0; isNew && color < groups.size(); ++color) {
      auto member = std::find(groups[color].begin(), groups[color].end(), rank);
      if (member != groups[color].end())
        splitOff(static_cast<int32_t>(color), static_cast<int32_t>(member - groups[color].begin()));
    }
  }
}

// The new communicator exists once the old one completes.  NCCL may write it even after this rank
// stops waiting, so the handle's memory must outlive an abort.
void NcclCommunicators::splitOff(int32_t color, int32_t place) {
  ncclConfig_t config = configuration();
  all.push_back(nullptr);
  Clock::time_point deadline = deadlineAfter(bootstrap.timeout());
  checkNccl(ncclCommSplit(all[0], color, place, &all.back(), &config), "ncclCommSplit");
  awaitBy(all[0], deadline, "ncclCommSplit");
  awaitBy(all.back(), deadline, "ncclCommSplit");
}

void NcclCommunicators::registerMemory(void *memory, size_t bytes) {
  for (ncclComm_t comm : all) {
    void *handle = nullptr;
    canRegister = canRegister && ncclCommRegister(comm, memory, bytes, &handle) == ncclSuccess;
    if (canRegister && handle) // NCCL returns none where registration has no use
      registered.emplace_back(comm, handle);
  }
}

void NcclCommunicators::unregister() {
  for (auto [comm, handle] : registered)
    ncclCommDeregister(comm, handle);
  registered.clear();
}

//===----------------------------------------------------------------------===//
// Waiting for NCCL
//===----------------------------------------------------------------------===//

void NcclCommunicators::await(ncclComm_t comm) { awaitBy(comm, deadlineAfter(bootstrap.timeout()), "NCCL"); }

// Polls without sleeping at first: between connected ranks, a call completes at once.
void NcclCommunicators::awaitBy(ncclComm_t comm, Clock::time_point deadline, const char *what) {
  for (int turn = 0;; ++turn) {
    ncclResult_t state = ncclSuccess;
    {
      std::lock_guard lock(mutex);
      if (aborted)
        fail("the NCCL communicators were aborted");
      checkNccl(ncclCommGetAsyncError(comm, &state), "ncclCommGetAsyncError");
    }
    checkNccl(state, what);
    if (state == ncclSuccess)
      return;
    if (turn % 256 == 255)
      for (const char *topic : {"start", "failure"})
        if (std::string notice = bootstrap.findNotice(topic); !notice.empty())
          throw RankError(notice);
    if (Clock::now() >= deadline)
      fail("after ", formatExact(bootstrap.timeout()), " s not all ranks have entered ", what);
    if (turn > 64)
      std::this_thread::sleep_for(std::chrono::microseconds(turn < 1024 ? 20 : 500));
  }
}

std::string NcclCommunicators::asyncError() {
  std::lock_guard lock(mutex);
  if (inside || aborted)
    return ""; // the thread inside polls it itself
  for (ncclComm_t comm : all) {
    ncclResult_t state = ncclSuccess;
    try {
      checkNccl(ncclCommGetAsyncError(comm, &state), "ncclCommGetAsyncError");
      checkNccl(state, "NCCL");
    } catch (const Error &error) {
      return error.what();
    }
  }
  return "";
}

void NcclCommunicators::enter() {
  std::lock_guard lock(mutex);
  if (aborted)
    fail("the NCCL communicators were aborted");
  inside = true;
}

void NcclCommunicators::leave() {
  {
    std::lock_guard lock(mutex);
    inside = false;
  }
  left.notify_all();
}

//===----------------------------------------------------------------------===//
// The end
//===----------------------------------------------------------------------===//

// Waits only 2 seconds for a thread inside NCCL: a call that hangs is a reason for the abort.
void NcclCommunicators::abort() {
  std::unique_lock lock(mutex);
  if (aborted.exchange(true))
    return;
  left.wait_for(lock, std::chrono::seconds(2), [&] { return !inside; });
  const std::vector<ncclComm_t> aborting = std::exchange(all, {});
  registered.clear(); // aborted with the communicators
  lock.unlock();      // later calls are refused
  // Aborts all in parallel.  An abort returns only when no graph holds collectives of its
  // communicator, and a running graph ends only when all of its communicators are aborted.
  std::vector<std::thread> threads;
  for (ncclComm_t comm : aborting)
    if (comm)
      threads.emplace_back([comm] { ncclCommAbort(comm); });
  for (std::thread &thread : threads)
    thread.join();
}

// Ends the split communicators first, the world last.
std::string NcclCommunicators::finish(double seconds) {
  if (aborted)
    return "the NCCL communicators were aborted";
  try {
    Clock::time_point deadline = deadlineAfter(seconds);
    unregister();
    for (auto comm = all.rbegin(); comm != all.rend(); ++comm) {
      checkNccl(ncclCommFinalize(*comm), "ncclCommFinalize");
      awaitBy(*comm, deadline, "ncclCommFinalize");
    }
  } catch (const Error &error) { // other ranks have not ended theirs
    abort();
    return error.what();
  }
  std::lock_guard lock(mutex);
  aborted = true;
  for (auto comm = all.rbegin(); comm != all.rend(); ++comm)
    ncclCommDestroy(*comm);
  all.clear();
  return "";
}
