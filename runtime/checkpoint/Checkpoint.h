//===- Checkpoint.h - save and restore a training job ---------------------===//
//
// A checkpoint has every logical tensor that the model marks for it, and the state of the job. If one rank
// holds everything, it is one safetensors file with the state as metadata; otherwise it is a folder of
// files with an index (CheckpointIndex.h). Each rank writes the parts that no lower rank holds, under a
// temporary name. When all ranks have written and synced, one rename publishes the checkpoint. So a crash
// or a full disk on any rank leaves the older checkpoints intact.
//
// A job with any layout can read a checkpoint from any other layout: each rank reads the bytes of its own
// part.
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
  // Creates `directory` if needed. Allocates all large buffers here, so that a save allocates almost
  // nothing. All ranks create a writer, and save, together: if one rank fails, all throw Error. `job` is
  // the id in the saved states; only checkpoints of this job are removed. `keep` is the number of
  // checkpoints to keep (0: all). Checkpoints beyond it are removed at once, to free space on a full disk,
  // except `resumed`, the path of the checkpoint that the job resumed from. `lock` is checked before each
  // save (null: no lock).
  CheckpointWriter(Model &model, std::string directory, int keep, const std::string &job,
                   const std::string &resumed = "", const DirectoryLock *lock = nullptr);

  // Throws Error if the disk is full or not writable; earlier checkpoints stay.
  void save(const JobState &state);
  const std::string &lastPath() const { return finalPath; }

private:
  void write(const JobState &state);
  void writeFiles(const JobState &state);
  void writePart(const std::string &path, const std::string &metadata);
  void writeIndex(const JobState &state);
  void writeTensor(CheckedWriter &file, const br_tensor &tensor, const std::byte *memory);
  void removeOld(int64_t step);
  void removeSurplus(const std::string &excluded);

  Model &model;
  const DirectoryLock *lock;
  std::string directory, temporaryPath, finalPath;
  std::vector<const br_tensor *> ownTensors; // tensors that this rank writes
  bool inFolder;                             // whether other ranks write, too
  uint64_t blocks = 0;                       // number of blocks with checksums
  std::string entries, header, parts;
  std::vector<std::byte> chunk;
  std::vector<Run> pending;   // runs to copy into the chunk
  std::vector<int64_t> steps; // steps of the checkpoints in the directory, ascending
  int keep;
};

// Opens a checkpoint, a file or folder of weights, or the newest readable checkpoint in a directory. The
// first rank warns of checkpoints that are not readable.
SavedTensors openCheckpoint(const std::string &path, const Rank &rank = {});
// Returns the id of the job that saved the checkpoint; empty if it has none.
std::string savedJobId(const std::string &path);
// Returns the newest readable checkpoint of an earlier step in the same directory; empty if there is none.
std::string earlierCheckpoint(const std::string &path);

// The functions below read this rank's parts. All ranks must call them; if one rank fails, all throw Error.

// A resumed job restores all tensors; to use a model, optimizer state is not needed. Throws an Error that
// names the first tensor that differs. The arena is written only if all ranks agree.
enum class Restore { Everything, ModelOnly };
void restoreTensors(const SavedTensors &saved, Model &model, Restore what);

// Reads only parameters, from any weights (Weights.h) with tensors of the same names and shapes. Converts
// floats of another width.
void importParameters(const SavedTensors &saved, Model &model);

// Throws Error if a key is missing or malformed.
JobState readJobState(const SavedTensors &saved);

// Describes the first element of the model's parameters that is not finite in the file, as in "parameter
// 'w' holds nan at [3, 5] in 'FILE'"; empty if all are finite. Reads all parameters.
std::string nonFiniteParameter(const SavedTensors &saved, const br_model &model);

} // namespace braid
#endif // BRAID_CHECKPOINT_CHECKPOINT_H
