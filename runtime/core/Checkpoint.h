//===- Checkpoint.h - saving and restoring a training job
//-------------------===//
//
// A checkpoint is DIR/step-00000020.safetensors: every tensor that the model
// marks, in logical layout, and the state of the job as metadata strings.  It
// is written under a temporary name, synced and renamed, so a crash or a full
// disk leaves the older checkpoints whole.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_CORE_CHECKPOINT_H
#define BRAID_CORE_CHECKPOINT_H

#include "core/Model.h"
#include "core/Safetensors.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace braid {

// What a job must know to go on, apart from the tensors.
struct JobState {
  int64_t step = 0;       // completed
  int64_t tokensSeen = 0; // the position in the data
  double epoch = 0;
  float lastLoss = 0;
  uint64_t seed = 1, batchSeed = 1;
  std::string batchOrder = "random";
  float lr = 1e-3f, minLr = 0;
  int64_t warmup = 0, decaySteps = 0;
  std::string schedule = "constant";
};

class CheckpointWriter {
public:
  // Creates `directory` if need be.  Everything of size is allocated here, so
  // that saving allocates nothing to speak of.
  CheckpointWriter(const Model &model, std::string directory, int keep);

  // Throws Error when the medium is full or cannot be written; what was there
  // before stays.
  void save(const JobState &state);
  const std::string &lastPath() const { return finalPath; }

private:
  void writeFile(const JobState &state);
  void writeTensor(File &file, const br_tensor &tensor);
  void removeOld();

  const Model &model;
  std::string directory, temporaryPath, finalPath, entries, header;
  std::vector<std::byte> chunk;
  std::vector<int64_t> steps; // of the checkpoints in the directory, ascending
  int keep;
};

// The steps of the checkpoints in a directory, ascending; none if it is absent.
std::vector<int64_t> checkpointSteps(const std::string &directory);
std::string checkpointPath(const std::string &directory, int64_t step);

// Opens a file, or the newest readable checkpoint of a directory (a warning
// names those that are not).
SafetensorsFile openCheckpoint(const std::string &path);

// Everything goes back for a resumed job; to use a model, optimizer state is
// not needed.  Throws Error naming the first tensor that differs; the arena is
// written only when all agree.
enum class Restore { Everything, ModelOnly };
void restoreTensors(const SafetensorsFile &file, const Model &model,
                    Restore what);

// Parameters only, from any safetensors file with tensors of these names and
// shapes; floats of another width are converted.
void importParameters(const SafetensorsFile &file, const Model &model);

// Throws Error when a key is missing or malformed.
JobState readJobState(const SafetensorsFile &file);

} // namespace braid
#endif // BRAID_CORE_CHECKPOINT_H
