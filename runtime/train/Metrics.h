//===- Metrics.h - the metrics log of a run -------------------------------===//
//
// metrics.jsonl has one JSON object per step and per evaluation. The terminal shows progress lines
// (Progress.h), and TensorBoard reads events (EventFile.h).
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_TRAIN_METRICS_H
#define BRAID_TRAIN_METRICS_H

#include "base/File.h"
#include "train/LogIdentity.h"

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <span>
#include <string>

namespace braid {

// The simple noise scale of gradients (McCandlish et al., An Empirical Model of Large-Batch Training,
// 2018). It compares the mean of |g|^2 over the ranks' own batches with |g|^2 of the whole batch: averaging
// gradients over ranks removes noise.
struct NoiseMetrics {
  float localSquare, globalSquare; // |g|^2 of one rank's batch (mean over ranks), and of the whole batch
  double scale;                    // in targets: larger batches than this are hardly worth their cost
};
NoiseMetrics noiseOf(float localSquare, float globalSquare, int64_t localTargets, int64_t globalTargets);

// A scalar that the graph reports on request, such as the norm at a hook.
struct Measurement {
  const char *name; // "norm:h.0.exit"
  float value;
};

struct StepMetrics {
  int64_t step;
  float loss;
  float lr;
  std::optional<float> gradNorm; // absent if the model does not report it
  int64_t tokens;                // in this step, including tokens that the loss ignores
  double seconds;
  std::optional<NoiseMetrics> noise = std::nullopt; // absent if the model does not report it
  std::span<const Measurement> measurements = {};
  std::optional<int64_t> targets = std::nullopt; // targets that the loss counts; absent if it counts all
};

// Writes metrics.jsonl. A step has the keys `step loss lr grad_norm tokens targets seconds
// tokens_per_second`; then, if the model reports them, `grad_sq_local grad_sq_global noise_scale` and
// measurements by name. An evaluation has `step eval_loss`. Every float is written so that it reads back
// exactly. Tokens are counted over all ranks. The first line of a file also has `job`, the job's identity.
class MetricsLog {
public:
  // Writes nothing if `path` is empty. A resumed job removes the lines of steps that it will repeat from
  // its own log, then appends. Overwrites another job's log.
  MetricsLog(const std::string &path, const LogResume &resume);

  void step(const StepMetrics &m);
  void evaluation(int64_t step, float loss);

private:
  void writeLine(nlohmann::ordered_json &json);

  std::optional<File> file;
  std::string identity; // written into the first line, then empty
  std::string line;
};

// Returns why this job cannot continue a log; empty if it can, or if the log is empty.
std::string reasonNotToContinueLog(const std::string &log, const LogIdentity &identity);

} // namespace braid
#endif // BRAID_TRAIN_METRICS_H
