//===- Threads.h - the thread pool ----------------------------------------===//
//
// Uses OpenMP's pool, because oneDNN uses it too: a second pool would compete with its spinning.
// Work is split into one contiguous range for each thread, by the count and the number of threads
// only.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_HOST_THREADS_H
#define BRAID_HOST_THREADS_H

#include <cstddef>
#include <cstdint>
#include <omp.h>

// libgomp is not instrumented.  So these calls tell ThreadSanitizer that a parallel region starts
// after earlier code and ends before later code.  The attribute makes it ignore how the compiler
// passes the region's variables.
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

// Sets the number of threads of every later parallel region, also in oneDNN.
void setThreads(int threads);

// Throws Error if the process cannot start that many threads: OpenMP would end the process.
void requireThreads(int threads);

// Ends the calling thread's pool before each fork; the next parallel region makes a new pool.  A child without its
// parent's threads would wait for them forever.
void endPoolBeforeForks();

// Runs f(part, begin, end) on `threads` ranges of [0, count), one for each thread; skips empty
// ranges.
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
  // Uses the whole team always: changing its size makes libgomp rebuild it.
#pragma omp parallel num_threads(threads)
  {
    afterForkOrJoin();
    for (int t = omp_get_thread_num(); t < threads; t += omp_get_num_threads())
      part(t);
    beforeForkOrJoin();
  }
  afterForkOrJoin();
}

// Zeros memory with all threads.
void parallelZero(std::byte *memory, uint64_t bytes, int threads);

} // namespace braid
#endif // BRAID_HOST_THREADS_H
