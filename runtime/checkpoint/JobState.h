//===- JobState.h - state of a job beside its tensors ---------------------===//
#ifndef BRAID_CHECKPOINT_JOBSTATE_H
#define BRAID_CHECKPOINT_JOBSTATE_H

#include "braid_rt.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>

namespace braid {

struct JobState {
  std::string id;         // id of the job, 16 hexadecimal digits; empty in older checkpoints
  int64_t step = 0;       // number of completed steps
  int64_t tokensSeen = 0; // position in the data, in tokens
  double epoch = 0;
  float lastLoss = 0;
  uint64_t seed = 1, batchSeed = 1;
  std::string batchOrder = "random";
  float lr = 1e-3f, minLr = 0;
  int64_t warmup = 0, decaySteps = 0;
  int64_t batchTokens = 0; // tokens per step; 0 in older checkpoints
  std::string schedule = "constant";
  double holdout = 0.1; // fraction of the data, from its end, held out from training
  // Fingerprint of the training data (data/Fingerprint.h) and the optimizer (br_model.optimizer); empty in
  // older checkpoints.
  std::string data, optimizer;
  std::string initFolder; // folder of the initial weights; may be empty
};

// Returns the state and the model's optimizer as a JSON object of strings, the form of safetensors
// metadata.
std::string describeJob(const br_model &model, const JobState &state, const char *format);

// Throws Error if a key is missing or malformed; `path` names the file in messages.
JobState parseJob(const std::map<std::string, std::string> &metadata, const std::string &path);
// Returns the held-out fraction from any file; nothing if the file has none, such as an older one.
std::optional<double> parseHoldout(const std::map<std::string, std::string> &metadata, const std::string &path);

} // namespace braid
#endif // BRAID_CHECKPOINT_JOBSTATE_H
