//===- Schedule.h - the learning rate of a step ---------------------------===//
#ifndef BRAID_TRAIN_SCHEDULE_H
#define BRAID_TRAIN_SCHEDULE_H

#include "checkpoint/Checkpoint.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace braid {

// Linear from lr / warmup up to lr, then constant, or down to minLr along half
// a cosine that ends at decaySteps.  Steps count from 1.
inline float learningRate(const JobState &s, int64_t step) {
  if (step <= s.warmup)
    return s.lr * static_cast<float>(static_cast<double>(step) / s.warmup);
  if (s.schedule == "constant")
    return s.lr;
  double length = std::max<int64_t>(1, s.decaySteps - s.warmup);
  double progress = std::min(1.0, static_cast<double>(step - s.warmup) / length);
  double share = 0.5 * (1 + std::cos(std::numbers::pi * progress));
  return static_cast<float>(s.minLr + (s.lr - s.minLr) * share);
}

} // namespace braid
#endif // BRAID_TRAIN_SCHEDULE_H
