//===- JobId.h - which job a checkpoint belongs to ------------------------===//
#ifndef BRAID_CHECKPOINT_JOBID_H
#define BRAID_CHECKPOINT_JOBID_H

#include "core/Model.h"

#include <string>

namespace braid {

// The id of a job, the same on all ranks, who must ask together: what its checkpoint says,
// or, where that is empty, 64 bits that the first rank draws.
std::string agreeOnJobId(Model &model, const std::string &saved);

} // namespace braid
#endif // BRAID_CHECKPOINT_JOBID_H
