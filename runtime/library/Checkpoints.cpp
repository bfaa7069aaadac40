//===- Checkpoints.cpp - save and load a hosted model ---------------------===//

#include "base/Format.h"
#include "core/Agree.h"
#include "library/Handle.h"
#include "train/ConfigCheck.h"
#include "train/ExtendedTimeout.h"
#include "train/JobId.h"

#include <filesystem>

using namespace braid;
namespace fs = std::filesystem;

static constexpr double kSaveTimeout = 3600; // seconds that ranks wait for the disk of another

// Throws Error if the directory has checkpoints of another job.
static void requireOwn(const std::string &directory, const std::string &job) {
  std::error_code error;
  if (!fs::exists(directory, error) || checkpointSteps(directory).empty())
    return;
  if (savedJobId(openCheckpoint(directory).path()) != job)
    fail("'", directory,
         "' already holds checkpoints of another job; load the newest first to continue that job, or "
         "give another directory");
}

static void openDirectory(braid_step &step, const std::string &path, int keep) {
  step.directory.reset(); // releases the lock of the one before
  if (step.state.id.empty())
    step.state.id = agreeOnJobId(step.model, "");
  std::unique_ptr<DirectoryLock> lock;
  allOrNothing(step.model, [&] {
    if (!step.model.rank().isFirst())
      return;
    lock = std::make_unique<DirectoryLock>(path);
    requireOwn(path, step.state.id);
    lock->recordJob(step.state.id);
  });
  const DirectoryLock *held = lock.get();
  step.directory.reset(new SaveDirectory{path, keep, std::move(lock),
                                         CheckpointWriter(step.model, path, keep, step.state.id, "", held)});
}

braid_status braid_save(braid_step *step, const char *directory, int32_t keep, const char **path) {
  return guarded(__func__, {{"step", step}, {"directory", directory}}, [&] {
    step->enter();
    checkKeep(keep);
    if (step->nextMicrobatch > 0)
      fail("braid_save was called after microbatch ", step->nextMicrobatch, " of ", step->microbatches(),
           "; finish the step by braid_train first");
    ExtendedTimeout wait(step->model.rank(), kSaveTimeout);
    if (!step->directory || step->directory->path != directory || step->directory->keep != keep)
      openDirectory(*step, directory, keep);
    step->directory->writer.save(step->state);
    step->savedPath = step->directory->writer.lastPath();
    if (path)
      *path = step->savedPath.c_str();
  });
}

// Throws Error if the checkpoint is of another model or optimizer.
static void checkIdentity(const braid_step &step, const SavedTensors &saved, const JobState &state) {
  const ModelDifferences differences = modelDifferences(step.table, saved.metadata());
  if (!differences.computed.empty())
    fail("'", saved.path(), "' is of another model: ", joined(differences.computed),
         "; compile the graph that it was trained with, or load its parameters alone by braid_load_weights");
  const std::string own = step.table.optimizer ? step.table.optimizer : "";
  if (!state.optimizer.empty() && !own.empty() && state.optimizer != own)
    fail("'", saved.path(), "' was saved with the optimizer '", state.optimizer, "', but this model has '", own,
         "'; compile with the options that it was trained with");
}

braid_status braid_load(braid_step *step, const char *path) {
  return guarded(__func__, {{"step", step}, {"path", path}}, [&] {
    step->enter();
    std::optional<SavedTensors> saved;
    JobState state;
    allOrNothing(step->model, [&] {
      saved.emplace(openCheckpoint(path, step->model.rank()));
      state = readJobState(*saved);
      checkIdentity(*step, *saved, state);
    });
    restoreTensors(*saved, step->model, Restore::Everything);
    step->state = state;
    step->nextMicrobatch = 0;
    step->directory.reset();
  });
}

braid_status braid_load_weights(braid_step *step, const char *path) {
  return guarded(__func__, {{"step", step}, {"path", path}}, [&] {
    step->enter();
    std::optional<SavedTensors> saved;
    allOrNothing(step->model, [&] { saved.emplace(openCheckpoint(path, step->model.rank())); });
    importParameters(*saved, step->model);
  });
}
