//===- TrainJob.h - a training job before its first step ------------------===//
//
// Holds the model in memory, its data and its tensors. Everything that TrainStart could not reject is
// rejected here, before any file is written.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_TRAIN_TRAINJOB_H
#define BRAID_TRAIN_TRAINJOB_H

#include "checkpoint/Checkpoint.h"
#include "checkpoint/DirectoryLock.h"
#include "core/Model.h"
#include "data/Batches.h"
#include "train/Commands.h"
#include "train/LogIdentity.h"
#include "train/StepRuns.h"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace braid {

// A training job before it has memory: its options, combined with the state in a checkpoint.
struct TrainStart {
  std::unique_ptr<DirectoryLock> lock; // held by the first rank during the job
  std::optional<SavedTensors> saved;   // the checkpoint to resume from
  JobState state;
  LogIdentity logs;                 // on the first rank
  std::vector<std::string> changes; // options that changed since the save, one line each
  bool isDone = false;              // whether all steps are already trained
};

// Throws Error if the options, the checkpoint and the data do not fit together. The first rank warns of
// doubtful settings.
TrainStart startOf(const br_model &table, const TrainOptions &options, int rank);

// Returns the facts that all ranks must share to train from here.
StartFacts factsOf(const TrainStart &start, const TrainOptions &options);

class TrainJob {
public:
  // Initializes all tensors. Every rank creates one; throws Error.
  TrainJob(const br_model &table, const TrainOptions &options, TrainStart start, const Rank &rank, int threads);

  // Prints what runs, and where.
  void announce() const;

private:
  std::unique_ptr<DirectoryLock> lock; // held by the first rank during the job
  std::optional<SavedTensors> saved;   // the checkpoint to resume from

public:
  const std::string resumedFrom; // path of the checkpoint to resume from; may be empty
  const br_model &table;
  JobState state; // the loop continues from here
  Model model;
  StepRuns runs;
  const br_program &train, &batched; // of a step
  const br_program *eval;            // null if the job does not use it
  std::unique_ptr<BatchSource> batches;
  const int microbatches; // per step
  const bool hasTargets;  // on the first rank: whether any training target counts; true on the others
  LogIdentity logs;       // on the first rank
  const DirectoryLock *directoryLock() const { return lock.get(); }

private:
  std::vector<std::string> changes; // differences from the checkpoint

  void noteBatch();
  void nameJob(const TrainOptions &options);
  void checkData(const TrainOptions &options) const;
  void loadTensors(const TrainOptions &options);
};

} // namespace braid
#endif // BRAID_TRAIN_TRAINJOB_H
