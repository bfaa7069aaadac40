//===- AllocationCounter.cpp - watching the heap --------------------------===//

#include "AllocationCounter.h"

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstdlib>

namespace {
std::atomic<bool> counting{false};
std::atomic<size_t> large{0}, largeBytes{0};

[[maybe_unused]] void note(size_t bytes) {
  if (bytes < 4096 || !counting.load(std::memory_order_relaxed))
    return;
  large.fetch_add(1, std::memory_order_relaxed);
  largeBytes.fetch_add(bytes, std::memory_order_relaxed);
}
} // namespace

#if defined(__GLIBC__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define BRAID_HOOK_MALLOC 1
extern "C" {
void *__libc_malloc(size_t);
void *__libc_calloc(size_t, size_t);
void *__libc_realloc(void *, size_t);
void *__libc_memalign(size_t, size_t);

void *malloc(size_t bytes) {
  note(bytes);
  return __libc_malloc(bytes);
}
void *calloc(size_t n, size_t size) {
  note(n * size);
  return __libc_calloc(n, size);
}
void *realloc(void *p, size_t bytes) {
  note(bytes);
  return __libc_realloc(p, bytes);
}
void *memalign(size_t alignment, size_t bytes) {
  note(bytes);
  return __libc_memalign(alignment, bytes);
}
void *aligned_alloc(size_t alignment, size_t bytes) {
  note(bytes);
  return __libc_memalign(alignment, bytes);
}
int posix_memalign(void **out, size_t alignment, size_t bytes) {
  note(bytes);
  *out = __libc_memalign(alignment, bytes);
  return *out ? 0 : ENOMEM;
}
}
#endif

bool braid::test::canCountAllocations() {
#ifdef BRAID_HOOK_MALLOC
  return true;
#else
  return false;
#endif
}

void braid::test::startCountingAllocations() {
  large = largeBytes = 0;
  counting = true;
}

size_t braid::test::stopCountingAllocations() {
  counting = false;
  return large;
}

size_t braid::test::countedBytes() { return largeBytes; }

size_t braid::test::residentBytes() {
  std::FILE *file = std::fopen("/proc/self/statm", "r");
  if (!file)
    return 0;
  unsigned long total = 0, resident = 0;
  int fields = std::fscanf(file, "%lu %lu", &total, &resident);
  std::fclose(file);
  return fields == 2 ? resident * 4096 : 0;
}
