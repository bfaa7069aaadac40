//===- Communicator.cpp - operation queue of a rank -----------------------===//

#include "comm/Communicator.h"

#include "base/Clock.h"
#include "base/Error.h"

#include <algorithm>
#include <csignal>
#include <numeric>

using namespace braid;

br_comm::br_comm(const TransportFactory &factory, double timeout) : timeout(timeout) {
  thread = std::thread([this, factory] { loop(factory); });
  std::unique_lock lock(mutex);
  done.wait(lock, [&] { return ready || !failure.empty(); });
  if (!failure.empty()) {
    std::string message = failure;
    lock.unlock();
    thread.join();
    throw Error(message);
  }
  Group world{0, std::vector<int>(worldSize), ownRank};
  std::iota(world.ranks.begin(), world.ranks.end(), 0);
  groups.push_back(std::move(world));
}

br_comm::~br_comm() {
  {
    std::lock_guard lock(mutex);
    ending = true;
  }
  wake.notify_one();
  thread.join();
}

int br_comm::makeGroup(std::vector<int> ranks) {
  std::vector<int> sorted = ranks;
  std::sort(sorted.begin(), sorted.end());
  if (sorted.empty() || sorted.front() < 0 || sorted.back() >= worldSize ||
      std::adjacent_find(sorted.begin(), sorted.end()) != sorted.end())
    fail("invalid group ", describe(Group{0, ranks, 0}), ": expected one or more distinct ranks below ", worldSize);
  auto member = std::find(ranks.begin(), ranks.end(), ownRank);
  int place = member == ranks.end() ? -1 : static_cast<int>(member - ranks.begin());
  std::lock_guard lock(mutex);
  groups.push_back({static_cast<int>(groups.size()), std::move(ranks), place});
  return groups.back().id;
}

br_ticket br_comm::start(const br_operation &operation) {
  br_ticket ticket;
  {
    std::lock_guard lock(mutex);
    if (!failure.empty())
      throw Error(failure);
    if (operation.group < 0 || operation.group >= static_cast<int>(groups.size()))
      fail("operation #", started + 1, " runs over group ", operation.group, ", but rank ", ownRank, " has ",
           groups.size(), " groups");
    Operation next;
    if (!spare.empty()) {
      next = std::move(spare.back());
      spare.pop_back();
    }
    next.assign(operation, groups[operation.group], started + 1);
    queue.push_back(std::move(next));
    ticket = ++started;
  }
  wake.notify_one();
  return ticket;
}

void br_comm::wait(br_ticket ticket) {
  std::unique_lock lock(mutex);
  if (ticket > started)
    fail("rank ", ownRank, " waits for operation #", ticket, ", but has started ", started);
  done.wait(lock, [&] { return ended >= ticket || !failure.empty(); });
  if (ended < ticket)
    throw Error(failure);
}

void br_comm::endWith(const std::string &reason) {
  {
    std::lock_guard lock(mutex);
    ownError = reason;
    ending = true;
  }
  wake.notify_one();
}

void br_comm::observe(OperationObserver *next) {
  std::lock_guard lock(mutex);
  observer = next;
}

br_status br_comm::note(const std::exception &error) {
  std::lock_guard lock(mutex);
  lastError = error.what();
  return BR_ERROR;
}

const char *br_comm::error() const {
  std::lock_guard lock(mutex);
  return lastError.c_str();
}

// Blocks SIGPIPE: a write to a peer that has ended returns an error, whose message can name the peer,
// instead of killing the process silently. Threads that a library starts inherit the mask.
static void blockBrokenPipes() {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGPIPE);
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
}

void br_comm::loop(const TransportFactory &factory) {
  blockBrokenPipes();
  std::unique_ptr<Transport> transport;
  try {
    transport = factory();
    {
      std::lock_guard lock(mutex);
      ownRank = transport->rank();
      worldSize = transport->size();
      ready = true;
    }
    done.notify_all();
    runAll(*transport);
    if (!ownError.empty())
      transport->announceFailure(ownError);
  } catch (const std::exception &error) {
    {
      std::lock_guard lock(mutex);
      failure = error.what();
    }
    // Ends this rank's own waits first, so that it can print the message while the other ranks are
    // notified.
    done.notify_all();
    if (transport)
      transport->announceFailure(error.what());
  }
}

void br_comm::runAll(Transport &transport) {
  std::unique_lock lock(mutex);
  while (true) {
    wake.wait(lock, [&] { return ending || !queue.empty(); });
    if (queue.empty())
      return;
    Operation operation = std::move(queue.front());
    queue.pop_front();
    const bool isObserved = observer != nullptr;
    lock.unlock();
    const double begin = isObserved ? secondsNow() : 0;
    const double seconds = std::max(timeout, minSeconds.load());
    auto limit = std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
    transport.run(operation, Clock::now() + limit, seconds);
    const double end = isObserved ? secondsNow() : 0;
    lock.lock();
    if (isObserved && observer)
      observer->ended(operation.signature.number, begin, end);
    ++ended;
    spare.push_back(std::move(operation));
    done.notify_all();
  }
}

//===----------------------------------------------------------------------===//
// The C interface
//===----------------------------------------------------------------------===//

br_status br_comm_group(br_comm *comm, const int32_t *ranks, int32_t n_ranks, int32_t *out_group) {
  try {
    *out_group = comm->makeGroup(std::vector<int>(ranks, ranks + n_ranks));
    return BR_OK;
  } catch (const std::exception &error) {
    return comm->note(error);
  }
}

br_status br_comm_start(br_comm *comm, const br_operation *operation, br_ticket *out_ticket) {
  try {
    *out_ticket = comm->start(*operation);
    return BR_OK;
  } catch (const std::exception &error) {
    return comm->note(error);
  }
}

br_status br_comm_wait(br_comm *comm, br_ticket ticket) {
  try {
    comm->wait(ticket);
    return BR_OK;
  } catch (const std::exception &error) {
    return comm->note(error);
  }
}

int32_t br_comm_rank(const br_comm *comm) { return comm->rank(); }
int32_t br_comm_size(const br_comm *comm) { return comm->size(); }
const char *br_comm_error(const br_comm *comm) { return comm->error(); }
