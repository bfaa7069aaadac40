//===- Verify.cpp - verification of tables --------------------------------===//
//
// Independent of the code that made the table. First an index of cells shows which are
// missing or duplicate. Then each cell is compared with its inputs in the same row. Then
// ranks walk along their rows; if they wait for each other, the error names the cycle. Last,
// the held microbatches are counted.
//
//===----------------------------------------------------------------------===//

#include "lib/Pipeline/Failure.h"
#include "lib/Pipeline/Schedule.h"
#include "llvm/ADT/STLExtras.h"

using namespace braid::pipeline;
using llvm::Error;

namespace braid::pipeline {

class Verifier {
public:
  explicit Verifier(Table table) { schedule.table = std::move(table); }
  Error run(HeldLimit limit);
  Schedule schedule;

private:
  static constexpr Place kNowhere = {~0u, ~0u};

  Error checkRows();
  Error placeStages();
  Error placeCells();
  Error placeCell(Place place);
  Error checkComplete();
  Error checkRowOrder();
  Error checkDeadlock();
  Error checkHeld(unsigned limit);

  const Cell &at(Place place) const { return schedule.at(place); }
  std::string where(Place place) const {
    return llvm::formatv("rank {0}, step {1}: {2}", place.rank, at(place).step, at(place).str());
  }
  std::string waitOf(unsigned rank, const std::vector<unsigned> &visited, unsigned &next) const;
};

} // namespace braid::pipeline

Error Verifier::checkRows() {
  const Table &table = schedule.table;
  if (table.rows.empty() || !table.numStages || !table.numMicrobatches)
    return failure("the schedule is empty");
  if (Error error = checkSize(table.numStages, table.numMicrobatches))
    return error;
  for (auto [rank, row] : llvm::enumerate(table.rows)) {
    if (row.empty())
      return failure("rank {0} has no cells", rank);
    for (const Cell &cell : row)
      if (cell.stage >= table.numStages || cell.microbatch >= table.numMicrobatches)
        return failure("rank {0}, step {1}: {2} is not in the {3} and {4} of the schedule", rank, cell.step, cell.str(),
                       counted(table.numStages, "stage"), counted(table.numMicrobatches, "microbatch", "microbatches"));
  }
  return Error::success();
}

Error Verifier::placeStages() {
  std::vector<Place> first(schedule.numStages(), kNowhere);
  for (auto [rank, row] : llvm::enumerate(schedule.table.rows))
    for (unsigned index = 0; index < row.size(); ++index) {
      Place place = {static_cast<unsigned>(rank), index};
      Place &seen = first[row[index].stage];
      if (seen == kNowhere)
        seen = place;
      else if (seen.rank != place.rank)
        return failure("stage {0} is on two ranks: {1}; {2}", row[index].stage, where(seen), where(place));
    }
  for (auto [stage, place] : llvm::enumerate(first)) {
    if (place == kNowhere)
      return failure("no rank runs stage {0} of {1}", stage, schedule.numStages());
    schedule.ranks.push_back(place.rank);
  }
  return Error::success();
}

Error Verifier::placeCell(Place place) {
  const Cell &cell = at(place);
  unsigned number = schedule.number(cell.stage, cell.microbatch);
  auto put = [&](std::vector<Place> &places) -> Error {
    Place &seen = places[number];
    if (seen == kNowhere) {
      seen = place;
      return Error::success();
    }
    if (at(seen).action == cell.action)
      return failure("{0} occurs twice, first in step {1}", where(place), at(seen).step);
    return failure("{0} repeats part of {1} in step {2}: a backward is one B, or one I and one W", where(place),
                   at(seen).str(), at(seen).step);
  };
  if (cell.action == Action::Forward)
    return put(schedule.forwards);
  if (makesGradient(cell.action))
    if (Error error = put(schedule.gradients))
      return error;
  return releases(cell.action) ? put(schedule.ends) : Error::success();
}

Error Verifier::placeCells() {
  size_t numbers = size_t(schedule.numStages()) * schedule.numMicrobatches();
  for (std::vector<Place> *places : {&schedule.forwards, &schedule.gradients, &schedule.ends})
    places->assign(numbers, kNowhere);
  for (auto [rank, row] : llvm::enumerate(schedule.table.rows))
    for (unsigned index = 0; index < row.size(); ++index)
      if (Error error = placeCell({static_cast<unsigned>(rank), index}))
        return error;
  return Error::success();
}

