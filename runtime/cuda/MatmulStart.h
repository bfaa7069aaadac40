//===- MatmulStart.h - which algorithms the matmuls of a run have ---------===//
//
// Decided once, at the start, by all ranks together:
//
//   --matmul-plan=FILE      its algorithms; one that does not fit is refused
//   a plan beside the       its algorithms; one that does not fit is told of in a warning, and
//   program                 is replaced where there is a search
//   --matmul-search=N       without a plan: a search, whose choices are written to the plan
//   neither                 the same where the search wins back its time in the job's steps
//   --matmul-search=off     the heuristic's first choices
//
// A job that goes on from a checkpoint shall find the algorithms that it began with.  So the
// number of steps that decides is that of the whole job; whoever has searched runs by what the file
// holds; and where the file cannot be written, nobody who was not told to searches: the
// heuristic's first choices are the same in each run.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_CUDA_MATMULSTART_H
#define BRAID_CUDA_MATMULSTART_H

#include "cuda/Matmul.h"
#include "cuda/MatmulChoices.h"

#include <string>
#include <vector>

namespace braid {

// For people: how algorithms were chosen, if not by the heuristic, and what did not fit.
struct MatmulStart {
  std::string remark;
  std::vector<std::string> warnings;
};

// All ranks call it, while nothing is in the arena.  Throws Error.
MatmulStart startMatmuls(CudaMatmulTable &table, const br_model &model, const Rank &rank,
                         const MatmulPlatform &platform, const MatmulChoices::AllGather &allGather);

} // namespace braid
#endif // BRAID_CUDA_MATMULSTART_H
