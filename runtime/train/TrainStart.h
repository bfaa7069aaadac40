//===- TrainStart.h - a training job before it has memory -----------------===//
//
// Options and what a checkpoint remembers, put together.  A job goes on only from a
// checkpoint of its own: of this model and optimizer, with this data.
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
  std::unique_ptr<DirectoryLock> lock; // of the first rank, as long as the job lives
  std::optional<SavedTensors> saved;   // to go on from
  JobState state;
  LogIdentity logs;                 // of the first rank
  std::vector<std::string> changes; // of options since it was saved, a line each
  bool isDone = false;              // nothing is left to train
};

// Throws Error when the options, the checkpoint and the data do not fit together.  The first
// rank warns of what can be doubted.
TrainStart startOf(const br_model &table, const TrainOptions &options, int rank);

// What ranks must have in common to train from here.
StartFacts factsOf(const TrainStart &start, const TrainOptions &options);

} // namespace braid
#endif // BRAID_TRAIN_TRAINSTART_H
