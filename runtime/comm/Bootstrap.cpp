//===- Bootstrap.cpp - communication before devices start -----------------===//

#include "comm/Bootstrap.h"

#include "base/Error.h"
#include "base/Format.h"
#include "comm/Blobs.h"
#include "comm/GatherBlobs.h"
#include "comm/Presence.h"
#include "comm/WaitNotice.h"

#include <utility>

using namespace braid;

//===----------------------------------------------------------------------===//
// Blobs and notices
//===----------------------------------------------------------------------===//

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

Bootstrap::Bootstrap(BootstrapOptions options) : options(std::move(options)), transport(this->options.wanted) {
  if (usesStore())
    this->options.joining.presence = std::make_shared<Presence>(this->options.joining);
}

// Waits, because other ranks may still look up in the store why this rank failed; this rank may serve the
// store, and the others poll once a second. (A communicator over the store has already waited.)
Bootstrap::~Bootstrap() {
  const bool hasWaited = communicator != nullptr;
  communicator.reset();
  std::lock_guard lock(storeMutex);
  try {
    if (store && !hasWaited)
      store->waitForOthers(deadlineAfter(1.5));
  } catch (const Error &) { // no rank is left to look
  }
}

void Bootstrap::waitAtLeast(double seconds) {
  minSeconds = seconds;
  if (communicator)
    communicator->waitAtLeast(seconds);
}

bool Bootstrap::usesStore() const {
  return !isOneProcess() && options.wanted != "mpi" && !options.joining.rendezvous.empty();
}

void Bootstrap::failToRendezvous(const std::string &reason, Clock::time_point deadline) const {
  const Joining &own = options.joining;
  std::string period = Clock::now() >= deadline ? concat(" within ", formatExact(own.timeout), " s") : "";
  fail("rank ", own.rank, " of ", own.size, " failed to rendezvous at '", own.rendezvous, "'", period, ": ", reason);
}

Store &Bootstrap::openedStore() {
  Clock::time_point deadline = deadlineAfter(timeout());
  try {
    if (!store)
      store = openStore(options.joining, deadline);
  } catch (const Error &error) {
    failToRendezvous(error.what(), deadline);
  }
  return *store;
}

std::vector<std::string> Bootstrap::allGatherBlobs(const std::string &blob) {
  std::vector<std::string> blobs = usesStore() ? gatherOverStore(blob) : gatherBlobs(comm(), blob);
  if (static_cast<int>(blobs.size()) != options.joining.size)
    fail("rank ", options.joining.rank, " of ", options.joining.size, " received data of ", blobs.size(),
         " ranks; start all ranks with the same command");
  if (options.joining.presence)
    options.joining.presence->noteMeeting();
  return blobs;
}

// Waits for the value of a key of this round.
std::string Bootstrap::awaitBlob(const std::string &round, const std::string &key, Clock::time_point deadline) {
  WaitNotice notice(options.joining);
  while (true) {
    {
      std::lock_guard lock(storeMutex);
      auto moment = std::min(deadline, Clock::now() + std::chrono::milliseconds(50));
      if (std::optional<std::string> value = openedStore().await(round + key, moment))
        return *value;
    }
    if (std::string failure = findNotice("failure"); !failure.empty())
      throw RankError(failure);
    // Only rank 0 prints who is missing.
    try {
      notice.reportPeriodically([&] { return options.joining.rank == 0 ? missingIn(round) : ""; });
    } catch (const RankError &error) {
      publishNotice("failure", error.what());
      throw;
    }
    if (Clock::now() < deadline)
      continue;
    // If no other rank is missing, then rank 0 has not answered.
    const std::string missing = missingIn(round), missingRanks = missing.empty() ? "rank 0" : missing;
    const std::string reason =
        concat(missingRanks, missingRanks.starts_with("ranks") ? " have" : " has", " not joined", store->remark());
    if (options.joining.rank == 0) // publish before rank 0 ends: the store ends with it
      publishNotice("failure", reason);
    failToRendezvous(reason, deadline);
  }
}

// Names the ranks that have set nothing in this round: "rank 2" or "ranks 2, 3 and 6 more".
std::string Bootstrap::missingIn(const std::string &round) {
  constexpr int maxNamed = 8;
  std::lock_guard lock(storeMutex);
  std::string names;
  int missing = 0;
  for (int rank = 1; rank < options.joining.size; ++rank)
    if (!store->find(concat(round, rank)) && ++missing <= maxNamed)
      names += concat(missing > 1 ? ", " : "", rank);
  if (missing == 0)
    return "";
  const std::string others = missing > maxNamed ? concat(" and ", missing - maxNamed, " more") : "";
  return concat(missing == 1 ? "rank " : "ranks ", names, others);
}