Error Verifier::checkComplete() {
  for (unsigned stage = 0; stage < schedule.numStages(); ++stage)
    for (unsigned microbatch = 0; microbatch < schedule.numMicrobatches(); ++microbatch) {
      Place forward = schedule.forward(stage, microbatch), gradient = schedule.gradient(stage, microbatch),
            end = schedule.release(stage, microbatch);
      auto missing = [&](const char *format, Place present) {
        std::string reason =
            present == kNowhere ? "" : " for its " + at(present).str() + " in step " + std::to_string(at(present).step);
        return failure("rank {0} has no {1}{2}", schedule.rankOf(stage), llvm::formatv(format, stage, microbatch).str(),
                       reason);
      };
      if (forward == kNowhere)
        return missing("{0}F{1}", gradient == kNowhere ? end : gradient);
      if (gradient == kNowhere)
        return end == kNowhere ? missing("{0}B{1}", forward) : missing("{0}I{1}", end);
      if (end == kNowhere)
        return missing("{0}W{1}", gradient);
    }
  return Error::success();
}

/// Returns the relation of an input to a cell, for messages.
static const char *relationOf(const Cell &cell, const Cell &input) {
  if (cell.stage != input.stage)
    return input.action == Action::Forward ? "whose activation it needs" : "whose gradient it needs";
  return input.action == Action::Forward ? "its forward" : "its input gradient";
}

Error Verifier::checkRowOrder() {
  for (auto [rank, row] : llvm::enumerate(schedule.table.rows))
    for (unsigned index = 0; index < row.size(); ++index)
      for (Place input : schedule.inputsOf(row[index]))
        if (input.rank == rank && input.index > index)
          return failure("{0} comes before {1} in step {2}, {3}", where({input.rank, index}), at(input).str(),
                         at(input).step, relationOf(row[index], at(input)));
  return Error::success();
}

/// Returns what a stuck rank waits for; `next` is the rank that has not reached that cell.
std::string Verifier::waitOf(unsigned rank, const std::vector<unsigned> &visited, unsigned &next) const {
  const Cell &cell = at({rank, visited[rank]});
  for (Place input : schedule.inputsOf(cell))
    if (input.index >= visited[input.rank]) {
      next = input.rank;
      return llvm::formatv("rank {0} waits at {1} in step {2} for {3}, which rank {4} runs in step {5}", rank,
                           cell.str(), cell.step, at(input).str(), input.rank, at(input).step);
    }
  llvm_unreachable("a rank stops where an input is missing");
}

Error Verifier::checkDeadlock() {
  std::vector<unsigned> visited = schedule.walk([](Place) {});
  auto stuck = [&](unsigned rank) { return visited[rank] < schedule.table.rows[rank].size(); };
  unsigned rank = 0;
  while (rank < schedule.numRanks() && !stuck(rank))
    ++rank;
  if (rank == schedule.numRanks())
    return Error::success();
  // Each stuck rank waits for another stuck rank, so following them leads into a cycle.
  std::vector<bool> seen(schedule.numRanks());
  while (!seen[rank]) {
    seen[rank] = true;
    waitOf(rank, visited, rank);
  }
  constexpr unsigned kMaxNamed = 4;
  std::string text;
  unsigned first = rank, ranks = 0;
  do {
    std::string wait = waitOf(rank, visited, rank);
    if (ranks++ < kMaxNamed)
      text += (ranks > 1 ? "; " : "") + wait;
  } while (rank != first);
  if (ranks > kMaxNamed)
    text += "; and so on, " + counted(ranks, "rank") + " in all";
  return failure("deadlock: {0}", text);
}

Error Verifier::checkHeld(unsigned limit) {
  for (auto [rank, row] : llvm::enumerate(schedule.table.rows)) {
    unsigned held = 0;
    for (const Cell &cell : row) {
      held += cell.action == Action::Forward;
      if (held > limit)
        return failure("rank {0}, step {1}: with {2} the rank holds {3} of its stages, above the limit of {4}", rank,
                       cell.step, cell.str(), counted(held, "microbatch", "microbatches"), limit);
      held -= releases(cell.action);
    }
  }
  return Error::success();
}

Error Verifier::run(HeldLimit limit) {
  for (Error (Verifier::*step)() : {&Verifier::checkRows, &Verifier::placeStages, &Verifier::placeCells,
                                    &Verifier::checkComplete, &Verifier::checkRowOrder, &Verifier::checkDeadlock})
    if (Error error = (this->*step)())
      return error;
  return limit ? checkHeld(*limit) : Error::success();
}

llvm::Expected<Schedule> braid::pipeline::verify(Table table, HeldLimit limit) {
  Verifier verifier(std::move(table));
  if (Error error = verifier.run(limit))
    return error;
  return std::move(verifier.schedule);
}
