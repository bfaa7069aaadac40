//===- Train.cpp - the training loop
//------------------------------------------===//
//
// A step is K - 1 runs of `accumulate` and one of `train`.  Everything that
// needs memory is made before the first step: later steps only write inputs,
// run, read results and append a line to the log.
//
// All ranks run this loop.  Whatever it decides by, they have the same: losses
// are all-reduced, and requests to stop are added up in the step.
//
// A device has the next step in its queue before the results of one are read, so
// that it never waits for the host.  What a step's results lead to (its line in the
// log, the end of the job after Ctrl-C or a loss that is no number) comes that much
// later; the step that was queued meanwhile is finished and counts, on all ranks.
// Nothing is evaluated or saved before the queue is empty: neither sees, or keeps, a
// step whose loss is not known.
//
//===----------------------------------------------------------------------===//

#include "core/Agree.h"
#include "core/Batches.h"
#include "core/Checkpoint.h"
#include "core/Commands.h"
#include "core/Error.h"
#include "core/Evaluate.h"
#include "core/Format.h"
#include "core/InitialValues.h"
#include "core/JobState.h"
#include "core/Mesh.h"
#include "core/Metrics.h"
#include "core/Model.h"
#include "core/Plan.h"
#include "core/Reach.h"
#include "core/Schedule.h"
#include "core/Stop.h"

#include <chrono>
#include <cmath>
#include <cstdio>

using namespace braid;

