//===- SharedJob.cpp - rendezvous of the ranks of one host ----------------===//

#include "comm/shm/SharedRings.h"

#include "base/Error.h"
#include "comm/OwnAddress.h"
#include "comm/WaitNotice.h"

#include <cerrno>
#include <charconv>
#include <climits>
#include <cstring>
#include <sys/syscall.h>
#include <unistd.h>

using namespace braid;

namespace {
// A rank's description of itself.
struct Place {
  std::string host; // kernel and process-id namespace (ownHost)
  pid_t process = 0;
  int descriptor = -1; // of rank 0's shared memory

  std::string text() const { return concat(host, " ", process, " ", descriptor); }
};
} // namespace

static Place readPlace(const std::string &text) {
  Place place;
  size_t second = text.rfind(' '),
         first = second == std::string::npos || second == 0 ? second : text.rfind(' ', second - 1);
  auto number = [&](size_t begin, size_t end, int &value) {
    auto [stop, error] = std::from_chars(text.data() + begin, text.data() + end, value);
    return error == std::errc() && stop == text.data() + end;
  };
  if (first == std::string::npos || !number(first + 1, second, place.process) ||
      !number(second + 1, text.size(), place.descriptor) || place.process <= 0)
    fail("'", text, "' is not the location of a rank; start all ranks with the same binary");
  place.host = text.substr(0, first);
  return place;
}

static std::string keyOf(const char *stage, int rank) { return concat("shm-", stage, "-", rank); }

static void say(Store &store, const std::string &key, const std::string &text) {
  if (store.find(key))
    throw Error("it holds keys of another job; give each job its own rendezvous");
  store.set(key, text);
}

static std::string hear(Store &store, const Joining &own, const char *stage, int rank,
                        Store::Clock::time_point deadline) {
  if (std::optional<std::string> text = awaitFrom(store, keyOf(stage, rank), std::to_string(rank), own, deadline))
    return *text;
  fail("rank ", rank, " has not joined", store.remark());
}

// Older C libraries have no wrapper for this system call.
static int watchProcess(pid_t process) { return static_cast<int>(syscall(SYS_pidfd_open, process, 0)); }

// Returns the message of an error, with the rank; empty if there is no error.
template <class F> static std::string failureText(const Joining &own, const F &join) {
  try {
    join();
    return "";
  } catch (const Error &error) {
    return concat("rank ", own.rank, " cannot share memory: ", error.what());
  }
}

static void join(SharedJob &job, const Joining &own, const std::vector<Place> &places) {
  for (int rank = 0; rank < own.size; ++rank)
    if (places[rank].host != places[0].host)
      fail("it is on another host or in another container than rank ", rank, ", but --transport=shm is for one host; ",
           "choose --transport=gloo");
  if (own.rank != 0)
    job.rings = SharedRings::open(own.size, places[0].process, places[0].descriptor);
  job.processes.assign(own.size, -1);
  for (int rank = 0; rank < own.size; ++rank)
    if (rank != own.rank && (job.processes[rank] = watchProcess(places[rank].process)) < 0)
      fail("it cannot watch the process of rank ", rank, ": ", strerror(errno), "; choose --transport=gloo");
}

// Each rank publishes its place, then whether it has joined. All ranks read both from all, so either all
// start or none.
SharedJob braid::joinSharedJob(const Joining &own, Store &store, Store::Clock::time_point deadline) {
  SharedJob job;
  std::string reason;
  if (own.rank == 0)
    reason = failureText(own, [&] { job.rings = SharedRings::make(own.size); });
  Place place{ownHost(), getpid(), job.rings ? job.rings->descriptor() : -1};
  say(store, keyOf("place", own.rank), place.text());
  std::vector<Place> places;
  for (int rank = 0; rank < own.size; ++rank)
    places.push_back(readPlace(hear(store, own, "place", rank, deadline)));
  if (reason.empty() && places[0].descriptor >= 0)
    reason = failureText(own, [&] { join(job, own, places); });
  say(store, keyOf("joined", own.rank), reason + "\n");
  for (int rank = 0; rank < own.size; ++rank) {
    reason = hear(store, own, "joined", rank, deadline);
    reason.pop_back();
    if (!reason.empty())
      throw Error(reason);
  }
  job.rings->closeDescriptor();
  return job;
}
