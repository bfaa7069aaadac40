//===- TrainJob.h - a training job before its first step ------------------===//
//
// Options, and what a checkpoint remembers, put together; everything that can be
// refused is refused here, before a file is written.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_TRAIN_TRAINJOB_H
#define BRAID_TRAIN_TRAINJOB_H

#include "checkpoint/Checkpoint.h"
#include "checkpoint/DirectoryLock.h"
#include "checkpoint/JobState.h"
#include "core/Model.h"
#include "data/Batches.h"
#include "train/Commands.h"

#include <memory>
#include <optional>

namespace braid {

class TrainJob {
public:
  // Tensors have their first values then.  Every rank makes one; throws Error.
  TrainJob(const br_model &table, const TrainOptions &options, const Rank &rank);

  // What runs, and where, for people.
  void announce() const;

private:
  std::unique_ptr<DirectoryLock> lock; // of the first rank, as long as the job lives
  std::optional<SavedTensors> saved;   // to be resumed from

public:
  const br_model &table;
  JobState state; // the loop goes on from here
  Model model;
  const br_program &train, *accumulate, *eval; // null where a step, or the job, takes none
  std::unique_ptr<BatchSource> batches;
  const int microbatches; // a step

private:
  void checkAgreement(const TrainOptions &options);
  void nameJob(const TrainOptions &options);
  void checkData(const TrainOptions &options) const;
  void loadTensors(const TrainOptions &options);
};

} // namespace braid
#endif // BRAID_TRAIN_TRAINJOB_H
