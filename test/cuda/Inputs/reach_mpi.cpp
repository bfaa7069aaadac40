// Ranks that mpirun has started tell each other a word; then rank 1 fails while the other
// one waits, as it does in a collective of NCCL that never ends.
#include "base/Error.h"
#include "comm/Reach.h"
#include "comm/transports.h"
#include "launch/Launch.h"

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <thread>

using namespace braid;

int main() {
  br_use_mpi();
  Launch launch = findLaunch([](const char *name) { return std::getenv(name); });
  ReachOptions options;
  options.wanted = "nccl";
  options.host = "mpi";
  options.joining.rank = launch.rank;
  options.joining.size = launch.size;
  try {
    Reach reach(options);
    std::vector<std::string> words = reach.tellAll(std::string(launch.rank + 1, 'w'));
    std::printf("heard %s and %s\n", words[0].c_str(), words[1].c_str());
    std::fflush(stdout);
    reach.settle("nccl");
    if (launch.rank != 1)
      std::this_thread::sleep_for(std::chrono::minutes(10));
    reach.abandon();
    fail("the disk is full");
  } catch (const Error &error) {
    std::fprintf(stderr, "error: %s\n", error.what());
    return 1;
  }
}
