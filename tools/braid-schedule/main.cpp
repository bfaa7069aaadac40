//===- main.cpp - braid-schedule: schedules of pipelines ------------------===//

#include "cli/StandardFiles.h"
#include "lib/Pipeline/Csv.h"
#include "lib/Pipeline/Failure.h"
#include "lib/Pipeline/Slots.h"
#include "lib/Pipeline/Timeline.h"
#include "tools/Failures.h"
#include "tools/braid-schedule/Result.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/ToolOutputFile.h"

using namespace llvm;
using namespace braid::pipeline;
using namespace braid::schedule;

/// Most ranks that are listed.
static constexpr unsigned kMaxRanks = 64;

/// Returns a share in percent.
static std::string percent(double share) {
  std::string text;
  raw_string_ostream(text) << format("%.2f %%", 100 * share);
  return text;
}

static std::string textOf(const Times &times) {
  return "F " + numberText(times.forward) + ", B " + numberText(times.inputGradient) + ", W " +
         numberText(times.weightGradient) + ", transfer " + numberText(times.transfer);
}

/// Returns `zb-h1: 4 ranks, 8 microbatches, 1 chunk a rank`.
static std::string titleOf(const Options &options, const Result &result) {
  double chunks = result.chunks();
  std::string onEach = chunks == 1 ? "1 chunk" : numberText(chunks) + " chunks";
  return options.schedule + ": " + counted(result.schedule.numRanks(), "rank") + ", " +
         counted(result.schedule.numMicrobatches(), "microbatch", "microbatches") + ", " + onEach + " a rank";
}

/// Returns the results of formulas, if they hold for the given times and number of microbatches.
static std::optional<Formulas> formulasOf(const Options &options, const Result &result, raw_ostream &os) {
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
  if (schedule.numMicrobatches() >= formulas.minMicrobatches)
    return formulas;
  os << "formulas   for " << formulas.minMicrobatches << " microbatches and more\n";
  return std::nullopt;
}

static std::string fraction(Ratio ratio) {
  return std::to_string(ratio.numerator) + (ratio.denominator == 1 ? "" : "/" + std::to_string(ratio.denominator));
}

static void printFigures(const Options &options, const Result &result, const std::vector<unsigned> &peaks,
                         raw_ostream &os) {
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

/// Prints figures, the actions of each rank, and the timeline.
static void printSummary(const Options &options, const Result &result, raw_ostream &os) {
  const Schedule &schedule = result.schedule;
  std::vector<unsigned> peaks = peakHeldMicrobatches(schedule);
  printFigures(options, result, peaks, os);
  unsigned listed = std::min(schedule.numRanks(), kMaxRanks);
  os << " rank      idle   peak\n";
  for (unsigned rank = 0; rank < listed; ++rank)
    os << format_decimal(rank, 5)
       << right_justify(percent(1 - result.simulation.busy[rank] / result.simulation.end), 10)
       << right_justify(numberText(peaks[rank] / result.chunks()), 7) << '\n';
  os << "\n rank  timeline\n";
  printTimeline(schedule, result.simulation, options.width, listed, os);
  if (listed < schedule.numRanks())
    os << "and " << counted(schedule.numRanks() - listed, "more rank") << '\n';
}

/// Prints a line for each schedule, or the reason why it is not possible.
static void printComparison(const Options &options, std::vector<std::pair<std::string, Expected<Result>>> &results,
                            raw_ostream &os) {
  os << "times of a rank's layers: " << textOf(options.times) << "\n\n"
     << "schedule      chunks   makespan    bubble   peak\n";
  for (auto &[name, result] : results) {
    os << left_justify(name, 12);
    if (!result) {
      os << "  - " << toString(result.takeError()) << '\n';
      continue;
    }
    std::vector<unsigned> peaks = peakHeldMicrobatches(result->schedule);
    os << right_justify(numberText(result->chunks()), 8) << right_justify(numberText(result->simulation.end), 11)
       << right_justify(percent(result->simulation.bubble), 10)
       << right_justify(numberText(*llvm::max_element(peaks) / result->chunks()), 7) << '\n';
  }
}

/// Writes to a file through a temporary name, or to standard output.
static Error write(StringRef file, function_ref<Error(raw_ostream &)> print) {
  if (file == "-")
    return print(outs());
  if (Error error = writeToOutput(file, print))
    return failure("{0}: {1}", file, toString(std::move(error)));
  return Error::success();
}

static Error writeFiles(const Options &options, const Result &result) {
  if (options.csv)
    if (Error error = write(*options.csv, [&](raw_ostream &os) {
          if (options.messages)
            writeCsv(result.schedule, result.messages, os);
          else
            writeCsv(result.schedule.getTable(), os);
          return Error::success();
        }))
      return error;
  if (options.svg)
    return write(*options.svg, [&](raw_ostream &os) {
      return writeSvg(result.schedule, result.simulation, titleOf(options, result), os);
    });
  return Error::success();
}

/// Compares all named schedules one after the other; for those that do not fit, prints the reason.
static Error compareSchedules(Options options) {
  if (!options.ranks || !options.microbatches)
    return failure("comparing schedules needs the numbers of ranks and microbatches: give --stages and --microbatches, "
                   "or --schedule");
  std::vector<std::pair<std::string, Expected<Result>>> results;
  for (const Generator *generator : generators()) {
    options.schedule = generator->name;
    results.emplace_back(options.schedule, resultOf(options));
  }
  printComparison(options, results, outs());
  return Error::success();
}

static Error run(const Options &options) {
  if (options.schedule.empty())
    return compareSchedules(options);
  Expected<Result> result = resultOf(options);
  if (!result)
    return result.takeError();
  if (Error error = writeFiles(options, *result))
    return error;
  printSummary(options, *result, options.csv == "-" || options.svg == "-" ? errs() : outs());
  return Error::success();
}

int main(int argc, char **argv) {
  braid::cli::prepareProcess();
  braid::reportFailures("braid-schedule");
  InitLLVM init(argc, argv);
  if (Error error = run(parseOptions(argc, argv))) {
    errs() << "braid-schedule: " << toString(std::move(error)) << '\n';
    return 1;
  }
  return 0;
}
