//===- main.cpp - braid-schedule: schedules of pipelines ------------------===//
//
// Makes the table of a schedule or reads one, verifies it and the messages that follow from it,
// simulates it, and says what it costs.
//
//===----------------------------------------------------------------------===//

#include "cli/StandardFiles.h"
#include "lib/Pipeline/Csv.h"
#include "lib/Pipeline/Timeline.h"
#include "tools/Failures.h"
#include "tools/braid-schedule/Summary.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/ToolOutputFile.h"

using namespace llvm;
using namespace braid::pipeline;
using namespace braid::schedule;

template <typename... Args> static Error failure(const char *format, Args &&...args) {
  return createStringError(formatv(format, std::forward<Args>(args)...).str());
}

static Expected<Schedule> generateNamed(const Generator &generator, const Options &options) {
  if (!options.ranks || !options.microbatches)
    return failure("--schedule={0} needs --stages and --microbatches", generator.name);
  return generate(generator, {*options.ranks, *options.microbatches, options.chunks.value_or(generator.usualChunks)});
}

/// What was said beside a file must be what is in it.
static Error compare(const Options &options, const Schedule &schedule) {
  unsigned ranks = schedule.numRanks(), stages = schedule.numStages();
  if (options.ranks && *options.ranks != ranks)
    return failure("{0} has {1}, but --stages={2}", options.schedule, counted(ranks, "rank"), *options.ranks);
  if (options.microbatches && *options.microbatches != schedule.numMicrobatches())
    return failure("{0} has {1}, but --microbatches={2}", options.schedule,
                   counted(schedule.numMicrobatches(), "microbatch", "microbatches"), *options.microbatches);
  if (options.chunks && uint64_t(*options.chunks) * ranks != stages)
    return failure("{0} has {1} on {2}, but --chunks={3}", options.schedule, counted(stages, "stage"),
                   counted(ranks, "rank"), *options.chunks);
  return Error::success();
}

static Expected<Schedule> readFile(const Options &options) {
  if (!sys::fs::exists(options.schedule)) {
    std::string names;
    for (const Generator *generator : generators())
      names += (names.empty() ? "" : ", ") + generator->name.str();
    return failure("there is no schedule and no file '{0}'; schedules are {1}", options.schedule, names);
  }
  Expected<Table> table = readCsv(options.schedule);
  if (!table)
    return table.takeError();
  Expected<Schedule> schedule = verify(std::move(*table));
  if (!schedule)
    return failure("{0}: {1}", options.schedule, toString(schedule.takeError()));
  if (Error error = compare(options, *schedule))
    return error;
  return schedule;
}

/// Stages of a rank share its layers.  Times are multiplied by their number before they are
/// simulated, and divided after, so that sums of whole numbers are exact.
static std::vector<StageTimes> stageTimes(const Schedule &schedule, const Times &times, double chunks) {
  StageTimes stage = {.forward = times.forward,
                      .inputGradient = times.inputGradient,
                      .weightGradient = times.weightGradient,
                      .sendActivation = times.transfer * chunks,
                      .sendGradient = times.transfer * chunks};
  return std::vector<StageTimes>(schedule.numStages(), stage);
}
static void divideTimes(Simulation &simulation, double chunks) {
  for (auto &row : simulation.spans)
    for (Span &span : row)
      span = {span.begin / chunks, span.end / chunks};
  for (double &busy : simulation.busy)
    busy /= chunks;
  simulation.end /= chunks;
}

/// Simulates the schedule and plans its messages, which are verified.
static Expected<MessagePlan> carryOut(const Times &times, Result &result) {
  std::vector<StageTimes> stages = stageTimes(result.schedule, times, result.chunks());
  if (Error error = check(result.schedule, stages))
    return error;
  result.simulation = simulate(result.schedule, stages);
  MessagePlan plan = planMessages(result.schedule, result.simulation);
  if (Error error = verify(result.schedule, plan))
    return error;
  result.queued = simulateQueues(result.schedule, stages, plan).end / result.chunks();
  divideTimes(result.simulation, result.chunks());
  return plan;
}

/// To a file through a temporary name, or to standard output.
static Error write(StringRef file, function_ref<Error(raw_ostream &)> print) {
  if (file == "-")
    return print(outs());
  if (Error error = writeToOutput(file, print))
    return failure("{0}: {1}", file, toString(std::move(error)));
  return Error::success();
}

static Error writeFiles(const Options &options, const Result &result, const MessagePlan &plan) {
  if (options.csv)
    if (Error error = write(*options.csv, [&](raw_ostream &os) {
          if (options.messages)
            writeCsv(result.schedule, plan, os);
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

static Error run(const Options &options) {
  Result result;
  result.generator = findGenerator(options.schedule);
  Expected<Schedule> schedule = result.generator ? generateNamed(*result.generator, options) : readFile(options);
  if (!schedule)
    return schedule.takeError();
  result.schedule = std::move(*schedule);
  if (options.limit) {
    auto limit = static_cast<unsigned>(*options.limit * result.chunks() + 1e-9);
    if (Expected<Schedule> limited = verify(result.schedule.getTable(), limit); !limited)
      return failure("{0}: {1} (--limit={2} on {3} chunks a rank)", options.schedule, toString(limited.takeError()),
                     numberText(*options.limit), numberText(result.chunks()));
  }
  Expected<MessagePlan> plan = carryOut(options.times, result);
  if (!plan)
    return plan.takeError();
  if (Error error = writeFiles(options, result, *plan))
    return error;
  printSummary(options, result, options.csv == "-" || options.svg == "-" ? errs() : outs());
  return Error::success();
}

int main(int argc, char **argv) {
  braid::cli::openStandardFiles();
  braid::reportFailures("braid-schedule");
  InitLLVM init(argc, argv);
  if (Error error = run(parseOptions(argc, argv))) {
    errs() << "braid-schedule: " << toString(std::move(error)) << '\n';
    return 1;
  }
  return 0;
}
