//===- Train.cpp - the training loop --------------------------------------===//
//
// All memory is allocated before the first step: later steps only write inputs, run programs (StepRuns.h),
// read results and append a line to the log.
//
// All ranks run this loop. Its decisions depend only on values that are equal on all ranks: losses are
// all-reduced, and the step adds up requests to stop.
//
// On a device, the next step is queued before the results of a step are read, so that the device never
// waits for the host. So the reaction to a step's results (its line in the log, the end of the job after
// Ctrl-C or a NaN loss) comes one step late. The step that is already queued is finished and counts, on all
// ranks. Evaluations and saves wait until the queue is empty: they never use a step whose loss is unknown.
//
// A rank that cannot continue, because it lost its log, standard output or data, asks all ranks to save and
// end, just as a signal does.
//
//===----------------------------------------------------------------------===//

#include "base/Clock.h"
#include "base/Error.h"
#include "base/Format.h"
#include "core/Agree.h"
#include "train/Evaluate.h"
#include "train/EventFile.h"
#include "train/ExtendedTimeout.h"
#include "train/Metrics.h"
#include "train/ModelFlops.h"
#include "train/Progress.h"
#include "train/Stop.h"
#include "train/TrainJob.h"

#include <algorithm>
#include <cmath>
#include <csignal>
#include <cstdio>
#include <iterator>
#include <memory>
#include <numbers>
#include <utility>
#include <vector>

using namespace braid;

namespace {

// Returns the learning rate of a step, counted from 1. It rises linearly from lr / warmup to lr. After that
// it stays constant, or falls to minLr along half a cosine that ends at decaySteps.
float learningRate(const JobState &s, int64_t step) {
  if (step <= s.warmup)
    return s.lr * static_cast<float>(static_cast<double>(step) / s.warmup);
  if (s.schedule == "constant")
    return s.lr;
  double length = std::max<int64_t>(1, s.decaySteps - s.warmup);
  double progress = std::min(1.0, static_cast<double>(step - s.warmup) / length);
  double share = 0.5 * (1 + std::cos(std::numbers::pi * progress));
  return static_cast<float>(s.minLr + (s.lr - s.minLr) * share);
}

// A step in the queue.
struct StartedStep {
  int64_t number;
  float lr;
  BatchCount count;
  double start;
};

// Thrown if the data of a step cannot be read.
class DataError : public Error {
public:
  using Error::Error;
};

class Trainer {
public:
  Trainer(TrainJob &job, const TrainOptions &options)
      : options(options), job(job), loss(lossOf(job.train)), gradNorm(findByRole(resultsOf(job.train), "grad_norm")),
        localSquare(findByRole(resultsOf(job.train), "grad_sq_local")),
        globalSquare(findByRole(resultsOf(job.train), "grad_sq_global")),
        ownStop(findByRole(inputsOf(job.train), "stop")), anyStop(findByRole(resultsOf(job.train), "stop")),
        interval(options.saveEvery.value_or(SaveInterval())), savedStep(job.state.step), latest(job.resumedFrom) {
    findMeasured();
  }

  int run();

private:
  void findMeasured();
  void openOutputs();
  BatchCount fill(const br_program &program, int64_t number, int microbatch);
  BatchCount run(const br_program &program, int64_t number, int microbatch);
  StartedStep start(int64_t number);
  int finish(const StartedStep &step, int back);
  StepMetrics metricsOf(const StartedStep &step, int back);
  bool isBreak(int64_t step) const;
  int trainSteps();
  void evaluate();
  void save();
  std::string causeOfNonFinite(const StepMetrics &m) const;
  template <class F> void report(const F &f);
  std::optional<StartedStep> startOrFail(int64_t number);
  std::string latestText() const;
  [[noreturn]] void endWithFailure();
  [[noreturn]] void stopForNonFinite(const StepMetrics &m);
  std::optional<NoiseMetrics> noise(const BatchCount &count, int back) const;
  void warnOfNoTarget(const StartedStep &step);
  int requestedSignal(int back);
  int ownSignal();
  // Whether ranks can agree on when to end.
  bool canAgree() const { return job.model.rank().size == 1 || anyStop; }
  int leave(int signal);
  float result(const br_io &io, int back) const { return job.model.result<float>(job.train, io, back); }
  bool isFirst() const { return job.model.rank().isFirst(); }

