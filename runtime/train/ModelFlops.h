//===- ModelFlops.h - the least time that a step could take ---------------===//
//
// What MFU is measured by (Chowdhery et al., PaLM, 2022): the FLOPs of the model's matrix
// products, which are three times those of forward, at the peak of the device's data sheet.
// What backward computes again counts as time and not as FLOPs.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_TRAIN_MODELFLOPS_H
#define BRAID_TRAIN_MODELFLOPS_H

#include "braid_rt.h"

namespace braid {

// The seconds that a rank's part of a step of so many microbatches would take at the peak of
// its device; 0 where the peak, or what the program's actions are, is not known.
double secondsAtPeak(const br_model &model, int microbatches);

} // namespace braid
#endif // BRAID_TRAIN_MODELFLOPS_H
