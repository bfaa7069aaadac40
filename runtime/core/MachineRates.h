//===- MachineRates.h - upper limits of a machine's speed -----------------===//
//
// Rates of a rank that only multiplies large matrices, or only copies large memory, while the other
// ranks do the same.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_CORE_MACHINERATES_H
#define BRAID_CORE_MACHINERATES_H

#include "braid_rt.h"

#include <algorithm>

namespace braid {

struct MachineRates {
  // FLOPs per second of GEMMs in f32 and in bf16, and bytes per second read and written; 0 if
  // unknown.
  double matrixFlops = 0, halfMatrixFlops = 0, bytesPerSecond = 0;

  // Lower bound of an action's seconds: the time of its matrix products or of its bytes, whichever
  // is longer.  0 if it does neither, or if a rate is unknown.
  double limitOf(const br_action_desc &action) const {
    const double flops = action.type == BR_BF16 ? halfMatrixFlops : matrixFlops;
    const double computing = flops > 0 ? action.matrix_flops / flops : 0;
    const double moving = bytesPerSecond > 0 ? static_cast<double>(action.bytes) / bytesPerSecond : 0;
    return action.matrix_flops > 0 && flops == 0 ? 0 : std::max(computing, moving);
  }
};

} // namespace braid
#endif // BRAID_CORE_MACHINERATES_H
