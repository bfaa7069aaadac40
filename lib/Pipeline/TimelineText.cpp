//===- TimelineText.cpp - a simulated schedule as lines of text -----------===//

#include "lib/Pipeline/Timeline.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"
#include <cmath>

using namespace braid::pipeline;

std::vector<unsigned> braid::pipeline::chunksOf(const Schedule &schedule) {
  std::vector<unsigned> counts(schedule.numRanks()), chunks;
  for (unsigned stage = 0; stage < schedule.numStages(); ++stage)
    chunks.push_back(counts[schedule.rankOf(stage)]++);
  return chunks;
}

namespace {

/// Names of cells: 1F3, F3 (f3 for a rank's second stage, its fourth and so on), F.
enum class Names { Full, Short, Letters };

struct Layout {
  Names names;
  /// Columns per unit of time.
  double scale;
};

} // namespace

static std::string nameOf(const Cell &cell, unsigned chunk, Names names) {
  if (names == Names::Full)
    return cell.str();
  std::string name(1, letterOf(cell.action));
  if (chunk % 2)
    name = llvm::StringRef(name).lower();
  return names == Names::Letters ? name : name + std::to_string(cell.microbatch);
}

/// Returns the longest names that fit into the columns of the shortest cell, with a space after them.
static Layout layoutOf(const Schedule &schedule, const Simulation &simulation, unsigned width) {
  double shortest = simulation.end;
  for (const auto &row : simulation.spans)
    for (const Span &span : row)
      if (double time = span.end - span.begin; time > simulation.end * 1e-9)
        shortest = std::min(shortest, time);
  double columns = std::floor(width * (1 + 1e-9) * shortest / simulation.end);
  Cell longest = {Action::Forward, schedule.numStages() - 1, schedule.numMicrobatches() - 1, 0};
  for (Names names : {Names::Full, Names::Short})
    if (double needed = nameOf(longest, 0, names).size() + 1; needed <= columns)
      return {names, needed / shortest};
  return {Names::Letters, columns >= 1 ? 1 / shortest : width / simulation.end};
}

/// Fills some columns with a name; the last column is blank unless names are letters.
static std::string fill(std::string name, size_t columns, Names names) {
  bool hasBlank = names != Names::Letters && name.size() < columns;
  name.resize(columns - hasBlank, '-');
  return hasBlank ? name + ' ' : name;
}

void braid::pipeline::printTimeline(const Schedule &schedule, const Simulation &simulation, unsigned width,
                                    unsigned maxRanks, llvm::raw_ostream &os) {
  Layout layout = layoutOf(schedule, simulation, width);
  auto column = [&](double time) { return static_cast<size_t>(std::llround(time * layout.scale)); };
  std::vector<unsigned> chunks = chunksOf(schedule);
  for (unsigned rank = 0; rank < std::min(schedule.numRanks(), maxRanks); ++rank) {
    std::string line(column(simulation.end), '.');
    for (unsigned index = 0; index < simulation.spans[rank].size(); ++index) {
      const Cell &cell = schedule.at({rank, index});
      size_t begin = column(simulation.spans[rank][index].begin), end = column(simulation.spans[rank][index].end);
      if (begin < end) // otherwise it is too short to be visible
        line.replace(begin, end - begin,
                     fill(nameOf(cell, chunks[cell.stage], layout.names), end - begin, layout.names));
    }
    os << llvm::format_decimal(rank, 5) << "  " << llvm::StringRef(line).rtrim() << '\n';
  }
}
