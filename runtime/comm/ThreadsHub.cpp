//===- ThreadsHub.cpp - rendezvous of ranks in one process ----------------===//

#include "comm/ThreadsHub.h"

#include "base/Error.h"
#include "base/Format.h"

using namespace braid;

namespace {

// Returns the places of the participants: the whole group, or sender and receiver.
std::vector<int> partnersOf(const Operation &operation) {
  int me = operation.group->me, peer = operation.root();
  if (operation.row().hasPeer())
    return operation.sends(me) ? std::vector{me, peer} : std::vector{peer, me};
  std::vector<int> places(operation.group->size());
  for (int i = 0; i < operation.group->size(); ++i)
    places[i] = i;
  return places;
}

} // namespace

// Returns the counter of the partner at `place` for operations such as `operation`.
ThreadsHub::Count &ThreadsHub::countOf(const Operation &operation, int place) {
  GroupState &state = groups[operation.group->id];
  if (!operation.row().hasPeer())
    return state.collectives[place];
  int me = operation.group->me, peer = operation.root();
  std::pair fromTo = operation.sends(me) ? std::pair(me, peer) : std::pair(peer, me);
  return place == fromTo.first ? state.sends[fromTo] : state.recvs[fromTo];
}

// Returns the ranks that have not posted their operation number `turn`.
std::vector<int> ThreadsHub::missing(const Operation &operation, const std::vector<int> &places, uint64_t turn) {
  std::vector<int> result;
  for (int place : places)
    if (countOf(operation, place).posted < turn)
      result.push_back(operation.group->ranks[place]);
  return result;
}

const std::vector<const Operation *> &ThreadsHub::rendezvous(int rank, const Operation &operation,
                                                             Clock::time_point deadline, double seconds) {
  std::unique_lock lock(mutex);
  if (!failure.empty())
    throw Error(failure);
  RankState &own = ranks[rank];
  own.current = &operation;
  own.finished = false;
  own.places = partnersOf(operation);
  uint64_t turn = countOf(operation, operation.group->me).posted + 1;
  // Checked before posting: no rank may use a mismatched operation as its partner's.
  checkPartners(rank, operation, turn);
  countOf(operation, operation.group->me).posted = turn;
  if (missing(operation, own.places, turn).empty())
    completeRendezvous(operation, own.places);
  bool inTime = true;
  while (!missing(operation, own.places, turn).empty()) {
    if (!failure.empty()) {
      own.current = nullptr;
      throw Error(failure);
    }
    checkPartners(rank, operation, turn);
    if (!inTime)
      failFor(concat("after ", formatExact(seconds), " s rank "), rank, operation,
              missing(operation, own.places, turn));
    inTime = own.changed.wait_until(lock, deadline) == std::cv_status::no_timeout;
  }
  return own.partners;
}

// Called by the last rank to arrive: gives each partner the operations of all partners.
void ThreadsHub::completeRendezvous(const Operation &operation, const std::vector<int> &places) {
  Clock::time_point now = Clock::now();
  for (int place : places) {
    RankState &partner = ranks[operation.group->ranks[place]];
    partner.rendezvousAt = now;
    partner.partners.clear();
    for (int other : places)
      partner.partners.push_back(ranks[operation.group->ranks[other]].current);
    partner.changed.notify_all();
  }
}

void ThreadsHub::finish(int rank, const Operation &operation) {
  std::unique_lock lock(mutex);
  RankState &own = ranks[rank];
  own.finished = true;
  uint64_t turn = ++countOf(operation, operation.group->me).finished;
  auto allFinished = [&] {
    for (int place : own.places)
      if (countOf(operation, place).finished < turn)
        return false;
    return true;
  };
  if (allFinished())
    for (int place : own.places)
      ranks[operation.group->ranks[place]].changed.notify_all();
  own.changed.wait(lock, allFinished);
  own.current = nullptr;
}

// Fails all ranks if a partner makes the operation impossible.
void ThreadsHub::checkPartners(int rank, const Operation &operation, uint64_t turn) {
  int me = operation.group->me;
  for (int place : ranks[rank].places) {
    int otherRank = operation.group->ranks[place];
    const RankState &other = ranks[otherRank];
    if (place == me)
      continue;
    if (other.left && countOf(operation, place).posted < turn)
      failFor("rank ", rank, operation, {otherRank});
    if (!other.current || other.finished || other.current->group->id != operation.group->id)
      continue; // it may still arrive
    const Signature &peer = other.current->signature;
    bool theyMeanMe = !rowOf(peer.kind).hasPeer() || peer.root == me;
    if (theyMeanMe && !match(operation.signature, me, peer, place))
      failFor("rank ", rank, operation, {otherRank});
  }
}

// Fails with a message such as "rank 2 waits for all_reduce #7 (...) while rank 0 is at barrier #3".
void ThreadsHub::failFor(const std::string &start, int rank, const Operation &operation,
                         const std::vector<int> &others) {
  std::string text = concat(start, rank, " waits for ", describe(operation.signature, *operation.group));
  for (size_t i = 0; i < others.size(); ++i)
    text += concat(i ? ", rank " : " while rank ", others[i], " ", progressOf(others[i]));
  failLocked(text);
  ranks[rank].current = nullptr;
  throw Error(failure);
}

std::string ThreadsHub::progressOf(int rank) const {
  const RankState &state = ranks[rank];
  if (state.left)
    return "has ended";
  if (state.current)
    return concat("is at ", describe(state.current->signature, *state.current->group), " over ",
                  describe(*state.current->group));
  return "is not in any operation";
}

void ThreadsHub::leave(int rank) {
  std::lock_guard lock(mutex);
  ranks[rank].left = true;
  for (RankState &state : ranks)
    state.changed.notify_all();
}

void ThreadsHub::fail(const std::string &message) {
  std::lock_guard lock(mutex);
  failLocked(message);
}

void ThreadsHub::failLocked(const std::string &message) {
  if (failure.empty())
    failure = message;
  for (RankState &state : ranks)
    state.changed.notify_all();
}
