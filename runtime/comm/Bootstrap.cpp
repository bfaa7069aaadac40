//===- Bootstrap.cpp - out-of-band communication before the devices do ----===//

#include "comm/Bootstrap.h"

#include "base/Error.h"
#include "base/Format.h"

#include <algorithm>
#include <cstring>

using namespace braid;

//===----------------------------------------------------------------------===//
// Blobs and notices
//===----------------------------------------------------------------------===//

// The blobs end to end, each preceded by its length.
static std::string join(const std::vector<std::string> &blobs) {
  std::string text;
  for (const std::string &blob : blobs) {
    uint64_t size = blob.size();
    text.append(reinterpret_cast<const char *>(&size), sizeof size);
    text += blob;
  }
  return text;
}

static std::vector<std::string> split(const std::string &text) {
  std::vector<std::string> blobs;
  for (size_t at = 0; at + sizeof(uint64_t) <= text.size();) {
    uint64_t size = 0;
    std::memcpy(&size, text.data() + at, sizeof size);
    at += sizeof size;
    blobs.push_back(text.substr(at, size));
    at += size;
  }
  return blobs;
}

void NoticeStore::put(const std::string &topic, const std::string &text) {
  std::lock_guard lock(mutex);
  notices.emplace(topic, text);
}

std::string NoticeStore::read(const std::string &topic) const {
  std::lock_guard lock(mutex);
  auto found = notices.find(topic);
  return found == notices.end() ? "" : found->second;
}

//===----------------------------------------------------------------------===//
// Bootstrap
//===----------------------------------------------------------------------===//

static Clock::time_point deadlineAfter(double seconds) {
  return Clock::now() + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
}

Bootstrap::Bootstrap(BootstrapOptions options) : options(std::move(options)), transport(this->options.wanted) {}

// Other ranks may still look up in the store, which this rank may serve, why it has failed.
Bootstrap::~Bootstrap() {
  communicator.reset();
  std::lock_guard lock(storeMutex);
  try {
    if (store)
      store->waitForOthers(deadlineAfter(0.8));
  } catch (const Error &) { // no rank is left to look
  }
}

bool Bootstrap::usesStore() const {
  bool needsNoComm = options.wanted == "auto" || options.wanted == "nccl";
  return !isOneProcess() && needsNoComm && !options.joining.rendezvous.empty();
}

Store &Bootstrap::openedStore() {
  const Joining &own = options.joining;
  try {
    if (!store)
      store = openStore(own, deadlineAfter(own.timeout));
  } catch (const Error &error) {
    fail("rank ", own.rank, " of ", own.size, " failed to rendezvous at '", own.rendezvous, "': ", error.what());
  }
  return *store;
}

std::vector<std::string> Bootstrap::allGatherBlobs(const std::string &blob) {
  std::vector<std::string> blobs = usesStore() ? gatherOverStore(blob) : gatherOverComm(blob);
  if (static_cast<int>(blobs.size()) != options.joining.size)
    fail("rank ", options.joining.rank, " of ", options.joining.size, " received data of ", blobs.size(),
         " ranks; start all ranks with the same command");
  return blobs;
}

// The value of a key that rank `from` sets.
std::string Bootstrap::awaitBlob(const std::string &key, int from, Clock::time_point deadline) {
  while (true) {
    {
      std::lock_guard lock(storeMutex);
      auto moment = std::min(deadline, Clock::now() + std::chrono::milliseconds(50));
      if (std::optional<std::string> value = openedStore().await(key, moment))
        return *value;
    }
    if (std::string failure = findNotice("failure"); !failure.empty())
      throw RankError(failure);
    if (Clock::now() >= deadline)
      fail("after ", formatExact(timeout()), " s rank ", options.joining.rank, " of ", options.joining.size,
           " is still waiting at rendezvous '", options.joining.rendezvous, "' for rank ", from,
           ", which has not joined", store->remark());
  }
}