namespace {

double now() {
  return std::chrono::duration<double>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

// What is given on the command line replaces what the state holds.
void applyOptions(const TrainOptions &options, JobState &state, bool resumed) {
  auto apply = [](auto &place, const auto &given) {
    if (given)
      place = *given;
  };
  apply(state.seed, options.seed);
  apply(state.batchSeed, options.batchSeed);
  apply(state.batchOrder, options.batchOrder);
  apply(state.lr, options.lr);
  apply(state.minLr, options.minLr);
  apply(state.warmup, options.warmup);
  apply(state.schedule, options.schedule);
  if (!resumed)
    state.decaySteps = options.steps;
  apply(state.decaySteps, options.decaySteps);
}

// A step that was put into the queue.
struct StartedStep {
  int64_t number;
  float lr;
  int64_t tokens;
  double start;
};

class Trainer {
public:
  Trainer(const br_model &table, const TrainOptions &options, const Rank &rank)
      : options(options), table(table), rank(rank), saved(openSaved()),
        state(initialState()), model(table, options.threads, rank),
        train(model.program("train")),
        accumulate(table.accumulate > 1 ? &model.program("accumulate")
                                        : nullptr),
        eval(options.evalEvery > 0 ? &model.program("eval") : nullptr),
        loss(findByRole(resultsOf(train), "loss")),
        gradNorm(findByRole(resultsOf(train), "grad_norm")),
        localSquare(findByRole(resultsOf(train), "grad_sq_local")),
        globalSquare(findByRole(resultsOf(train), "grad_sq_global")),
        ownStop(findByRole(inputsOf(train), "stop")),
        anyStop(findByRole(resultsOf(train), "stop")) {
    if (!loss)
      fail("program 'train' reports no result of role 'loss'");
  }

  int run();

private:
  std::optional<SavedTensors> openSaved() const;
  JobState initialState() const;
  void chooseMicrobatches();
  void checkOptions();
  void checkData() const;
  void loadTensors();
  void openOutputs();
  void announce() const;
  StartedStep start(int64_t number);
  int finish(const StartedStep &step, int back);
  StepMetrics metricsOf(const StartedStep &step, int back);
  bool isBreak(int64_t step) const;
  int trainSteps();
  void evaluate();
  void save();
  [[noreturn]] void stopForNonFinite(const StepMetrics &m);
  std::optional<NoiseMetrics> noise(int64_t tokens, int back) const;
  int requestedSignal(int back) const;
  int leave(int signal);

  const TrainOptions &options;
  const br_model &table;
  const Rank &rank;
  std::optional<SavedTensors> saved; // to be resumed from
  JobState state;
  Model model;
  const br_program &train, *accumulate, *eval;
  const br_io *loss, *gradNorm, *localSquare, *globalSquare;
  const br_io *ownStop, *anyStop; // null for models of one rank
  int microbatches = 1;           // a step
  std::unique_ptr<BatchSource> batches;
  std::optional<CheckpointWriter> writer;
  std::optional<MetricsLog> log;    // of the first rank
  std::optional<Progress> progress; // likewise
  int64_t savedStep = -1;
  double lastFinish = 0; // when the results of a step were read last
};

std::optional<SavedTensors> Trainer::openSaved() const {
  if (options.resume)
    return openCheckpoint(options.checkpoint, rank);
  if (!options.checkpoint.empty() &&
      !checkpointSteps(options.checkpoint).empty())
    fail("'", options.checkpoint,
         "' already holds checkpoints; go on from them with "
         "--resume, or give another directory");
  return std::nullopt;
}

JobState Trainer::initialState() const {
  JobState state = saved ? readJobState(*saved) : JobState();
  applyOptions(options, state, options.resume);
  if (options.resume && state.step >= options.steps)
    fail("the checkpoint in '", options.checkpoint, "' has done ", state.step,
         " steps already, and --steps ", options.steps,
         " is the total; give more");
  return state;
}

// The scale of a step's gradients is that of what was counted, so any number of
// microbatches will do; the command line may say it as tokens.
void Trainer::chooseMicrobatches() {
  microbatches = std::max(1, table.accumulate);
  if (options.batchTokens == 0)
    return;
  int64_t each = batches->batchSize(train).tokens();
  if (options.batchTokens % each != 0)
    fail("--batch-tokens=", options.batchTokens, " is not a multiple of the ",
         each, " ", batches->unit(),
         " that all ranks together take in a microbatch");
  if (options.batchTokens / each > 1 && !accumulate)
    fail("--batch-tokens=", options.batchTokens, " takes ",
         options.batchTokens / each, " microbatches of ", each, " ",
         batches->unit(),
         ", but the model was compiled for one a step; compile it with "
         "--accumulate=2 or more");
  if (localSquare && options.batchTokens / each != microbatches)
    fail("--batch-tokens=", options.batchTokens, " takes ",
         options.batchTokens / each,
         " microbatches a step, but the model measures the noise of gradients "
         "over ",
         microbatches, "; compile it with another --accumulate");
  microbatches = static_cast<int>(
      std::min<int64_t>(options.batchTokens / each, INT32_MAX));
}

// Ranks that do not do the same would wait for each other, or learn other things.
void Trainer::checkOptions() {
  std::string job = concat(
      describeJob(table, state, ""), options.steps, " ", microbatches, " ",
      options.evalEvery, " ", options.evalBatches, " ", options.saveEvery, " ",
      options.checkpoint.empty(), " ", formatExact(options.data.holdout), " ",
      batches->trainingTokens(), " ", batches->heldOutTokens(), " ",
      table.plan_json ? table.plan_json : ""); // of one binary, not of two layouts
  if (!isSameOnAllRanks(model, job))
    fail("ranks were not all started alike: give each the same binary, data "
         "and options");
}

// Once, before the first step: what passes over the data leave out.
void Trainer::checkData() const {
  if (state.batchOrder == "sequential") {
    std::string leftOut =
        rowsLeftOut(batches->trainingOrder(train, microbatches),
                    "training part", batches->rowUnit());
    if (!leftOut.empty() && rank.isFirst())
      std::fprintf(stderr, "warning: %s\n", leftOut.c_str());
  }
  if (eval)
    checkHeldOut(model, *eval, *batches, options.evalBatches);
}

void Trainer::loadTensors() {
  if (saved) {
    restoreTensors(*saved, model, Restore::Everything);
    if (rank.isFirst())
      std::printf("resumed from %s: step %s, loss %.4f\n",
                  saved->path().c_str(), formatCount(state.step).c_str(),
                  state.lastLoss);
    saved.reset();
    return;
  }
  initialize(model, state.seed);
  if (!options.init.empty())
    importParameters(openCheckpoint(options.init, model.rank()), model);
}

// After everything that can be refused: a mistake overwrites nothing.
void Trainer::openOutputs() {
  if (!options.checkpoint.empty())
    writer.emplace(model, options.checkpoint, options.keep);
  if (!rank.isFirst())
    return;
  log.emplace(options.log, options.resume);
  progress.emplace(state.step + 1, options.steps, model.arenaBytes(),
                   reportedPeak(table));
}

void Trainer::announce() const {
  if (!rank.isFirst())
    return;
  uint64_t peak = reportedPeak(table), arena = model.arenaBytes();
  std::string ranks = rank.size > 1 ? concat(rank.size, " ranks over ",
                                             transportOf(rank), ", each with ")
                                    : "";
  std::printf(
      "model %s, %s%d threads, reported peak %s bytes %s allocated arena "
      "%s bytes (%s)\n",
      table.name, ranks.c_str(), model.threads(), formatCount(peak).c_str(),
      peak == arena ? "==" : "!=", formatCount(arena).c_str(),
      formatBytes(arena).c_str());
  for (const br_model *other = table.others; other; other = other->others)
    std::printf("of these, ranks with %s: allocated arena %s bytes (%s)\n",
                nameOfRanks(*other).c_str(),
                formatCount(other->arena_bytes).c_str(),
                formatBytes(other->arena_bytes).c_str());
  BatchSize size = batches->batchSize(train);
  std::string length = size.length > 1 ? concat(" x ", size.length) : "";
  std::printf("%s %s a step = %lld%s x %d microbatches x %lld ranks\n",
              formatCount(size.tokens() * microbatches).c_str(),
              batches->unit(), static_cast<long long>(size.rows),
              length.c_str(), microbatches,
              static_cast<long long>(size.readers));
  for (const std::string &remark : model.remarks())
    std::printf("%s\n", remark.c_str());
  for (const std::string &warning : model.warnings())
    std::fprintf(stderr, "warning: %s\n", warning.c_str());
  std::fflush(stdout);
}

StartedStep Trainer::start(int64_t number) {
  double begin = now();
  float lr = learningRate(state, number);
  int64_t tokens = 0;
  for (int i = 0; i < microbatches; ++i) {
    const br_program &program = i == microbatches - 1 ? train : *accumulate;
    tokens += batches->fillTraining(program, number, i, microbatches);
    model.setLearningRate(program, lr);
    model.setStep(program, number);
    model.setKey(program, state.seed, number, i);
    // The arena is shared: `accumulate` would write over it.
    if (ownStop && &program == &train)
      *model.input<float>(train, *ownStop) = stopTerm(StopRequest::signal());
    model.run(program);
  }
  return {number, lr, tokens, begin};
}

// Of the step that was started last, or `back` steps before it.  Its time is what it
// adds to that of the job: it may have waited for the step before.
StepMetrics Trainer::metricsOf(const StartedStep &step, int back) {
  StepMetrics m{step.number, model.result<float>(train, *loss, back), step.lr, {}, step.tokens, 0};
  if (gradNorm)
    m.gradNorm = model.result<float>(train, *gradNorm, back);
  m.noise = noise(step.tokens, back);
  double finished = now();
  m.seconds = finished - std::max(step.start, lastFinish);
  lastFinish = finished;
  return m;
}

// The estimate is of ranks that have equally many tokens: none in a short step.
std::optional<NoiseMetrics> Trainer::noise(int64_t tokens, int back) const {
  BatchSize size = batches->batchSize(train);
  int64_t global = size.tokens() * microbatches;
  if (!localSquare || !globalSquare || size.readers == 1 || tokens < global)
    return std::nullopt;
  return noiseOf(model.result<float>(train, *localSquare, back),
                 model.result<float>(train, *globalSquare, back),
                 global / size.readers, global);
}

// Of the step that was run: ranks that hear a signal later say so in the next.
int Trainer::requestedSignal(int back) const {
  return anyStop ? stopSignal(model.result<float>(train, *anyStop, back))
                 : StopRequest::signal();
}

void Trainer::evaluate() {
  float heldOut =
      heldOutLoss(model, *eval, *batches, options.evalBatches, state.seed).loss;
  if (!rank.isFirst())
    return;
  log->evaluation(state.step, heldOut);
  progress->evaluation(state.step, heldOut);
}

void Trainer::save() {
  if (!writer || savedStep == state.step)
    return;
  writer->save(state);
  savedStep = state.step;
}

void Trainer::stopForNonFinite(const StepMetrics &m) {
  if (progress)
    progress->finishLine();
  bool badLoss = !std::isfinite(m.loss);
  fail(
      badLoss ? "the loss" : "the gradient's norm", " became ",
      std::to_string(badLoss ? m.loss : *m.gradNorm), " at step ", m.step,
      " (the loss was ", state.lastLoss, " at step ", state.step,
      "); nothing was saved after that; try a lower --lr or a longer --warmup");
}

int Trainer::leave(int signal) {
  if (rank.isFirst())
    std::printf(
        "stopped by %s after step %s; %s\n", signalName(signal),
        formatCount(state.step).c_str(),
        writer
            ? ("saved " + writer->lastPath() + ", go on with --resume").c_str()
            : "nothing saved, for want of --checkpoint");
  std::fflush(stdout);
  return 128 + signal;
}

// Reads and notes the results of a step; returns the signal to obey, or 0.
int Trainer::finish(const StartedStep &step, int back) {
  StepMetrics m = metricsOf(step, back);
  if (!std::isfinite(m.loss) || (m.gradNorm && !std::isfinite(*m.gradNorm)))
    stopForNonFinite(m);
  state.step = m.step;
  state.lastLoss = m.loss;
  state.tokensSeen += m.tokens;
  state.epoch = static_cast<double>(state.tokensSeen) /
                static_cast<double>(batches->trainingTokens());
  if (rank.isFirst()) {
    log->step(m);
    progress->step(m);
  }
  return requestedSignal(back);
}

// Whether something follows a step that needs its results.
bool Trainer::isBreak(int64_t step) const {
  return step == options.steps || (eval && step % options.evalEvery == 0) ||
         (options.saveEvery > 0 && step % options.saveEvery == 0);
}

// Returns the signal that has ended it, or 0.
int Trainer::trainSteps() {
  std::optional<StartedStep> before; // its results were not read
  for (int64_t number = state.step + 1; number <= options.steps; ++number) {
    StartedStep step = start(number);
    int signal = before ? finish(*before, /*back=*/1) : 0;
    before = step;
    if (signal || isBreak(number) || model.runsAhead() == 0) {
      int last = finish(step, /*back=*/0);
      signal = signal ? signal : last;
      before.reset();
    }
    if (signal)
      return signal;
    if (eval && number % options.evalEvery == 0)
      evaluate();
    if (options.saveEvery > 0 && number % options.saveEvery == 0)
      save();
  }
  return 0;
}

int Trainer::run() {
  BatchOptions data{options.data.data, options.data.holdout, state.batchSeed,
                    state.batchOrder == "sequential"};
  batches = openBatches(model, data, &train, eval);
  chooseMicrobatches();
  checkOptions();
  checkData();
  loadTensors();
  checkCopiesAreEqual(model);
  openOutputs();
  announce();

  // Without a way to agree on it ranks end as soon as they are told.
  std::optional<StopRequest> stop;
  if (rank.size == 1 || anyStop)
    stop.emplace();
  const int signal = trainSteps();
  if (progress)
    progress->finishLine();
  save();
  model.finish();
  if (signal)
    return leave(signal);
  if (writer && rank.isFirst())
    std::printf("saved %s\n", writer->lastPath().c_str());
  return 0;
}

} // namespace

int braid::runTrain(const br_model &model, const TrainOptions &options,
                    const Rank &rank) {
  return Trainer(model, options, rank).run();
}
