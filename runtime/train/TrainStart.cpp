//===- TrainStart.cpp - a training job before it has memory ---------------===//
//
// Combines the options with the state in a checkpoint. A job resumes only from a checkpoint of the same
// model and optimizer, trained on the same data.
//
//===----------------------------------------------------------------------===//

#include "train/TrainJob.h"

#include "base/Checksum.h"
#include "base/Error.h"
#include "base/Format.h"
#include "base/Hash.h"
#include "base/Message.h"
#include "checkpoint/Weights.h"
#include "core/Mesh.h"
#include "core/Model.h"
#include "data/Batches.h"
#include "data/Fingerprint.h"
#include "train/ConfigCheck.h"
#include "train/EventFile.h"

#include <algorithm>
#include <filesystem>
#include <system_error>

using namespace braid;
namespace fs = std::filesystem;

//===----------------------------------------------------------------------===//
// Finding a checkpoint
//===----------------------------------------------------------------------===//

// Whether a directory has checkpoints. Throws Error if the directory exists but cannot be read.
static bool hasCheckpoints(const std::string &directory) {
  std::error_code error;
  fs::directory_iterator entries(directory, error);
  const bool isAbsent = error == std::errc::no_such_file_or_directory || error == std::errc::not_a_directory;
  if (error && !isAbsent)
    fail("cannot look for checkpoints in '", directory, "': ", error.message());
  return !checkpointSteps(directory).empty();
}

// Locks the checkpoint directory before anything in it is read.
static std::unique_ptr<DirectoryLock> lockOf(const TrainOptions &options, const Rank &rank) {
  const bool saves = !options.checkpoint.empty() && rank.isFirst();
  return saves ? std::make_unique<DirectoryLock>(options.checkpoint) : nullptr;
}

static std::optional<SavedTensors> openSaved(const TrainOptions &options, const Rank &rank) {
  if (options.resume == Resume::Yes && !options.init.empty())
    fail("--init and --resume exclude each other: leave one of them out, or give --resume=auto, which starts from "
         "--init where there is no checkpoint yet");
  if (options.resume == Resume::Yes)
    return openCheckpoint(options.checkpoint, rank);
  if (options.checkpoint.empty() || !hasCheckpoints(options.checkpoint))
    return std::nullopt;
  if (options.resume == Resume::No)
    fail("'", options.checkpoint,
         "' already holds checkpoints; go on from them with --resume, or give another directory");
  return openCheckpoint(options.checkpoint, rank);
}

//===----------------------------------------------------------------------===//
// Whether the checkpoint belongs to this job
//===----------------------------------------------------------------------===//

namespace {

class Identity {
public:
  Identity(const SavedTensors &saved, const TrainOptions &options, bool warns)
      : saved(saved), options(options), warns(warns) {}

  // Compares a fact. `own` is empty if this program, or this rank, does not know it.
  void check(const std::string &recorded, const std::string &own, const char *what, const char *allow,
             const char *remedy) const {
    if (recorded == own || recorded.empty() || own.empty())
      return;
    accept(concat("'", saved.path(), "' was saved with ", what, " '", recorded, "', but this run has '", own, "'"),
           allow, remedy);
  }

  // Fails with the text, or only warns if --allow names the difference.
  void accept(const std::string &text, const char *allow, const char *remedy) const {
    if (std::find(options.allow.begin(), options.allow.end(), allow) == options.allow.end())
      fail(text, "; ", remedy, ", or accept the difference with --allow=", allow);
    warn(text);
  }

  void warn(const std::string &text) const {
    if (warns)
      braid::warn(text);
  }

  void warnOfMissing(const std::string &missing) const {
    if (warns && !missing.empty())
      warn(concat("'", saved.path(), "' does not record the ", missing,
                  " of its job, so a change of it is not checked"));
  }

private:
  const SavedTensors &saved;
  const TrainOptions &options;
  const bool warns;
};

} // namespace

