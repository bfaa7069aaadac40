//===- MachineRates.h - how fast a machine could be -----------------------===//
//
// What a rank reaches that does nothing but multiply large matrices, or copy large memory,
// while the other ranks do the same.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_CORE_MACHINERATES_H
#define BRAID_CORE_MACHINERATES_H

#include "braid_rt.h"

#include <algorithm>

namespace braid {

struct MachineRates {
  // FLOPs a second of GEMMs in f32 and in bf16, and bytes a second that are read and written; 0:
  // not known.
  double matrixFlops = 0, halfMatrixFlops = 0, bytesPerSecond = 0;

  // The least seconds that an action takes: those of its matrix products, or of its bytes if that is
  // more.  0 where it neither multiplies nor moves anything, or a rate is not known.
  double limitOf(const br_action_desc &action) const {
    const double flops = action.type == BR_BF16 ? halfMatrixFlops : matrixFlops;
    const double computing = flops > 0 ? action.matrix_flops / flops : 0;
    const double moving = bytesPerSecond > 0 ? static_cast<double>(action.bytes) / bytesPerSecond : 0;
    return action.matrix_flops > 0 && flops == 0 ? 0 : std::max(computing, moving);
  }
};

} // namespace braid
#endif // BRAID_CORE_MACHINERATES_H
