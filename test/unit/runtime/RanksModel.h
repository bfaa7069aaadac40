//===- RanksModel.h - a model of many ranks, written by hand --------------===//
//
// The loss is the mean of the tokens of a step, on any mesh. The model has the parts of a program of ranks that the
// training loop needs: sharded batches, `stop`, `agree`.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_TEST_RANKSMODEL_H
#define BRAID_TEST_RANKSMODEL_H

#include "braid_rt.h"

#include <functional>
#include <vector>

namespace braid::test {

// For the ranks of a mesh of one or two axes, the batch of 8 windows of 3 tokens sharded along the first. Tokens whose
// target is `ignored` do not count. Valid until the next model is made.
const br_model &ranksModel(std::vector<br_axis> mesh, int32_t accumulate = 1, int32_t ignored = -1);

// Called by each rank before it runs a program, with the tokens that it was given
// and with the memory of its one parameter; none by default.
struct RankCall {
  int rank;
  const char *program;
  int step;
  std::vector<int32_t> tokens, targets;
};
extern std::function<void(const RankCall &)> onRankCall;

} // namespace braid::test
#endif // BRAID_TEST_RANKSMODEL_H
