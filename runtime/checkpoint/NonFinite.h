//===- NonFinite.h - find parameters that are not finite ------------------===//
#ifndef BRAID_CHECKPOINT_NONFINITE_H
#define BRAID_CHECKPOINT_NONFINITE_H

#include "checkpoint/SavedTensors.h"

#include <string>

namespace braid {

// Describes the first element of the model's parameters that is not finite in the file, as in "parameter
// 'w' holds nan at [3, 5] in 'FILE'"; empty if all are finite. Reads all parameters.
std::string nonFiniteParameter(const SavedTensors &saved, const br_model &model);

} // namespace braid
#endif // BRAID_CHECKPOINT_NONFINITE_H
