//===- MpiTransport.cpp - ranks started by mpirun -------------------------===//
//
// Open MPI 4.1 moves data only inside MPI calls, so the communication thread polls posted operations: at
// first without pauses, then with short sleeps, because the cores belong to the computation. Between polls
// it looks for notices on a reserved tag: a rank has failed, or has ended.
//
//===----------------------------------------------------------------------===//

#include "comm/mpi/MpiTransport.h"

#include "base/Error.h"
#include "comm/MessageTransport.h"
#include "comm/transports.h"

#include <algorithm>
#include <mpi.h>
#include <sys/prctl.h>
#include <thread>

using namespace braid;

namespace {

void check(int code, const char *what) {
  if (code == MPI_SUCCESS)
    return;
  char text[MPI_MAX_ERROR_STRING];
  int length = 0;
  MPI_Error_string(code, text, &length);
  fail(what, " failed: ", std::string(text, length));
}

// Polls without a pause for a few microseconds, then sleeps between polls. Yielding instead would cost a
// whole time slice when other threads compute.
class PollingBackoff {
public:
  void wait() {
    constexpr int eager = 100, soon = 5000;
    if (++turns > eager)
      std::this_thread::sleep_for(std::chrono::microseconds(turns < soon ? 10 : 200));
  }

private:
  int turns = 0;
};

class MpiChannel : public Channel {
public:
  MpiChannel();
  ~MpiChannel() override;

  int rank() const override { return ownRank; }
  int size() const override { return worldSize; }
  void send(int peer, int tag, const void *data, size_t bytes) override;
  void receive(int peer, int tag, void *data, size_t bytes) override;
  std::set<int> complete(Clock::time_point deadline) override;
  bool hasEnded(int peer) const override { return ended[peer]; }
  void announceFailure(const std::string &message) override;

private:
  // Groups have tags from 1 on.
  static constexpr int noticeTag = 0;

  void notifyAll(const std::string &notice);
  std::string readNotice();
  bool allHaveNotified() const;
  std::set<int> outstanding();

  MPI_Comm world = MPI_COMM_NULL;
  int ownRank = 0, worldSize = 0;
  std::vector<MPI_Request> requests;
  std::vector<int> peers; // peer of each request
  std::vector<bool> ended, failed;
  bool broken = false;
  std::string sentNotice; // send buffer of notifyAll, kept until the end
};

MpiChannel::MpiChannel() {
  int isInitialized = 0, provided = 0;
  MPI_Initialized(&isInitialized);
  if (isInitialized)
    fail("MPI is initialized already, but the communication thread must initialize it");
  // Without this, the kernel turns a sleep of 10 µs into 60 µs.
  prctl(PR_SET_TIMERSLACK, 1000);
  // "Funneled": only the thread that initializes MPI calls it.
  check(MPI_Init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &provided), "MPI_Init_thread");
  if (provided < MPI_THREAD_FUNNELED)
    fail("this MPI library does not support programs with threads (MPI_THREAD_FUNNELED)");
  check(MPI_Comm_dup(MPI_COMM_WORLD, &world), "MPI_Comm_dup");
  MPI_Comm_set_errhandler(world, MPI_ERRORS_RETURN);
  MPI_Comm_rank(world, &ownRank);
  MPI_Comm_size(world, &worldSize);
  ended.resize(worldSize);
  failed.resize(worldSize);
}

// MPI_Finalize waits for all ranks, and mpirun 4.1 may never end if a rank is killed while it waits there.
// So this waits for notices of all ranks first, without a time limit. After a failure no rank finalizes:
// processes end with an error, and mpirun handles it.
MpiChannel::~MpiChannel() {
  if (broken)
    return;
  notifyAll("");
  for (PollingBackoff patience; !allHaveNotified(); patience.wait())
    readNotice();
  if (std::count(failed.begin(), failed.end(), true) == 0)
    MPI_Finalize();
}