// Compares what shapes do not show, such as the number of heads. Shapes are compared when the tensors are
// restored.
static void checkIdentity(const SavedTensors &saved, const JobState &state, const std::string &data,
                          const br_model &table, const TrainOptions &options, bool warns) {
  Identity identity(saved, options, warns);
  const std::string own = table.optimizer ? table.optimizer : "";
  const ModelDifferences differences = modelDifferences(table, saved.metadata());
  std::string missing;
  auto addMissing = [&](bool isMissing, const char *what) {
    if (isMissing)
      missing += concat(missing.empty() ? "" : " and ", what);
  };
  addMissing(state.optimizer.empty(), "optimizer");
  addMissing(state.data.empty(), "data");
  addMissing(table.operations && !differences.isKnown, "model");
  identity.warnOfMissing(missing);
  if (!differences.computed.empty())
    identity.accept(concat("'", saved.path(), "' is of another model: ", joined(differences.computed)), "model",
                    "compile the graph that it was trained with");
  if (!differences.ofTraining.empty())
    identity.warn(concat("'", saved.path(), "' was trained with other settings: ", joined(differences.ofTraining)));
  identity.check(state.optimizer, own, "the optimizer", "optimizer",
                 "compile with the options that it was trained with");
  identity.check(state.data, data, "data of", "data", "give the --data that it was trained on");
}

//===----------------------------------------------------------------------===//
// The state
//===----------------------------------------------------------------------===//

static std::string textOf(const std::string &text) { return text; }
template <class Number> static std::string textOf(Number number) { return formatExact(number); }

// Options on the command line replace values of the checkpoint.
static void applyOptions(TrainStart &start, const TrainOptions &options) {
  JobState &state = start.state;
  const bool resumes = start.saved.has_value();
  auto apply = [&](const char *name, auto &place, const auto &given) {
    if (!given)
      return;
    if (resumes && place != *given)
      start.changes.push_back(concat(name, " is ", textOf(*given), ", but was ", textOf(place), " in the checkpoint"));
    place = *given;
  };
  apply("--seed", state.seed, options.seed);
  apply("--batch-seed", state.batchSeed, options.batchSeed);
  apply("--batch-order", state.batchOrder, options.batchOrder);
  apply("--lr", state.lr, options.lr);
  apply("--min-lr", state.minLr, options.minLr);
  apply("--warmup", state.warmup, options.warmup);
  apply("--lr-schedule", state.schedule, options.schedule);
  apply("--holdout", state.holdout, options.data.holdout);
  if (!resumes)
    state.decaySteps = options.steps;
  apply("--decay-steps", state.decaySteps, options.decaySteps);
}

// Returns a hash of everything that decides the results from step 0, and of where the job saves.
static std::string hashOfStart(const br_model &table, const TrainStart &start, const TrainOptions &options) {
  std::error_code ignored; // a job that saves nothing has no directory
  const std::string directory = fs::absolute(options.checkpoint, ignored).lexically_normal().string();
  std::string text = concat(formatHash(table.graph_hash), "\n", formatHash(table.model_hash), "\n",
                            table.optimizer ? table.optimizer : "", "\n", directory, "\n", options.init, "\n");
  for (const auto &[name, value] : factsOf(start, options))
    text += concat(name, "=", value, "\n");
  return checksumText(longHashOf(text));
}

// Throws Error if an output belongs to another job, unless --force allows to overwrite it.
static void checkOutputs(const TrainOptions &options, const LogIdentity &identity) {
  if (options.force)
    return;
  const bool resumes = options.resume != Resume::No;
  std::error_code error;
  const bool hasLog = fs::is_regular_file(options.log, error) && fs::file_size(options.log, error) > 0;
  if (hasLog && !resumes)
    fail("the log '", options.log, "' already exists; name another file, or overwrite it with --force");
  if (const std::string reason = hasLog ? reasonNotToContinueLog(options.log, identity) : ""; !reason.empty())
    fail("cannot go on with the log '", options.log, "': ", reason,
         "; name another file, or overwrite it with --force");
  const bool hasEvents = !options.tensorboard.empty() && !eventFiles(options.tensorboard).empty();
  if (hasEvents && !resumes)
    fail("'", options.tensorboard,
         "' already has the events of another job; name another directory, or replace them with --force");
  if (const std::string reason = hasEvents ? reasonNotToContinueEvents(options.tensorboard, identity) : "";
      !reason.empty())
    fail("cannot go on with the events in '", options.tensorboard, "': ", reason,
         "; name another directory, or replace them with --force");
}

