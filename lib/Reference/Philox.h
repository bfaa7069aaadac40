//===- Philox.h - counter-based random numbers ------------------*- C++ -*-===//
//
// Philox4x32-10 (Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", SC
// 2011): a block of four words is a pure function of a counter and a key.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_LIB_REFERENCE_PHILOX_H
#define BRAID_LIB_REFERENCE_PHILOX_H

#include <array>
#include <cstdint>

namespace braid::reference {

using PhiloxCounter = std::array<uint32_t, 4>;
using PhiloxKey = std::array<uint32_t, 2>;

PhiloxCounter philox(PhiloxCounter counter, PhiloxKey key);

/// Returns word `element % 4` of the block with counter (element / 4 low, high, step, stream).
uint32_t philoxWord(uint64_t element, uint32_t step, uint32_t stream, PhiloxKey key);

/// Returns the upper 24 bits of a word as a number in [0, 1).
double uniformOf(uint32_t word);

} // namespace braid::reference

#endif // BRAID_LIB_REFERENCE_PHILOX_H
