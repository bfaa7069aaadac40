//===- Threads.cpp - the thread pool --------------------------------------===//

#include "host/Threads.h"
#include "base/Error.h"
#include "braid_rt.h"
#include "host/Placement.h"

#include <cstdlib>
#include <cstring>
#include <mutex>
#include <pthread.h>
#include <system_error>
#include <thread>
#include <unistd.h>
#include <vector>

using namespace braid;

// Restarts the program, because libgomp reads its environment only when it is loaded.  By default a
// thread spins for up to about 15 ms at the end of every parallel region.  If other work shares the
// machine's cores, that makes a step several times slower.  About 0.1 ms covers the gaps between
// the regions of a step.
void br_limit_spinning(char **argv) {
  if (std::getenv("GOMP_SPINCOUNT") || std::getenv("OMP_WAIT_POLICY"))
    return;
  setenv("GOMP_SPINCOUNT", "2000", /*overwrite=*/1);
  execv("/proc/self/exe", argv);
  // If the restart fails, the program goes on, only slower.
}

void braid::parallelZero(std::byte *memory, uint64_t bytes, int threads) {
  parallelRanges(threads, static_cast<int64_t>(bytes),
                 [&](int, int64_t begin, int64_t end) { std::memset(memory + begin, 0, end - begin); });
}

void braid::setThreads(int threads) {
  omp_set_dynamic(0);
  omp_set_num_threads(threads);
}

void braid::requireThreads(int threads) {
  std::mutex gate; // keeps every thread alive until the last one was started
  std::vector<std::thread> started;
  std::string problem;
  {
    std::lock_guard closed(gate);
    try {
      while (static_cast<int>(started.size()) + 1 < threads)
        started.emplace_back([&] { std::lock_guard opened(gate); });
    } catch (const std::system_error &error) {
      problem = error.what();
    }
  }
  for (std::thread &thread : started)
    thread.join();
  if (!problem.empty())
    fail("this process cannot start ", threads, " threads, but at most ", started.size() + 1, ": ", problem,
         "; give fewer threads, or raise the limit of the system (ulimit -u)");
}

void braid::endPoolBeforeForks() {
  static const int status = pthread_atfork([] { omp_pause_resource_all(omp_pause_soft); }, nullptr, nullptr);
  if (status != 0)
    fail("cannot prepare for forks of this process: ", std::strerror(status));
}
