//===- NonFinite.h - parameters that are no numbers in a file -------------===//
#ifndef BRAID_CHECKPOINT_NONFINITE_H
#define BRAID_CHECKPOINT_NONFINITE_H

#include "checkpoint/SavedTensors.h"

#include <string>

namespace braid {

// "parameter 'w' holds nan at [3, 5] in 'FILE'", of the first element of a parameter of the
// model that is not finite in the file; empty if all are.  Reads the whole of it.
std::string nonFiniteParameter(const SavedTensors &saved, const br_model &model);

} // namespace braid
#endif // BRAID_CHECKPOINT_NONFINITE_H
