//===- JobId.h - the id of a job ------------------------------------------===//
#ifndef BRAID_TRAIN_JOBID_H
#define BRAID_TRAIN_JOBID_H

#include "core/Model.h"

#include <string>

namespace braid {

// Returns the id of the job, the same on all ranks; all ranks must call it together. This is `saved`, the
// id in the checkpoint, or, if that is empty, 64 random bits from the first rank.
std::string agreeOnJobId(Model &model, const std::string &saved);

} // namespace braid
#endif // BRAID_TRAIN_JOBID_H
