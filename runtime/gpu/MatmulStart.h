//===- MatmulStart.h - choice of matmul algorithms at start ---------------===//
//
// All ranks decide together, once, at start:
//
//   --matmul-plan=FILE      the plan's algorithms; a plan that does not fit is refused
//   a plan beside the       the plan's algorithms; a plan that does not fit causes a warning, and is
//   program                 replaced if there is a search
//   --matmul-search=N       without a plan: a search, whose choices are written to the plan
//   neither                 a search if it wins back its time in the job's steps
//   --matmul-search=off     the heuristic's first choices
//
// A job that resumes from a checkpoint must find the algorithms that it began with.  So the step
// count of the whole job decides; a run that has searched uses the file's content; and if the file
// cannot be written, only a search that the user asked for runs.  Without a search, the heuristic's
// first choices are the same in each run.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_GPU_MATMULSTART_H
#define BRAID_GPU_MATMULSTART_H

#include "gpu/Matmul.h"
#include "gpu/MatmulChoices.h"

#include <string>
#include <vector>

namespace braid {

// Messages: how algorithms were chosen, if not by the heuristic, and which plan did not fit.
struct MatmulStart {
  std::string remark;
  std::vector<std::string> warnings;
};

// All ranks must call it, while the arena is unused.  Throws Error.
MatmulStart startMatmuls(MatmulTable &table, const br_model &model, const Rank &rank, const MatmulPlatform &platform,
                         const MatmulChoices::AllGather &allGather);

} // namespace braid
#endif // BRAID_GPU_MATMULSTART_H
