//===- JobState.h - what a job must know to go on, apart from the tensors -===//
#ifndef BRAID_CHECKPOINT_JOBSTATE_H
#define BRAID_CHECKPOINT_JOBSTATE_H

#include "braid_rt.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>

namespace braid {

struct JobState {
  std::string id;         // of the job: 16 hexadecimal digits; empty in older checkpoints
  int64_t step = 0;       // completed
  int64_t tokensSeen = 0; // the position in the data
  double epoch = 0;
  float lastLoss = 0;
  uint64_t seed = 1, batchSeed = 1;
  std::string batchOrder = "random";
  float lr = 1e-3f, minLr = 0;
  int64_t warmup = 0, decaySteps = 0;
  int64_t batchTokens = 0; // of a step; 0 in older checkpoints
  std::string schedule = "constant";
  double holdout = 0.1; // the share of the data, from its end, that is not trained on
  // What it was trained on (data/Fingerprint.h) and by (br_model.optimizer); empty in checkpoints
  // of versions that did not say.
  std::string data, optimizer;
  std::string initFolder; // that its weights are from; may be empty
};

// The optimizer is the model's.  As strings, by name, which is what safetensors' metadata holds: a JSON object.
std::string describeJob(const br_model &model, const JobState &state, const char *format);

// Throws Error when a key is missing or malformed; `path` is where they are from.
JobState parseJob(const std::map<std::string, std::string> &metadata, const std::string &path);
// The share alone, of any file; nothing where it does not say, as older ones.
std::optional<double> parseHoldout(const std::map<std::string, std::string> &metadata, const std::string &path);

} // namespace braid
#endif // BRAID_CHECKPOINT_JOBSTATE_H
