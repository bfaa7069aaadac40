//===- Options.cpp - the command line of braid-schedule -------------------===//

#include "tools/braid-schedule/Options.h"
#include "lib/Pipeline/Generators.h"
#include "tools/CommandLine.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"

using namespace braid::cli;
using namespace braid::schedule;

/// Limits of a time and of a factor, so that sums of all cells are finite.
static constexpr double kMaxTime = 1e12, kMaxWork = 1e6;

/// Returns the numbers between commas; empty if any is not a time.
static llvm::SmallVector<double> numbersOf(llvm::StringRef text) {
  llvm::SmallVector<double> numbers;
  llvm::SmallVector<llvm::StringRef> parts;
  text.split(parts, ',');
  for (llvm::StringRef part : parts) {
    double number = 0;
    if (part.trim().getAsDouble(number) || !(number >= 0 && number <= kMaxTime))
      return {};
    numbers.push_back(number);
  }
  return numbers;
}

static bool areTimes(std::string_view text) {
  llvm::SmallVector<double> numbers = numbersOf(text);
  return (numbers.size() == 3 || numbers.size() == 4) && numbers[0] + numbers[1] + numbers[2] > 0;
}

static bool areFactors(std::string_view text) {
  llvm::SmallVector<double> numbers = numbersOf(text);
  return !numbers.empty() && *llvm::max_element(numbers) <= kMaxWork;
}

void braid::schedule::readOption(Times &times, std::string_view text) {
  llvm::SmallVector<double> numbers = numbersOf(text);
  times = {numbers[0], numbers[1], numbers[2], numbers.size() == 4 ? numbers[3] : 0};
}

void braid::schedule::readOption(Work &work, std::string_view text) {
  llvm::append_range(work.ofStage, numbersOf(text));
}

static Lines schedules() {
  Lines lines;
  for (const braid::pipeline::Generator *generator : braid::pipeline::generators())
    lines.emplace_back(generator->name, generator->summary);
  return lines;
}

namespace {

constexpr Option kSchedule[] = {
    {"--schedule", text("NAME|FILE"),
     "Schedule: a name, or a file with a table in PyTorch's format (CSV: one line per rank, cells such as 0F3)",
     into<&Options::schedule>(), byDefault("every named schedule in turn"), listing(schedules)},
    {"--stages", integer("P", 1, 1 << 20), "Ranks of the pipeline", into<&Options::ranks>()},
    {"--microbatches", integer("M", 1, 1 << 20), "Microbatches in a step", into<&Options::microbatches>()},
    {"--chunks", integer("V", 1, 1 << 20), "Stages on each rank", into<&Options::chunks>(),
     byDefault("2 for interleaved and zb-v, else 1")},
    {"--limit", number("MICROBATCHES", 0, 1 << 20),
     "Largest number of microbatches in flight on a rank; a schedule with more is an error; a microbatch in one of V "
     "stages counts 1/V",
     into<&Options::limit>()},
};

constexpr Option kTimes[] = {
    {"--times",
     text("F,B,W[,TRANSFER]", areTimes, "three or four numbers from 0 to 1e12, of which the first three are not all 0"),
     "Time of a rank's layers per microbatch: forward, gradient of the input, gradients of the weights (a whole "
     "backward takes B + W); and time of a message between ranks",
     into<&Options::times>(), byDefault("1,1,1,0")},
    {"--work", text("W0,W1,...", areFactors, "numbers from 0 to 1e6 between commas"),
     "Factors on the times of each stage, for stages of unequal size; one number per stage", into<&Options::work>()},
};

constexpr Option kOutput[] = {
    {"--csv", text("FILE").alone("-"), "File for the table as CSV; without a value, standard output",
     into<&Options::csv>(), needs("--schedule")},
    {"--messages", flag(), "Include sends and receives in the CSV, in PyTorch's format compute_comms",
     into<&Options::messages>(), needs("--csv")},
    {"--svg", text("FILE").alone("-"), "File for the timeline as SVG; without a value, standard output",
     into<&Options::svg>(), needs("--schedule")},
    {"--width", integer("COLUMNS", 1, 10000), "Largest width of the timeline as text, in columns",
     into<&Options::width>()},
};

constexpr Topic kTopics[] = {
    topic<Options>("Schedule", kSchedule),
    topic<Options>("Times", kTimes),
    topic<Options>("Output", kOutput),
    topic<Options>("Help", braid::kToolHelp),
};

constexpr Command kTool = {"braid-schedule", "Make, check and simulate a schedule of pipeline parallelism", kTopics};

} // namespace

Options braid::schedule::parseOptions(int argc, char **argv) {
  Options options;
  braid::parseCommandLine(kTool, argc, argv, &options);
  if (options.csv == "-" && options.svg == "-")
    braid::exitForUsage(kTool.name, "only one of --csv and --svg can go to standard output: name a file");
  return options;
}
