//===- Checkpoint.h - saving and restoring a training job -----------------===//
//
// A checkpoint is every tensor that the model marks, in logical terms, and the
// state of the job.  If one rank has it all, it is one safetensors file with the
// state as metadata; else a folder of files with an index (CheckpointIndex.h).  A
// rank writes what no rank before it holds, under a temporary name; when all are
// done, and have synced, one rename makes it a checkpoint.  So a crash or a full
// disk on any rank leaves the older checkpoints whole.
//
// Any layout reads what any other wrote: each rank the bytes of its own part.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_CHECKPOINT_CHECKPOINT_H
#define BRAID_CHECKPOINT_CHECKPOINT_H

#include "checkpoint/CheckedFile.h"
#include "checkpoint/CheckpointFolder.h"
#include "checkpoint/JobState.h"
#include "checkpoint/SavedTensors.h"
#include "core/Model.h"

#include <cstdint>
#include <string>
#include <vector>

namespace braid {

class DirectoryLock;

class CheckpointWriter {
public:
  // Creates `directory` if need be.  Everything of size is allocated here, so
  // that saving allocates nothing to speak of.  All ranks make one, and save,
  // together: if one cannot, all throw Error.  `job` is the id of the states that
  // are saved; only checkpoints of the same job are removed (0 to keep: none).  Those beyond
  // `keep` go at once, so that a disk that they have filled has room, but not `resumed`, the path
  // of the one that the job goes on from.  `lock` is looked at before each save (null: there is none).
  CheckpointWriter(Model &model, std::string directory, int keep, const std::string &job,
                   const std::string &resumed = "", const DirectoryLock *lock = nullptr);

  // Throws Error when the medium is full or cannot be written; what was there
  // before stays.
  void save(const JobState &state);
  const std::string &lastPath() const { return finalPath; }

private:
  void write(const JobState &state);
  void writeFiles(const JobState &state);
  void writePart(const std::string &path, const std::string &metadata);
  void writeIndex(const JobState &state);
  void writeTensor(CheckedWriter &file, const br_tensor &tensor, const std::byte *memory);
  void removeOld(int64_t step);
  void removeSurplus(const std::string &except);

  Model &model;
  const DirectoryLock *lock;
  std::string directory, temporaryPath, finalPath;
  std::vector<const br_tensor *> mine; // what this rank writes
  bool inFolder;                       // others write, too
  uint64_t blocks = 0;                 // that have checksums
  std::string entries, header, parts;
  std::vector<std::byte> chunk;
  std::vector<Run> pending;   // what the chunk is filled with
  std::vector<int64_t> steps; // of the checkpoints in the directory, ascending
  int keep;
};

// Opens a checkpoint, a file or folder of weights, or the newest readable checkpoint of a
// directory (the first rank warns of those that are not).
SavedTensors openCheckpoint(const std::string &path, const Rank &rank = {});
// The id of the job that saved it; empty if it does not say.
std::string savedJobId(const std::string &path);
// The newest readable one in the same directory that is of fewer steps; empty for none.
std::string earlierCheckpoint(const std::string &path);

// Each reads this rank's parts; all ranks must call it, and if one cannot, all throw
// Error.

// Everything goes back for a resumed job; to use a model, optimizer state is
// not needed.  Throws Error naming the first tensor that differs; the arena is
// written only when all agree.
enum class Restore { Everything, ModelOnly };
void restoreTensors(const SavedTensors &saved, Model &model, Restore what);

// Parameters only, from any weights (Weights.h) with tensors of these names and
// shapes; floats of another width are converted.
void importParameters(const SavedTensors &saved, Model &model);

// Throws Error when a key is missing or malformed.
JobState readJobState(const SavedTensors &saved);

} // namespace braid
#endif // BRAID_CHECKPOINT_CHECKPOINT_H
