//===- AllOrNothing.cpp - actions that succeed on all ranks or on none ----===//

#include "core/AllOrNothing.h"

#include "base/Error.h"
#include "core/Agree.h"
#include "core/Arena.h"

using namespace braid;

void braid::allOrNothing(Model &model, const std::function<void()> &action) {
  const int rank = model.rank().number;
  std::string problem;
  try {
    action();
  } catch (const std::bad_alloc &) {
    problem = kMoreMemory;
  } catch (const std::exception &error) {
    problem = error.what();
  }
  const int32_t failed = agree(model, {problem.empty() ? 0 : rank + 1})[0];
  if (!problem.empty())
    throw Error(problem);
  if (failed != 0)
    throw RankError(concat("rank ", failed - 1, " failed; see its own error"));
}
