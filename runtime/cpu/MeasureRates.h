//===- MeasureRates.h - how fast this machine could be --------------------===//
#ifndef BRAID_CPU_MEASURERATES_H
#define BRAID_CPU_MEASURERATES_H

#include "core/MachineRates.h"

namespace braid {

// Of so many threads, in about half a second and 130 MiB of memory; of bf16 where that is asked for.
MachineRates measureRates(int threads, bool withHalf);

} // namespace braid
#endif // BRAID_CPU_MEASURERATES_H
