//===- ModelFlops.h - lower bound of a step's time ------------------------===//
//
// The time that MFU is measured against (Chowdhery et al., PaLM, 2022): the FLOPs of the model's matrix
// products, which are three times the forward FLOPs, at the peak rate in the device's data sheet.
// Recomputation in backward counts as time, but not as FLOPs.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_TRAIN_MODELFLOPS_H
#define BRAID_TRAIN_MODELFLOPS_H

#include "braid_rt.h"

namespace braid {

// Returns the seconds that a rank's part of a step with `microbatches` microbatches would take at the peak
// rate of its device. Returns 0 if the peak rate or the program's actions are unknown.
double secondsAtPeak(const br_model &model, int microbatches);

} // namespace braid
#endif // BRAID_TRAIN_MODELFLOPS_H
