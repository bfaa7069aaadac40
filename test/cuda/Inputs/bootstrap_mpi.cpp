// Ranks that mpirun has started exchange blobs; then rank 1 fails while the other one
// waits, as in an NCCL collective that never ends.
#include "base/Error.h"
#include "comm/Bootstrap.h"
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
  BootstrapOptions options;
  options.wanted = "nccl";
  options.host = "mpi";
  options.joining.rank = launch.rank;
  options.joining.size = launch.size;
  try {
    Bootstrap bootstrap(options);
    std::vector<std::string> blobs = bootstrap.allGatherBlobs(std::string(launch.rank + 1, 'w'));
    std::printf("received %s and %s\n", blobs[0].c_str(), blobs[1].c_str());
    std::fflush(stdout);
    bootstrap.setTransport("nccl");
    if (launch.rank != 1)
      std::this_thread::sleep_for(std::chrono::minutes(10));
    bootstrap.abandon();
    fail("the disk is full");
  } catch (const Error &error) {
    std::fprintf(stderr, "error: %s\n", error.what());
    return 1;
  }
}
