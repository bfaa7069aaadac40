//===- Summary.cpp - prints facts about a schedule ------------------------===//

#include "tools/braid-schedule/Summary.h"
#include "lib/Pipeline/Slots.h"
#include "lib/Pipeline/Timeline.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Format.h"

using namespace braid::pipeline;
using namespace braid::schedule;
using llvm::format;

/// Most ranks that are listed.
static constexpr unsigned kMaxRanks = 64;

/// Returns a share in percent.
static std::string percent(double share) {
  std::string text;
  llvm::raw_string_ostream(text) << format("%.2f %%", 100 * share);
  return text;
}

std::string braid::schedule::numberText(double value) {
  std::string text;
  llvm::raw_string_ostream(text) << format("%.4g", value);
  return text;
}

static std::string textOf(const Times &times) {
  return "F " + numberText(times.forward) + ", B " + numberText(times.inputGradient) + ", W " +
         numberText(times.weightGradient) + ", transfer " + numberText(times.transfer);
}

std::string braid::schedule::titleOf(const Options &options, const Result &result) {
  double chunks = result.chunks();
  std::string onEach = chunks == 1 ? "1 chunk" : numberText(chunks) + " chunks";
  return options.schedule + ": " + counted(result.schedule.numRanks(), "rank") + ", " +
         counted(result.schedule.numMicrobatches(), "microbatch", "microbatches") + ", " + onEach + " a rank";
}

/// Returns the results of formulas, if they hold for the given times and number of microbatches.
static std::optional<Formulas> formulasOf(const Options &options, const Result &result, llvm::raw_ostream &os) {
  const Times &times = options.times;
  if (!result.generator)
    return std::nullopt;
  if (!options.work.ofStage.empty() || times.forward != times.inputGradient || times.forward != times.weightGradient ||
      times.transfer != 0) {
    os << "formulas   for equal stages, F = B = W and no transfer\n";
    return std::nullopt;
  }
  const Schedule &schedule = result.schedule;
  Formulas formulas = result.generator->formulas(
      {schedule.numRanks(), schedule.numMicrobatches(), schedule.numStages() / schedule.numRanks()});
  if (schedule.numMicrobatches() >= formulas.leastMicrobatches)
    return formulas;
  os << "formulas   for " << formulas.leastMicrobatches << " microbatches and more\n";
  return std::nullopt;
}

static std::string fraction(Ratio ratio) {
  return std::to_string(ratio.numerator) + (ratio.denominator == 1 ? "" : "/" + std::to_string(ratio.denominator));
}

static void printFigures(const Options &options, const Result &result, const std::vector<unsigned> &peaks,
                         llvm::raw_ostream &os) {
  os << titleOf(options, result) << "\ntimes      " << textOf(options.times) << '\n'
     << format("makespan   %g", result.simulation.end);
  if (result.queued > result.simulation.end * (1 + 1e-9))
    os << format("   %g if each rank sends and receives one message after the other", result.queued);
  os << '\n';
  std::optional<Formulas> formulas = formulasOf(options, result, os);
  os << "bubble     " << percent(result.simulation.bubble);
  if (formulas)
    os << "   formula " << result.generator->bubbleFormula << " = " << fraction(formulas->bubble) << " = "
       << percent(formulas->bubble.value());
  os << "\npeak       " << numberText(*llvm::max_element(peaks) / result.chunks()) << " microbatches";
  if (formulas)
    os << "   formula " << result.generator->peakFormula << " = " << numberText(formulas->peak.value());
  os << "\n\n";
}

void braid::schedule::printSummary(const Options &options, const Result &result, llvm::raw_ostream &os) {
  const Schedule &schedule = result.schedule;
  std::vector<unsigned> peaks = peaksHeld(schedule);
  printFigures(options, result, peaks, os);
  unsigned listed = std::min(schedule.numRanks(), kMaxRanks);
  os << " rank      idle   peak\n";
  for (unsigned rank = 0; rank < listed; ++rank)
    os << llvm::format_decimal(rank, 5)
       << llvm::right_justify(percent(1 - result.simulation.busy[rank] / result.simulation.end), 10)
       << llvm::right_justify(numberText(peaks[rank] / result.chunks()), 7) << '\n';
  os << "\n rank  timeline\n";
  printTimeline(schedule, result.simulation, options.width, listed, os);
  if (listed < schedule.numRanks())
    os << "and " << counted(schedule.numRanks() - listed, "more rank") << '\n';
}

void braid::schedule::printComparison(const Options &options,
                                      std::vector<std::pair<std::string, llvm::Expected<Result>>> &results,
                                      llvm::raw_ostream &os) {
  os << "times of a rank's layers: " << textOf(options.times) << "\n\n"
     << "schedule      chunks   makespan    bubble   peak\n";
  for (auto &[name, result] : results) {
    os << llvm::left_justify(name, 12);
    if (!result) {
      os << "  - " << toString(result.takeError()) << '\n';
      continue;
    }
    std::vector<unsigned> peaks = peaksHeld(result->schedule);
    os << llvm::right_justify(numberText(result->chunks()), 8)
       << llvm::right_justify(numberText(result->simulation.end), 11)
       << llvm::right_justify(percent(result->simulation.bubble), 10)
       << llvm::right_justify(numberText(*llvm::max_element(peaks) / result->chunks()), 7) << '\n';
  }
}
