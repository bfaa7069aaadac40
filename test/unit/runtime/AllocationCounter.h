//===- AllocationCounter.h - watching the heap ----------------------------===//
//
// This test program replaces malloc to count requests of at least a page while a counter exists.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_TEST_ALLOCATIONCOUNTER_H
#define BRAID_TEST_ALLOCATIONCOUNTER_H

#include <cstddef>

namespace braid::test {

void startCountingAllocations();
// Requests of 4 KiB or more since the start, on any thread.
size_t stopCountingAllocations();
// Their sum.
size_t countedBytes();

// Whether malloc could be replaced (a sanitizer has its own).
bool canCountAllocations();

// Resident bytes of this process.
size_t residentBytes();

} // namespace braid::test
#endif // BRAID_TEST_ALLOCATIONCOUNTER_H