// Waits a moment, so that late ranks also learn why there is no job.
void Bootstrap::waitForLateRanks(const std::string &round) {
  std::lock_guard lock(storeMutex);
  Clock::time_point deadline = deadlineAfter(kRefusalSeconds);
  for (int rank = 1; rank < options.joining.size; ++rank)
    openedStore().await(concat(round, rank), deadline);
}

// Rank 0 collects the blobs and stores all of them under one key: each rank sets one key and reads one key,
// for any number of ranks.
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
    return splitBlobs(awaitBlob(round, "all", deadline));
  }
  std::vector<std::string> blobs = {blob};
  try {
    for (int rank = 1; rank < own.size; ++rank)
      blobs.push_back(awaitBlob(round, std::to_string(rank), deadline));
  } catch (const RankError &) {
    waitForLateRanks(round);
    throw;
  }
  set(round + "all", joinBlobs(blobs));
  return blobs;
}

//===----------------------------------------------------------------------===//
// The start
//===----------------------------------------------------------------------===//

// A blob is '+' and the facts, or '-' and the reason why a rank cannot start.
void Bootstrap::agreeToStart(const StartFacts &facts) {
  if (options.wraps && !wrap && !usesStore()) {
    pending = facts;
    return;
  }
  std::vector<std::string> blobs = allGatherBlobs("+" + packFacts(facts));
  std::vector<StartFacts> ranks;
  for (size_t rank = 0; rank < blobs.size(); ++rank) {
    if (blobs[rank].empty() || blobs[rank][0] != '+')
      throw RankError(refusalOf(static_cast<int>(rank), blobs[rank].substr(std::min<size_t>(1, blobs[rank].size()))));
    ranks.push_back(unpackFacts(blobs[rank].substr(1)));
  }
  if (std::string differences = differencesOf(ranks); !differences.empty())
    throw RankError("ranks were started differently: " + differences +
                    "; start all of them with the same binary, data and options");
}

void Bootstrap::wrapWith(Wrap next) {
  wrap = std::move(next);
  if (pending)
    agreeToStart(*std::exchange(pending, std::nullopt));
}

// The notice ends the waits of ranks that have joined; the blob ends rank 0's wait for this rank.
void Bootstrap::refuseToStart(const std::string &reason) noexcept {
  try {
    options.joining.timeout = std::min(timeout(), kRefusalSeconds);
    const int own = options.joining.rank;
    if (!usesStore())
      return (void)allGatherBlobs("-" + reason);
    {
      std::lock_guard lock(storeMutex);
      openedStore();
    }
    publishNotice("failure", refusalOf(own, reason));
    const std::string round = concat("blobs-", rounds++, "/");
    if (own == 0)
      return waitForLateRanks(round);
    std::lock_guard lock(storeMutex);
    store->set(concat(round, own), "-" + reason);
    store->find(round);              // the answer shows that the previous `set` has arrived
  } catch (const std::exception &) { // no rank is left to hear it
  }
}

std::string Bootstrap::refusalOf(int rank, const std::string &reason) {
  return concat("rank ", rank, " cannot start: ", reason);
}

void Bootstrap::publishNotice(const std::string &topic, const std::string &text) noexcept {
  if (options.notices)
    return options.notices->put(topic, text);
  if (!usesStore())
    return;
  try {
    std::lock_guard lock(storeMutex);
    if (store && !communicator && !store->find("notice-" + topic))
      store->set("notice-" + topic, text);
  } catch (const std::exception &) { // a closed store has no notices
  }
}

std::string Bootstrap::findNotice(const std::string &topic) noexcept {
  if (options.notices)
    return options.notices->read(topic);
  if (!usesStore())
    return "";
  try {
    std::lock_guard lock(storeMutex);
    // All ranks poll one server, so a rank polls at most once a second.
    Clock::time_point now = Clock::now();
    auto [last, isFirst] = polled.try_emplace(topic, now);
    if (!store || communicator || (!isFirst && now - last->second < std::chrono::seconds(1)))
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
    joining.store = store; // the port may already be bound, by this rank itself
    factory = findTransport(options.host)(joining);
  }
  communicator = std::make_unique<br_comm>(wrap ? wrap(factory) : factory, own.timeout);
  if (communicator->size() != own.size || communicator->rank() != own.rank)
    fail("rank ", own.rank, " of ", own.size, " is rank ", communicator->rank(), " of ", communicator->size(), " over ",
         options.host, "; start all ranks with the same command");
  return *communicator;
}
