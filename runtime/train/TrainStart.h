//===- TrainStart.h - a training job before it has memory -----------------===//
//
// Combines the options with the state in a checkpoint. A job resumes only from a checkpoint of the same
// model and optimizer, trained on the same data.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_TRAIN_TRAINSTART_H
#define BRAID_TRAIN_TRAINSTART_H

#include "checkpoint/Checkpoint.h"
#include "checkpoint/DirectoryLock.h"
#include "train/Commands.h"
#include "train/LogIdentity.h"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace braid {

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

} // namespace braid
#endif // BRAID_TRAIN_TRAINSTART_H
