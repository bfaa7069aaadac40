//===- Threads.h - the thread pool ----------------------------------------===//
//
// OpenMP's pool, because oneDNN uses the same one: a second pool would fight
// its spinning.  Work is split into one contiguous range a thread, a function of
// the count and the number of threads only.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_HOST_THREADS_H
#define BRAID_HOST_THREADS_H

#include <cstddef>
#include <cstdint>
#include <omp.h>

// libgomp is not instrumented: ThreadSanitizer has to be told that a parallel
// region starts after what came before it and ends before what comes after, and
// to ignore how the compiler hands the region's variables over.
#ifdef __SANITIZE_THREAD__
#include <sanitizer/tsan_interface.h>
#define BRAID_FORK_JOIN __attribute__((no_sanitize("thread")))
namespace braid {
inline char forkJoin;
inline void beforeForkOrJoin() { __tsan_release(&forkJoin); }
inline void afterForkOrJoin() { __tsan_acquire(&forkJoin); }
} // namespace braid
#else
#define BRAID_FORK_JOIN
namespace braid {
inline void beforeForkOrJoin() {}
inline void afterForkOrJoin() {}
} // namespace braid
#endif

namespace braid {

// Physical cores this process may run on (its affinity mask, one hyperthread a
// core); at least 1.
int availableCores();

// Makes `threads` the size of every later parallel region, ours and oneDNN's.
void setThreads(int threads);

// Runs f(part, begin, end) for each of `threads` ranges of [0, count), one a
// thread; empty ranges are skipped.
template <class F> BRAID_FORK_JOIN void parallelRanges(int threads, int64_t count, const F &f) {
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
  beforeForkOrJoin();
  // Always the whole team: changing its size makes libgomp rebuild it.
#pragma omp parallel num_threads(threads)
  {
    afterForkOrJoin();
    for (int t = omp_get_thread_num(); t < threads; t += omp_get_num_threads())
      part(t);
    beforeForkOrJoin();
  }
  afterForkOrJoin();
}

// Zeros memory by all threads.
void parallelZero(std::byte *memory, uint64_t bytes, int threads);

} // namespace braid
#endif // BRAID_HOST_THREADS_H