// Warns of steps after the cosine's end, which is where the first run of the job ended by default.
static void warnOfEndedCosine(const JobState &state, const TrainOptions &options) {
  if (state.schedule != "cosine" || options.decaySteps || options.steps <= state.decaySteps)
    return;
  warn(concat("the cosine of the learning rate ends at step ", formatCount(state.decaySteps),
              ", as the checkpoint says, and steps up to ", formatCount(options.steps), " have the rate ",
              formatExact(state.minLr), " (--min-lr); to stretch it, give --decay-steps=", options.steps));
}

// Returns the fingerprint of the data; empty on ranks whose program takes none.
static std::string ownData(const br_model &table, const TrainOptions &options) {
  const br_program *batched = batchedProgram(table);
  return batched && readsData(*batched) ? fingerprintOf(options.data.find()) : "";
}

TrainStart braid::startOf(const br_model &table, const TrainOptions &options, int rank) {
  Rank own;
  own.number = rank, own.size = worldSize(table);
  TrainStart start;
  start.lock = lockOf(options, own);
  start.saved = openSaved(options, own);
  const std::string data = ownData(table, options);
  if (start.saved) {
    start.state = readJobState(*start.saved);
    checkIdentity(*start.saved, start.state, data, table, options, own.isFirst());
  }
  applyOptions(start, options);
  if (!start.saved && isWeightsFolder(options.init)) {
    start.state.initFolder = fs::absolute(options.init).lexically_normal().string();
    for (const std::string &difference : configDifferences(table, options.init))
      if (own.isFirst())
        warn(concat("the config.json in '", options.init, "' is not the model's: ", difference));
  }
  start.state.data = data;
  if (own.isFirst()) {
    start.logs = {start.state.id, start.saved ? "" : hashOfStart(table, start, options)};
    checkOutputs(options, start.logs);
  }
  start.isDone = start.saved && start.state.step >= options.steps;
  if (start.isDone && options.resume == Resume::Yes)
    fail("the checkpoint in '", options.checkpoint, "' has done ", start.state.step, " steps already, but --steps ",
         options.steps, " is the total; give more");
  if (start.saved && !start.isDone && own.isFirst())
    warnOfEndedCosine(start.state, options);
  return start;
}

//===----------------------------------------------------------------------===//
// Facts that all ranks share
//===----------------------------------------------------------------------===//

static std::string given(const std::string &path) { return path.empty() ? "not given" : "given"; }

// Describes which checkpoint it is: file systems may show ranks different checkpoints.
static std::string describeSaved(const std::optional<SavedTensors> &saved) {
  if (!saved)
    return "none";
  std::string text;
  for (const auto &[key, value] : saved->metadata())
    text += key + '=' + value + '\n';
  return concat("that of step ", parseJob(saved->metadata(), saved->path()).step, " (", formatHash(longHashOf(text)),
                ")");
}

StartFacts braid::factsOf(const TrainStart &start, const TrainOptions &options) {
  const JobState &s = start.state;
  StartFacts facts = {{"the command", "train"},
                      {"--steps", std::to_string(options.steps)},
                      {"--batch-tokens", std::to_string(options.batchTokens)},
                      {"--batch-order", s.batchOrder},
                      {"--batch-seed", std::to_string(s.batchSeed)},
                      {"--seed", std::to_string(s.seed)},
                      {"--lr", formatExact(s.lr)},
                      {"--lr-schedule", s.schedule},
                      {"--warmup", std::to_string(s.warmup)},
                      {"--min-lr", formatExact(s.minLr)},
                      {"--decay-steps", std::to_string(s.decaySteps)},
                      {"--holdout", formatExact(s.holdout)},
                      {"--eval-every", std::to_string(options.evalEvery)},
                      {"--eval-batches", std::to_string(options.evalBatches)},
                      {"--checkpoint", given(options.checkpoint)},
                      {"--save-every", formatSaveInterval(options.saveEvery.value_or(SaveInterval()))},
                      {"--init", given(options.init)},
                      {"the checkpoint to go on from", describeSaved(start.saved)}};
  if (!s.data.empty())
    facts.push_back({"the data", s.data});
  return facts;
}