// Messages are chunks of streams, so their sizes fit MPI's int.
void MpiChannel::send(int peer, int tag, const void *data, size_t bytes) {
  if (bytes == 0)
    return;
  peers.push_back(peer);
  check(MPI_Isend(data, static_cast<int>(bytes), MPI_BYTE, peer, tag + 1, world, &requests.emplace_back()),
        "MPI_Isend");
}

void MpiChannel::receive(int peer, int tag, void *data, size_t bytes) {
  if (bytes == 0)
    return;
  peers.push_back(peer);
  check(MPI_Irecv(data, static_cast<int>(bytes), MPI_BYTE, peer, tag + 1, world, &requests.emplace_back()),
        "MPI_Irecv");
}

std::set<int> MpiChannel::complete(Clock::time_point deadline) {
  PollingBackoff patience;
  while (true) {
    int done = 0;
    check(MPI_Testall(static_cast<int>(requests.size()), requests.data(), &done, MPI_STATUSES_IGNORE), "MPI_Testall");
    if (done) {
      requests.clear();
      peers.clear();
      return {};
    }
    if (std::string failure = readNotice(); !failure.empty())
      throw Error(failure);
    bool isExpired = Clock::now() >= deadline;
    if (isExpired || std::count(ended.begin(), ended.end(), true)) {
      std::set<int> late = outstanding();
      if (!isExpired)
        std::erase_if(late, [&](int peer) { return !ended[peer]; });
      if (!late.empty())
        return late;
    }
    patience.wait();
  }
}

// Returns the peers of requests that are not done.
std::set<int> MpiChannel::outstanding() {
  std::set<int> result;
  for (size_t i = 0; i < requests.size(); ++i) {
    int done = 0;
    check(MPI_Request_get_status(requests[i], &done, MPI_STATUS_IGNORE), "MPI_Request_get_status");
    if (!done)
      result.insert(peers[i]);
  }
  return result;
}

// Sends a notice to all ranks: the text of a failure, or an empty text when this rank ends normally.
void MpiChannel::notifyAll(const std::string &notice) {
  sentNotice = notice;
  for (int peer = 0; peer < worldSize; ++peer) {
    MPI_Request request;
    if (peer == ownRank)
      continue;
    MPI_Isend(sentNotice.data(), static_cast<int>(sentNotice.size()), MPI_CHAR, peer, noticeTag, world, &request);
    MPI_Request_free(&request);
  }
}

// Returns the text of a failure that was just announced, or an empty string.
std::string MpiChannel::readNotice() {
  int present = 0, length = 0;
  MPI_Status status;
  check(MPI_Iprobe(MPI_ANY_SOURCE, noticeTag, world, &present, &status), "MPI_Iprobe");
  if (!present)
    return "";
  MPI_Get_count(&status, MPI_CHAR, &length);
  std::string text(length, '\0');
  check(MPI_Recv(text.data(), length, MPI_CHAR, status.MPI_SOURCE, noticeTag, world, MPI_STATUS_IGNORE), "MPI_Recv");
  (text.empty() ? ended : failed)[status.MPI_SOURCE] = true;
  return text;
}

// mpirun ends all ranks as soon as one ends with an error. So this waits until the other ranks know the
// reason, but only a moment for ranks that do not listen.
void MpiChannel::announceFailure(const std::string &message) {
  broken = true;
  notifyAll(message);
  Clock::time_point deadline = Clock::now() + std::chrono::seconds(1);
  for (PollingBackoff patience; !allHaveNotified() && Clock::now() < deadline; patience.wait())
    readNotice();
  std::this_thread::sleep_for(std::chrono::milliseconds(100)); // time to print it
}

// Whether all other ranks have failed or ended.
bool MpiChannel::allHaveNotified() const {
  for (int peer = 0; peer < worldSize; ++peer)
    if (peer != ownRank && !failed[peer] && !ended[peer])
      return false;
  return true;
}

} // namespace

TransportFactory braid::mpiTransport(const Joining &) {
  return [] { return std::make_unique<MessageTransport>(std::make_unique<MpiChannel>()); };
}

void br_use_mpi() { registerTransport("mpi", mpiTransport); }
