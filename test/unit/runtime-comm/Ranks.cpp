//===- Ranks.cpp - programs of ranks, over any transport ------------------===//

#include "Ranks.h"

#include "comm/ThreadsTransport.h"
#include "comm/shm/SharedTransport.h"
#ifdef BRAID_TEST_MPI
#include "comm/mpi/MpiTransport.h"
#endif
#ifdef BRAID_TEST_GLOO
#include "comm/gloo/GlooTransport.h"
#endif

#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <functional>
#include <gtest/gtest.h>
#include <map>
#include <spawn.h>
#include <sstream>
#include <sys/wait.h>
#include <unistd.h>

using namespace braid;
using namespace braid::test;
namespace fs = std::filesystem;

namespace {

std::map<std::string, Body> &bodies() {
  static std::map<std::string, Body> map;
  return map;
}

std::vector<Outcome> runThreads(int n, const std::string &body, const RunOptions &options) {
  auto hub = std::make_shared<ThreadsHub>(n);
  std::vector<Outcome> outcomes(n);
  std::vector<std::thread> threads;
  for (int rank = 0; rank < n; ++rank)
    threads.emplace_back(
        [&, rank] { outcomes[rank] = runBody(threadsTransport(hub, rank, options.link), body, options.timeout); });
  for (std::thread &thread : threads)
    thread.join();
  return outcomes;
}

//===----------------------------------------------------------------------===//
// Ranks that are processes leave their outcomes in files of a folder
//===----------------------------------------------------------------------===//

std::string outcomePath(const std::string &folder, int rank) { return folder + "/rank-" + std::to_string(rank); }

void writeOutcome(const std::string &folder, int rank, const Outcome &outcome) {
  std::string path = outcomePath(folder, rank);
  std::ofstream(path + ".new") << outcome.error << '\n' << outcome.report << '\n';
  fs::rename(path + ".new", path);
}

Outcome readOutcome(const std::string &folder, int rank) {
  Outcome outcome;
  std::ifstream file(outcomePath(folder, rank));
  outcome.ended = std::getline(file, outcome.error) && std::getline(file, outcome.report);
  return outcome;
}

pid_t spawn(std::vector<std::string> arguments, const std::string &log) {
  std::vector<char *> argv;
  for (std::string &argument : arguments)
    argv.push_back(argument.data());
  argv.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, 1, log.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0600);
  posix_spawn_file_actions_adddup2(&actions, 1, 2);
  pid_t pid = -1;
  int code = posix_spawnp(&pid, argv[0], &actions, nullptr, argv.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (code != 0)
    fail("cannot start ", arguments[0], ": ", strerror(code));
  return pid;
}

// Time limit after which the remaining ranks are killed, so that no test hangs.
void waitForAll(const std::vector<pid_t> &pids, double seconds) {
  auto deadline = Clock::now() + std::chrono::duration<double>(seconds);
  for (pid_t pid : pids) {
    while (waitpid(pid, nullptr, WNOHANG) == 0) {
      if (Clock::now() > deadline)
        kill(pid, SIGKILL);
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
  }
}

std::vector<Outcome> runProcesses(Over transport, int n, const std::string &body, const RunOptions &options) {
  char folderTemplate[] = "/tmp/braid-ranks-XXXXXX";
  std::string folder = mkdtemp(folderTemplate), self = fs::read_symlink("/proc/self/exe");
  auto arguments = [&](int rank) {
    return std::vector<std::string>{self,
                                    "--rank-of",
                                    nameOf(transport),
                                    std::to_string(rank),
                                    std::to_string(n),
                                    folder,
                                    body,
                                    std::to_string(options.timeout)};
  };
  std::vector<pid_t> pids;
  if (transport == Over::Mpi) {
    std::vector<std::string> mpirun = {"mpirun", "-np", std::to_string(n), "--oversubscribe", "--allow-run-as-root"};
    std::vector<std::string> own = arguments(-1);
    mpirun.insert(mpirun.end(), own.begin(), own.end());
    pids.push_back(spawn(mpirun, folder + "/log"));
  } else {
    for (int rank = 0; rank < n; ++rank)
      pids.push_back(spawn(arguments(rank), folder + "/log"));
  }
  waitForAll(pids, options.timeout + 30);
  std::vector<Outcome> outcomes;
  for (int rank = 0; rank < n; ++rank)
    outcomes.push_back(readOutcome(folder, rank));
  // Returns the output of a rank that left no outcome.
  std::ifstream log(folder + "/log");
  std::string said{std::istreambuf_iterator<char>(log), {}};
  for (Outcome &outcome : outcomes)
    if (!outcome.ended)
      outcome.error = said;
  fs::remove_all(folder);
  return outcomes;
}

} // namespace

Outcome test::runBody(const TransportFactory &factory, const std::string &body, double timeout,
                      const std::function<void(const Outcome &)> &tell) {
  Outcome outcome;
  outcome.ended = true;
  try {
    br_comm comm(factory, timeout);
    Rank rank{comm, comm.rank(), comm.size(), ""};
    try {
      bodies().at(body)(rank);
    } catch (const std::exception &error) {
      outcome.error = error.what();
      if (tell)
        tell(outcome);
    }
    outcome.report = rank.report;
  } catch (const std::exception &error) {
    outcome.error = error.what();
  }
  return outcome;
}

Registration::Registration(const char *name, Body body) { bodies()[name] = body; }

const char *test::nameOf(Over transport) {
  switch (transport) {
  case Over::Threads:
    return "threads";
  case Over::Shared:
    return "shm";
  case Over::Mpi:
    return "mpi";
  case Over::Gloo:
    return "gloo";
  }
  return "";
}

// The libraries are not instrumented: ThreadSanitizer sees only half of them.
std::vector<Over> test::transports() {
  std::vector<Over> result = {Over::Threads, Over::Shared};
#ifndef __SANITIZE_THREAD__
#ifdef BRAID_TEST_MPI
  result.push_back(Over::Mpi);
#endif
#ifdef BRAID_TEST_GLOO
  result.push_back(Over::Gloo);
#endif
#endif
  return result;
}

std::vector<Outcome> test::runRanks(Over transport, int n, const std::string &body, const RunOptions &options) {
  return transport == Over::Threads ? runThreads(n, body, options) : runProcesses(transport, n, body, options);
}

void test::expectSuccess(const std::vector<Outcome> &outcomes) {
  for (size_t rank = 0; rank < outcomes.size(); ++rank) {
    EXPECT_TRUE(outcomes[rank].ended) << "rank " << rank;
    EXPECT_EQ(outcomes[rank].error, "") << "rank " << rank;
  }
}

bool test::isRankProcess(int argc, char **argv) { return argc == 8 && std::string(argv[1]) == "--rank-of"; }

int test::rankMain(int, char **argv) {
  std::string transport = argv[2], folder = argv[5], body = argv[6];
  double timeout = std::stod(argv[7]);
  int rank = std::stoi(argv[3]);
  TransportFactory factory;
#ifdef BRAID_TEST_MPI
  if (transport == "mpi") {
    factory = mpiTransport();
    rank = std::stoi(std::getenv("OMPI_COMM_WORLD_RANK"));
  }
#endif
  const Joining joining{rank, std::stoi(argv[4]), timeout, "file://" + folder + "/store", "", ""};
  if (transport == "shm")
    factory = sharedTransport(joining);
#ifdef BRAID_TEST_GLOO
  if (transport == "gloo")
    factory = glooTransport(joining);
#endif
  if (!factory)
    return 2;
  auto write = [&](const Outcome &outcome) { writeOutcome(folder, rank, outcome); };
  Outcome outcome = runBody(factory, body, timeout, write);
  write(outcome);
  return outcome.error.empty() ? 0 : 1;
}

//===----------------------------------------------------------------------===//
// Calls through the C interface
//===----------------------------------------------------------------------===//

br_ticket test::start(Rank &rank, const br_operation &operation) {
  br_ticket ticket = 0;
  if (br_comm_start(&rank.comm, &operation, &ticket) != BR_OK)
    fail(br_comm_error(&rank.comm));
  return ticket;
}

void test::run(Rank &rank, const br_operation &operation) {
  if (br_comm_wait(&rank.comm, start(rank, operation)) != BR_OK)
    fail(br_comm_error(&rank.comm));
}

int test::makeGroup(Rank &rank, const std::vector<int32_t> &ranks) {
  int32_t group = -1;
  if (br_comm_group(&rank.comm, ranks.data(), static_cast<int32_t>(ranks.size()), &group) != BR_OK)
    fail(br_comm_error(&rank.comm));
  return group;
}
