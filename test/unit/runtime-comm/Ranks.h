//===- Ranks.h - programs of ranks, over any transport --------------------===//
//
// A body is a named function that every rank runs. Ranks are threads or processes. For processes, this test binary
// starts itself with the name of the body, for MPI under mpirun.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_TEST_RANKS_H
#define BRAID_TEST_RANKS_H

#include "base/Error.h"
#include "comm/Communicator.h"
#include "comm/LinkModel.h"

#include <functional>
#include <string>
#include <vector>

namespace braid::test {

enum class Over { Threads, Shared, Mpi, Gloo };
const char *nameOf(Over transport);
// Transports that are built in and work under this binary's sanitizer.
std::vector<Over> transports();

struct Rank {
  br_comm &comm;
  int me, n;
  std::string report; // what the body wants the test to see
};

struct Outcome {
  bool ended = false; // else it was killed
  std::string error;  // of what the body threw
  std::string report;
};

struct RunOptions {
  double timeout = 20;
  LinkModel link = {}; // threads
};

// Runs the body on one rank. Calls `tell` with an error before the communicator is destroyed, because then the process
// may be ended together with the others.
Outcome runBody(const TransportFactory &factory, const std::string &body, double timeout,
                const std::function<void(const Outcome &)> &tell = {});

// Runs the body on ranks 0 to n-1 to their ends.
std::vector<Outcome> runRanks(Over transport, int n, const std::string &body, const RunOptions &options = {});

// A GoogleTest failure for each rank that did not end well.
void expectSuccess(const std::vector<Outcome> &outcomes);

// Runs one rank of runRanks: the whole main of such a process.
bool isRankProcess(int argc, char **argv);
int rankMain(int argc, char **argv);

using Body = void (*)(Rank &);
struct Registration {
  Registration(const char *name, Body body);
};
#define BRAID_BODY(name)                                                                                               \
  static void name(braid::test::Rank &rank);                                                                           \
  static braid::test::Registration name##Registration(#name, name);                                                    \
  static void name(braid::test::Rank &rank)

// For bodies: ends the rank with this text if the condition is false.
template <class... Parts> void require(bool condition, Parts &&...text) {
  if (!condition)
    fail(std::forward<Parts>(text)...);
}

// Starts an operation, or starts it and waits. Throws the communicator's error.
br_ticket start(Rank &rank, const br_operation &operation);
void run(Rank &rank, const br_operation &operation);
int makeGroup(Rank &rank, const std::vector<int32_t> &ranks);

} // namespace braid::test
#endif // BRAID_TEST_RANKS_H
