//===- Threads.cpp - the thread pool
//----------------------------------------===//

#include "cpu/Threads.h"
#include "core/Context.h"

#include <fstream>
#include <sched.h>
#include <set>
#include <string>

using namespace braid;

int braid::availableCores() {
  cpu_set_t mask;
  if (sched_getaffinity(0, sizeof mask, &mask) != 0)
    return 1;
  std::set<std::string> cores;
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (!CPU_ISSET(cpu, &mask))
      continue;
    std::string siblings = std::to_string(cpu); // its own core, if unknown
    std::ifstream file("/sys/devices/system/cpu/cpu" + std::to_string(cpu) +
                       "/topology/thread_siblings_list");
    std::getline(file, siblings);
    cores.insert(siblings.empty() ? std::to_string(cpu) : siblings);
  }
  return cores.empty() ? 1 : static_cast<int>(cores.size());
}

void braid::setThreads(int threads) {
  omp_set_dynamic(0);
  omp_set_num_threads(threads);
}

void br_parallel(br_context *ctx, int64_t count,
                 void (*fn)(void *arg, int64_t begin, int64_t end), void *arg) {
  parallelRanges(ctx->threads, count,
                 [&](int, int64_t begin, int64_t end) { fn(arg, begin, end); });
}

void *br_arena(br_context *ctx) { return ctx->arena.data(); }
