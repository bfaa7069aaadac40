//===- Schedule.cpp - verified tables with an index -----------------------===//

#include "lib/Pipeline/Schedule.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Sequence.h"

using namespace braid::pipeline;
using llvm::SmallVector;

SmallVector<Place, 2> Schedule::inputsOf(const Cell &cell) const {
  unsigned stage = cell.stage, microbatch = cell.microbatch;
  SmallVector<Place, 2> inputs;
  if (cell.action == Action::Forward && stage > 0)
    inputs.push_back(forward(stage - 1, microbatch));
  if (cell.action == Action::WeightGradient)
    inputs.push_back(gradient(stage, microbatch));
  if (makesGradient(cell.action)) {
    inputs.push_back(forward(stage, microbatch));
    if (stage + 1 < table.numStages)
      inputs.push_back(gradient(stage + 1, microbatch));
  }
  return inputs;
}

std::optional<Place> Schedule::readerOf(const Cell &cell) const {
  if (cell.action == Action::Forward && cell.stage + 1 < table.numStages)
    return forward(cell.stage + 1, cell.microbatch);
  if (makesGradient(cell.action) && cell.stage > 0)
    return gradient(cell.stage - 1, cell.microbatch);
  return std::nullopt;
}

std::vector<unsigned> Schedule::walk(llvm::function_ref<void(Place)> visit) const {
  std::vector<unsigned> visited(numRanks(), 0);
  // Ranks that may be able to advance: at first all, then the consumers of each visited cell.
  SmallVector<unsigned> ready(llvm::reverse(llvm::seq(0u, numRanks())));
  while (!ready.empty()) {
    unsigned rank = ready.pop_back_val();
    const Table::Row &row = table.rows[rank];
    for (unsigned &index = visited[rank]; index < row.size(); ++index) {
      auto isDone = [&](Place input) { return input.index < visited[input.rank]; };
      if (!llvm::all_of(inputsOf(row[index]), isDone))
        break;
      visit({rank, index});
      if (std::optional<Place> reader = readerOf(row[index]); reader && reader->rank != rank)
        ready.push_back(reader->rank);
    }
  }
  return visited;
}

void Schedule::align() {
  walk([&](Place place) {
    Table::Row &row = table.rows[place.rank];
    unsigned step = place.index ? row[place.index - 1].step + 1 : 0;
    for (Place input : inputsOf(row[place.index]))
      step = std::max(step, at(input).step + 1);
    row[place.index].step = step;
  });
}
