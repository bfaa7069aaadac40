//===- Threads.h - the thread pool
//------------------------------------------===//
//
// OpenMP's pool, because oneDNN uses the same one: a second pool would fight
// its spinning.  Work is cut into one contiguous range a thread, a function of
// the count and the number of threads only.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_CPU_THREADS_H
#define BRAID_CPU_THREADS_H

#include <cstdint>
#include <omp.h>

namespace braid {

// Physical cores this process may run on (its affinity mask, one hyperthread a
// core); at least 1.
int availableCores();

// Makes `threads` the size of every later parallel region, ours and oneDNN's.
void setThreads(int threads);

// Runs f(part, begin, end) for each of `threads` ranges of [0, count), one a
// thread; empty ranges are skipped.
template <class F> void parallelRanges(int threads, int64_t count, const F &f) {
  auto part = [&](int t) {
    int64_t begin = count * t / threads, end = count * (t + 1) / threads;
    if (begin < end)
      f(t, begin, end);
  };
  if (threads == 1 || count <= 1) {
    for (int t = 0; t < threads; ++t)
      part(t);
    return;
  }
  // Always the whole team: changing its size makes libgomp rebuild it.
#pragma omp parallel num_threads(threads)
  for (int t = omp_get_thread_num(); t < threads; t += omp_get_num_threads())
    part(t);
}

} // namespace braid
#endif // BRAID_CPU_THREADS_H
