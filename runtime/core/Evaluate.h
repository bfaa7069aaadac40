//===- Evaluate.h - loss on the held-out part
//--------------------------------===//
#ifndef BRAID_CORE_EVALUATE_H
#define BRAID_CORE_EVALUATE_H

#include "core/Batches.h"
#include "core/Model.h"

namespace braid {

// Mean of the `eval` program's loss over `batches` batches that cover the
// held-out part evenly.
float heldOutLoss(Model &model, const br_program &program, BatchSource &batches,
                  int64_t count, uint64_t seed);

} // namespace braid
#endif // BRAID_CORE_EVALUATE_H