  const TrainOptions &options;
  TrainJob &job;
  const br_io &loss;
  const br_io *gradNorm, *localSquare, *globalSquare;
  const br_io *ownStop, *anyStop;        // null if the model has one rank
  std::vector<const br_io *> measured;   // scalars that the user asked for; the loop does not use them
  std::vector<Measurement> measurements; // of the last step that was read
  std::optional<CheckpointWriter> writer;
  std::optional<MetricsLog> log;    // on the first rank
  std::optional<EventFile> events;  // on the first rank
  std::optional<Progress> progress; // on the first rank
  const SaveInterval interval;
  double nextSave = 0;   // time of the next save, in seconds of the clock
  int64_t savedStep;     // initially the starting step, which is already saved or has nothing to save
  std::string failure;   // why this rank cannot continue
  std::string latest;    // the latest checkpoint to resume from
  double lastFinish = 0; // time when the results of the previous step were read
  bool warnedOfNoTarget = false;
};

void Trainer::findMeasured() {
  const br_io *known[] = {&loss, gradNorm, localSquare, globalSquare, anyStop};
  for (const br_io &io : resultsOf(job.train))
    if (io.rank == 0 && io.dtype == BR_F32 && std::find(std::begin(known), std::end(known), &io) == std::end(known))
      measured.push_back(&io);
  measurements.resize(measured.size());
}

// Opens the outputs after all checks, so that a mistake overwrites nothing.
void Trainer::openOutputs() {
  if (!options.checkpoint.empty())
    writer.emplace(job.model, options.checkpoint, options.keep, job.state.id, job.resumedFrom, job.directoryLock());
  if (!isFirst())
    return;
  // A job that starts from scratch with --resume=auto resumes its logs at step 0.
  const bool resumes = options.resume != Resume::No;
  const LogResume resumed{resumes ? std::optional(job.state.step) : std::nullopt, job.logs};
  log.emplace(options.log, resumed);
  events.emplace(options.tensorboard, resumed);
  progress.emplace(job.state.step + 1, options.steps, job.batches->unit(), secondsAtPeak(job.table, job.microbatches));
}

BatchCount Trainer::fill(const br_program &program, int64_t number, int microbatch) {
  try {
    return job.batches->fillTraining(program, number, microbatch, job.microbatches);
  } catch (const Error &error) {
    throw DataError(error.what());
  }
}

// Runs a program and returns the token counts of its microbatch; zero if the program takes no data.
BatchCount Trainer::run(const br_program &program, int64_t number, int microbatch) {
  const BatchCount count = readsData(program) ? fill(program, number, microbatch) : BatchCount();
  job.model.setLearningRate(program, learningRate(job.state, number));
  job.model.setStep(program, number);
  job.model.setKey(program, job.state.seed, number, microbatch);
  // Written right before the run: programs share the arena, so `accumulate` would overwrite it.
  if (ownStop && &program == &job.train)
    *job.model.input<float>(job.train, *ownStop) = stopTerm(ownSignal());
  job.model.run(program);
  return count;
}

StartedStep Trainer::start(int64_t number) {
  double begin = secondsNow();
  BatchCount count;
  bool isFirst = true;
  job.runs.runStep(0, job.microbatches, [&](const br_program &program, int microbatch) {
    const BatchCount own = run(program, number, microbatch);
    if (&program == &job.batched || !job.runs.isPipeline())
      count.add(own, std::exchange(isFirst, false));
  });
  return {number, learningRate(job.state, number), count, begin};
}

// Returns the metrics of the last started step, or of the step `back` steps before it. Its seconds are the
// time that it adds to the job, because it may have waited for the step before.
StepMetrics Trainer::metricsOf(const StartedStep &step, int back) {
  StepMetrics m{step.number, result(loss, back), step.lr, {}, step.count.tokens, 0};
  if (job.table.loss)
    m.targets = step.count.targets;
  if (gradNorm)
    m.gradNorm = result(*gradNorm, back);
  m.noise = noise(step.count, back);
  for (size_t i = 0; i < measured.size(); ++i)
    measurements[i] = {measured[i]->role, result(*measured[i], back)};
  m.measurements = measurements;
  double finished = secondsNow();
  m.seconds = finished - std::max(step.start, lastFinish);
  lastFinish = finished;
  return m;
}

// Returns the noise scale; a sample is a target that the loss counts. The estimate needs the same number of
// samples on each rank and in each microbatch. So a short step, or one whose masks leave different numbers,
// has none.
std::optional<NoiseMetrics> Trainer::noise(const BatchCount &count, int back) const {
  const int64_t readers = job.batches->batchSize(job.batched).readers;
  if (!localSquare || !globalSquare || readers == 1 || count.ofEach <= 0)
    return std::nullopt;
  const int64_t local = count.ofEach * job.microbatches;
  return noiseOf(result(*localSquare, back), result(*globalSquare, back), local, local * readers);
}

// Warns once that the step has no target: it moves parameters by weight decay and old moments only.
void Trainer::warnOfNoTarget(const StartedStep &step) {
  if (!isFirst() || !job.table.loss || step.count.targets > 0 || warnedOfNoTarget || !job.hasTargets)
    return;
  warnedOfNoTarget = true;
  if (progress)
    progress->finishLine();
  std::fprintf(stderr, "warning: step %lld has no target that the loss counts: all are %d, the ignored index\n",
               static_cast<long long>(step.number), job.table.loss->ignored);
}

// Rank 0 uses its clock to ask all ranks to save, as SIGUSR2 does.
int Trainer::ownSignal() {
  if (!failure.empty())
    return kFailure;
  if (int signal = StopRequest::consumeSignal())
    return signal;
  if (!writer || !isFirst() || interval.seconds <= 0 || secondsNow() < nextSave)
    return 0;
  nextSave = secondsNow() + interval.seconds;
  return SIGUSR2;
}

// Returns the signal that the step's sum contains. A rank that receives a signal later adds it to the next
// step.
int Trainer::requestedSignal(int back) { return anyStop ? stopSignal(result(*anyStop, back)) : ownSignal(); }

void Trainer::evaluate() {
  float heldOut = heldOutLoss(job.model, *job.eval, *job.batches, options.evalBatches, job.state.seed).loss;
  if (!isFirst())
    return;
  report([&] {
    log->evaluation(job.state.step, heldOut);
    events->evaluation(job.state.step, heldOut);
    progress->evaluation(job.state.step, heldOut);
  });
}

// A failed write ends the job, but only after a save.
template <class F> void Trainer::report(const F &f) {
  if (!failure.empty())
    return;
  try {
    f();
  } catch (const Error &error) {
    if (!canAgree())
      throw;
    failure = error.what();
  }
}

// Returns nothing, and sets `failure`, if the data of the step cannot be read. With several ranks, others
// may already be in the step; then this is an Error.
std::optional<StartedStep> Trainer::startOrFail(int64_t number) {
  try {
    return start(number);
  } catch (const DataError &error) {
    if (job.model.rank().size > 1)
      throw;
    failure = error.what();
    return std::nullopt;
  }
}

void Trainer::save() {
  nextSave = secondsNow() + interval.seconds;
  if (!writer || savedStep == job.state.step)
    return;
  ExtendedTimeout wait(job.model.rank(), options.saveTimeout);
  writer->save(job.state);
  savedStep = job.state.step;
  latest = writer->lastPath();
}

// Describes a value that was not finite in the initial weights (a row of a table may be read late) or in
// the data of the step. Empty if all were finite.
std::string Trainer::causeOfNonFinite(const StepMetrics &m) const {
  const std::string &weights = job.resumedFrom.empty() ? options.init : job.resumedFrom;
  std::string cause = weights.empty() ? "" : nonFiniteParameter(openCheckpoint(weights), job.table);
  return cause.empty() ? job.batches->nonFinite(job.batched, m.step, job.microbatches) : cause;
}

// Only the first rank looks for the cause, because it searches files.
void Trainer::stopForNonFinite(const StepMetrics &m) {
  if (progress)
    progress->finishLine();
  bool badLoss = !std::isfinite(m.loss);
  const std::string what = concat(badLoss ? "the loss" : "the gradient's norm", " became ",
                                  formatNonFinite(badLoss ? m.loss : *m.gradNorm), " at step ", m.step);
  allOrNothing(job.model, [&] {
    if (std::string cause = isFirst() ? causeOfNonFinite(m) : ""; !cause.empty())
      fail(what, ": ", cause);
  });
  if (job.state.step == 0)
    fail(what, ", the first, whose weights and data are finite: an op of the graph overflows or divides by zero; to "
               "see where, compile it with --hook=POINT:norm");
  fail(what, " (the loss was ", job.state.lastLoss, " at step ", job.state.step,
       "); nothing was saved after that; try a lower --lr or a longer --warmup");
}

// Returns a text about where to resume the job, for messages about a failure.
std::string Trainer::latestText() const {
  if (latest.empty())
    return writer ? "no checkpoint was saved" : "nothing was saved, because --checkpoint was not given";
  return concat("the latest checkpoint is '", latest, "': go on from it with --resume");
}

void Trainer::endWithFailure() {
  std::string end = concat("; the job ended after step ", job.state.step, ", and ", latestText());
  if (failure.empty())
    throw RankError(concat("another rank cannot go on, see its own error", end));
  fail(failure, end);
}

int Trainer::leave(int signal) {
  if (isFirst())
    std::printf("stopped by %s after step %s; %s\n", signalName(signal), formatCount(job.state.step).c_str(),
                writer ? ("saved " + writer->lastPath() + ", go on with --resume").c_str()
                       : "nothing saved, because --checkpoint was not given");
  std::fflush(stdout);
  return 128 + signal;
}

// Reads and logs the results of a step; returns the signal to obey, or 0.
int Trainer::finish(const StartedStep &step, int back) {
  StepMetrics m = metricsOf(step, back);
  warnOfNoTarget(step);
  if (!std::isfinite(m.loss) || (m.gradNorm && !std::isfinite(*m.gradNorm)))
    stopForNonFinite(m);
  job.state.step = m.step;
  job.state.lastLoss = m.loss;
  job.state.tokensSeen += m.tokens;
  job.state.epoch = static_cast<double>(job.state.tokensSeen) / static_cast<double>(job.batches->trainingTokens());
  if (isFirst())
    report([&] {
      log->step(m);
      events->step(m);
      progress->step(m);
    });
  return requestedSignal(back);
}

// Whether an action after the step needs its results.
bool Trainer::isBreak(int64_t step) const {
  return step == options.steps || (job.eval && step % options.evalEvery == 0) ||
         (interval.steps > 0 && step % interval.steps == 0);
}

// Returns the signal (or failure) that ended the loop, or 0.
int Trainer::trainSteps() {
  std::optional<StartedStep> before; // the step whose results were not read yet
  for (int64_t number = job.state.step + 1; number <= options.steps; ++number) {
    std::optional<StartedStep> step = startOrFail(number);
    int signal = before ? finish(*before, /*back=*/step ? 1 : 0) : 0;
    if (!step)
      return kFailure;
    before = step;
    if (signal || isBreak(number) || job.model.runsAhead() == 0) {
      int last = finish(*step, /*back=*/0);
      signal = last && (signal == 0 || onlySaves(signal)) ? last : signal;
      before.reset();
    }
    if (signal && !onlySaves(signal))
      return signal;
    if (job.eval && number % options.evalEvery == 0)
      evaluate();
    if (signal || (interval.steps > 0 && number % interval.steps == 0))
      save();
  }
  return 0;
}

int Trainer::run() {
  openOutputs();
  job.announce();
  if (options.saveEvery && interval.seconds > 0 && !canAgree())
    fail("--save-every=", formatSaveInterval(interval),
         " follows the clock of rank 0, but the model has no program that tells the other ranks; give a number of "
         "steps");
  nextSave = secondsNow() + interval.seconds;

  // Ranks that cannot agree do not catch signals, so a signal ends them at once.
  std::optional<StopRequest> stop;
  if (canAgree())
    stop.emplace();
  int signal = 0;
  try {
    signal = trainSteps();
    if (progress)
      progress->finishLine();
    save();
  } catch (const RankError &error) {
    const std::string end = concat("; ", latestText()); // a failed rank may have added this text already
    throw RankError(std::string(error.what()).ends_with(end) ? error.what() : error.what() + end);
  } catch (const Error &error) {
    throw Error(concat(error.what(), "; ", latestText()));
  }
  job.model.finish();
  if (signal == kFailure || !failure.empty())
    endWithFailure();
  if (signal)
    return leave(signal);
  if (writer && isFirst())
    std::printf("saved %s\n", writer->lastPath().c_str());
  return 0;
}

} // namespace

PreparedCommand braid::prepareTrain(const br_model &model, const TrainOptions &options, int number) {
  auto start = std::make_shared<TrainStart>(startOf(model, options, number));
  auto run = [&model, &options, start](const Rank &rank, int threads) {
    if (start->isDone) {
      if (rank.isFirst())
        std::printf("nothing is left to train: %s has done %s steps, and --steps is %s\n", start->saved->path().c_str(),
                    formatCount(start->state.step).c_str(), formatCount(options.steps).c_str());
      return 0;
    }
    Rank own = rank;
    own.trainingSteps = options.steps;
    TrainJob job(model, options, std::move(*start), own, threads);
    return Trainer(job, options).run();
  };
  return {factsOf(*start, options), run};
}
