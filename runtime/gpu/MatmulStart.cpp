//===- MatmulStart.cpp - choice of matmul algorithms at start -------------===//

#include "gpu/MatmulStart.h"

#include "base/Error.h"
#include "core/Mesh.h"
#include "core/Model.h"

#include <cstring>

using namespace braid;

//===----------------------------------------------------------------------===//
// The time of matmuls
//===----------------------------------------------------------------------===//

// Returns the lower bound in seconds for the matmuls of a program, by the data sheet.
static double secondsOf(const br_model &model, const br_program &program) {
  double seconds = 0;
  for (int32_t i = 0; i < program.n_actions; ++i) {
    const br_action_desc &action = program.actions[i];
    const double peak = action.type == BR_BF16 ? model.peak_half_flops : model.peak_flops;
    if (std::strcmp(action.op, "matmul") == 0 && peak > 0)
      seconds += action.matrix_flops / peak;
  }
  return seconds;
}

static double secondsOfStep(const br_model &model) {
  double seconds = 0;
  for (int32_t i = 0; i < model.n_cells; ++i)
    if (model.cells[i].kind == BR_CELL_RUN)
      seconds += secondsOf(model, model.programs[model.cells[i].index]);
  const br_program *train = findProgram(model, "train"), *accumulate = findProgram(model, "accumulate");
  if (train)
    seconds += secondsOf(model, *train);
  if (accumulate && model.n_cells == 0 && model.accumulate > 1)
    seconds += (model.accumulate - 1) * secondsOf(model, *accumulate);
  return seconds;
}

//===----------------------------------------------------------------------===//
// The start
//===----------------------------------------------------------------------===//

namespace {

class Starter {
public:
  Starter(MatmulTable &table, const br_model &model, const Rank &rank, const MatmulPlatform &platform,
          const MatmulChoices::AllGather &allGather)
      : table(table), rank(rank), allGather(allGather),
        choices(rank, platform, isOfAllRanks(model),
                searchPaysOff(secondsOfStep(model), table.minSeconds(model), rank.trainingSteps), allGather) {}

  MatmulStart run() {
    const std::string misfit = choices.any() ? applySavedPlan() : "";
    if (choices.any() && misfit.empty())
      return start;
    const bool searches = choices.maxCandidates() > 1 && canWrite();
    if (!misfit.empty())
      start.warnings.push_back(concat(misfit, searches ? "; it was searched anew, and the file replaced"
                                                       : "; matmuls run by the heuristic's first choices"));
    if (searches)
      search();
    return start;
  }

private:
  std::string firstOf(const std::string &own) const;
  std::string applySavedPlan();
  bool canWrite();
  void search();

  MatmulTable &table;
  const Rank &rank;
  const MatmulChoices::AllGather &allGather;
  MatmulChoices choices;
  MatmulStart start;
};

// Returns the first non-empty text of any rank, the same on all ranks.
std::string Starter::firstOf(const std::string &own) const {
  for (const std::string &text : allGather(own))
    if (!text.empty())
      return text;
  return "";
}

// Uses the plan on all ranks, or on none.  Returns why not, or ""; throws Error if a plan named by
// the user does not fit.
std::string Starter::applySavedPlan() {
  std::vector<MatmulTrial> chosen;
  std::string problem;
  try {
    chosen = table.fit(choices);
  } catch (const Error &failure) {
    if (choices.isNamed())
      throw;
    problem = failure.what();
  }
  if (!choices.isNamed())
    problem = firstOf(problem);
  if (!problem.empty())
    return problem;
  table.useChosen(chosen);
  start.remark = concat("matmul plan '", choices.path(), "': algorithms of ", chosen.size(), " matmuls");
  return "";
}

// A search by default needs a file for later runs; a search that the user asked for does not.
bool Starter::canWrite() {
  if (choices.isAsked())
    return true;
  const std::string obstacle = firstOf(rank.isFirst() ? choices.findObstacle() : "");
  if (!obstacle.empty())
    start.warnings.push_back(
        concat("no matmul plan can be written, so matmuls run by the heuristic's first choices: ", obstacle,
               "; give --matmul-search=N and a --matmul-plan=FILE that can, or --matmul-search=off"));
  return obstacle.empty();
}

void Starter::search() {
  if (choices.any() && rank.isFirst())
    choices.remove(); // it does not fit this run
  table.search(choices.maxCandidates(), allGather);
  const std::string failure = choices.write(table.searched(), allGather);
  if (!failure.empty() && choices.isAsked())
    throw Error(failure);
  if (!failure.empty()) {
    start.warnings.push_back(concat(failure, "; matmuls run by the heuristic's first choices"));
    return;
  }
  table.useChosen(table.fit(choices));
  start.remark =
      concat(describeSearch(table.searched()),
             choices.isOwn() ? "; written to '" : "; but another run was first to write '", choices.path(), "'");
}

} // namespace

MatmulStart braid::startMatmuls(MatmulTable &table, const br_model &model, const Rank &rank,
                                const MatmulPlatform &platform, const MatmulChoices::AllGather &allGather) {
  return Starter(table, model, rank, platform, allGather).run();
}
