//===- MeasureRates.h - peak rates of this machine ------------------------===//
#ifndef BRAID_CPU_MEASURERATES_H
#define BRAID_CPU_MEASURERATES_H

#include "core/MachineRates.h"

namespace braid {

// Measures the rates of `threads` threads, in about half a second and 130 to 260 MiB of memory, depending
// on the last-level cache; measures bf16 only if `withHalf`.
MachineRates measureRates(int threads, bool withHalf);

} // namespace braid
#endif // BRAID_CPU_MEASURERATES_H
