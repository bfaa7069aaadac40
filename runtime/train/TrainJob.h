//===- TrainJob.h - a training job before its first step ------------------===//
//
// The model in memory, its data and its tensors; everything that TrainStart could not refuse
// is refused here, before a file is written.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_TRAIN_TRAINJOB_H
#define BRAID_TRAIN_TRAINJOB_H

#include "core/Model.h"
#include "data/Batches.h"
#include "train/Commands.h"
#include "train/TrainStart.h"

#include <memory>
#include <optional>

namespace braid {

class TrainJob {
public:
  // Tensors have their first values then.  Every rank makes one; throws Error.
  TrainJob(const br_model &table, const TrainOptions &options, TrainStart start, const Rank &rank, int threads);

  // What runs, and where, for people.
  void announce() const;

private:
  std::unique_ptr<DirectoryLock> lock; // of the first rank, as long as the job lives
  std::optional<SavedTensors> saved;   // to be resumed from

public:
  const std::string resumedFrom; // its path; may be empty
  const br_model &table;
  JobState state; // the loop goes on from here
  Model model;
  const br_program &train, *accumulate, *eval; // null where a step, or the job, takes none
  const br_program &batched;                   // that takes a microbatch: train, or the first cell of a pipeline
  std::unique_ptr<BatchSource> batches;
  const int microbatches; // a step
  const bool hasTargets;  // whether the loss counts any target of the part that is trained on
  LogIdentity logs;       // of the first rank
  const DirectoryLock *directoryLock() const { return lock.get(); }

private:
  std::vector<std::string> changes; // since the checkpoint was saved

  void noteBatch();
  void nameJob(const TrainOptions &options);
  void checkData(const TrainOptions &options) const;
  void loadTensors(const TrainOptions &options);
};

} // namespace braid
#endif // BRAID_TRAIN_TRAINJOB_H
