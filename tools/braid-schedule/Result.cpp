//===- Result.cpp - facts about a schedule --------------------------------===//

#include "tools/braid-schedule/Result.h"
#include "lib/Pipeline/Csv.h"
#include "lib/Pipeline/Failure.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Format.h"

using namespace llvm;
using namespace braid::pipeline;
using namespace braid::schedule;

std::string braid::schedule::numberText(double value) {
  std::string text;
  raw_string_ostream(text) << format("%.4g", value);
  return text;
}

static Expected<Schedule> generateNamed(const Generator &generator, const Options &options) {
  if (!options.ranks || !options.microbatches)
    return failure("--schedule={0} needs --stages and --microbatches", generator.name);
  return generate(generator, {*options.ranks, *options.microbatches, options.chunks.value_or(generator.defaultChunks)});
}

/// Checks that options given beside a file agree with the file.
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
    return failure("no schedule or file is named '{0}'; the schedules are {1}", options.schedule, names);
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

//===----------------------------------------------------------------------===//
// Times
//===----------------------------------------------------------------------===//

/// Returns the times of each stage. The stages of a rank share its layers. Times are multiplied by their number before
/// the simulation and divided afterwards, so that sums of whole numbers are exact.
static Expected<std::vector<StageTimes>> stageTimes(const Options &options, const Result &result) {
  const Times &times = options.times;
  const std::vector<double> &factors = options.work.ofStage;
  unsigned stages = result.schedule.numStages();
  if (!factors.empty() && factors.size() != stages)
    return failure("--work has {0}, but {1} has {2}", counted(factors.size(), "number"), options.schedule,
                   counted(stages, "stage"));
  std::vector<StageTimes> all;
  for (unsigned stage = 0; stage < stages; ++stage) {
    double work = factors.empty() ? 1 : factors[stage], transfer = times.transfer * result.chunks();
    all.push_back({work * times.forward, work * times.inputGradient, work * times.weightGradient, transfer, transfer});
  }
  if (Error error = check(result.schedule, all))
    return error;
  return all;
}

static void divideTimes(Simulation &simulation, double chunks) {
  for (auto &row : simulation.spans)
    for (Span &span : row)
      span = {span.begin / chunks, span.end / chunks};
  for (double &busy : simulation.busy)
    busy /= chunks;
  simulation.end /= chunks;
}

//===----------------------------------------------------------------------===//
// The whole result
//===----------------------------------------------------------------------===//

static Error checkLimit(const Options &options, const Result &result) {
  double held = std::min(*options.limit * result.chunks() + 1e-9, double(kMaxStageMicrobatches));
  Expected<Schedule> limited = verify(result.schedule.getTable(), static_cast<unsigned>(held));
  if (limited)
    return Error::success();
  return failure("{0}: {1} (--limit={2} on {3} chunks a rank)", options.schedule, toString(limited.takeError()),
                 numberText(*options.limit), numberText(result.chunks()));
}

Expected<Result> braid::schedule::resultOf(const Options &options) {
  Result result;
  result.generator = findGenerator(options.schedule);
  Expected<Schedule> schedule = result.generator ? generateNamed(*result.generator, options) : readFile(options);
  if (!schedule)
    return schedule.takeError();
  result.schedule = std::move(*schedule);
  if (options.limit)
    if (Error error = checkLimit(options, result))
      return error;
  Expected<std::vector<StageTimes>> stages = stageTimes(options, result);
  if (!stages)
    return stages.takeError();
  result.simulation = simulate(result.schedule, *stages);
  result.messages = planMessages(result.schedule, result.simulation);
  if (Error error = verify(result.schedule, result.messages))
    return error;
  result.queued = simulateQueues(result.schedule, *stages, result.messages).end / result.chunks();
  divideTimes(result.simulation, result.chunks());
  return result;
}