// Rank 0 collects the blobs and stores all of them under one key: each rank sets one key
// and reads one, whatever the number of ranks.
std::vector<std::string> Bootstrap::gatherOverStore(const std::string &blob) {
  const Joining &own = options.joining;
  Clock::time_point deadline = deadlineAfter(own.timeout);
  const std::string round = concat("blobs-", rounds++, "/");
  auto set = [&](const std::string &key, const std::string &value) {
    std::lock_guard lock(storeMutex);
    if (openedStore().find(key))
      fail("rendezvous '", own.rendezvous, "' holds keys of another job; give each job its own rendezvous");
    store->set(key, value);
  };
  if (own.rank != 0) {
    set(concat(round, own.rank), blob);
    return split(awaitBlob(round + "all", 0, deadline));
  }
  std::vector<std::string> blobs = {blob};
  for (int rank = 1; rank < own.size; ++rank)
    blobs.push_back(awaitBlob(concat(round, rank), rank, deadline));
  set(round + "all", join(blobs));
  return blobs;
}

static void gather(br_comm &comm, br_dtype dtype, const void *own, void *all, int64_t each) {
  br_segment segment = {own, all, each * comm.size(), 1, 1};
  comm.wait(comm.start({BR_ALL_GATHER, BR_SUM, dtype, 0, 0, nullptr, 0, &segment, 1}));
}

// Lengths first, then the blobs, padded to the greatest length.
std::vector<std::string> Bootstrap::gatherOverComm(const std::string &blob) {
  br_comm &ranks = comm();
  std::vector<int64_t> sizes(ranks.size());
  int64_t size = static_cast<int64_t>(blob.size());
  gather(ranks, BR_I64, &size, sizes.data(), 1);
  int64_t most = *std::max_element(sizes.begin(), sizes.end());
  std::string padded = blob, all(most * ranks.size(), '\0');
  padded.resize(most);
  gather(ranks, BR_I1, padded.data(), all.data(), most);
  std::vector<std::string> blobs;
  for (int rank = 0; rank < ranks.size(); ++rank)
    blobs.push_back(all.substr(rank * most, sizes[rank]));
  return blobs;
}

void Bootstrap::publishNotice(const std::string &topic, const std::string &text) noexcept {
  if (options.notices)
    return options.notices->put(topic, text);
  if (!usesStore())
    return;
  try {
    std::lock_guard lock(storeMutex);
    if (store && !store->find("notice-" + topic))
      store->set("notice-" + topic, text);
  } catch (const std::exception &) { // a store that is gone has no notices
  }
}

std::string Bootstrap::findNotice(const std::string &topic) noexcept {
  if (options.notices)
    return options.notices->read(topic);
  if (!usesStore())
    return "";
  try {
    std::lock_guard lock(storeMutex);
    // All ranks poll one server: once a second is enough.
    Clock::time_point now = Clock::now();
    auto [last, isFirst] = polled.try_emplace(topic, now);
    if (!store || (!isFirst && now - last->second < std::chrono::seconds(1)))
      return "";
    last->second = now;
    return store->find("notice-" + topic).value_or("");
  } catch (const std::exception &) {
    return "";
  }
}

void Bootstrap::abandon() noexcept {
  if (options.host == "mpi" && transport == "nccl")
    (void)communicator.release(); // its thread ends with the process
}

br_comm &Bootstrap::comm() {
  if (communicator)
    return *communicator;
  const Joining &own = options.joining;
  TransportFactory factory = options.threads;
  if (!factory) {
    Joining joining = own;
    joining.store = store; // its port may be taken, by this very rank
    factory = findTransport(options.host)(joining);
  }
  communicator = std::make_unique<br_comm>(wrap ? wrap(factory) : factory, own.timeout);
  if (communicator->size() != own.size || communicator->rank() != own.rank)
    fail("rank ", own.rank, " of ", own.size, " is rank ", communicator->rank(), " of ", communicator->size(), " over ",
         options.host, "; start all ranks with the same command");
  return *communicator;
}
