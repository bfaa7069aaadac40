//===- Metrics.h - what a run writes down ---------------------------------===//
//
// metrics.jsonl, one JSON object a step or evaluation.  People get a line on the terminal
// (Progress.h), and TensorBoard events (EventFile.h).
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

// The simple noise scale of gradients (McCandlish et al., An Empirical Model of
// Large-Batch Training, 2018): from the mean of |g|^2 over the ranks' own
// batches and |g|^2 of the whole one, which differ by the noise that averaging
// removes.
struct NoiseMetrics {
  float localSquare, globalSquare; // of a rank's gradient (mean), of all ranks'
  double scale;                    // in targets: the batch size that is worth having
};
NoiseMetrics noiseOf(float localSquare, float globalSquare, int64_t localTargets, int64_t globalTargets);

// A scalar that the graph was asked to report, as the norm at a hook.
struct Measurement {
  const char *name; // "norm:h.0.exit"
  float value;
};

struct StepMetrics {
  int64_t step;
  float loss;
  float lr;
  std::optional<float> gradNorm; // absent if the model does not report it
  int64_t tokens;                // in this step, whether the loss counts them or not
  double seconds;
  std::optional<NoiseMetrics> noise = std::nullopt; // absent likewise
  std::span<const Measurement> measurements = {};
  std::optional<int64_t> targets = std::nullopt; // that the loss counts; absent if it counts all
};

// metrics.jsonl with the keys `step loss lr grad_norm tokens targets seconds
// tokens_per_second`, then, if the model reports them, `grad_sq_local
// grad_sq_global noise_scale` and measurements by their names; and `step eval_loss`.  Every float reads back
// exactly.  Tokens are those of all ranks.  The first line of a file also has `job`, whose it is.
class MetricsLog {
public:
  // An empty path writes nothing.  A job that goes on from a step appends to its own log, once the
  // lines of later steps, which it does again, are gone; another's is written over.
  MetricsLog(const std::string &path, const LogResume &resume);

  void step(const StepMetrics &m);
  void evaluation(int64_t step, float loss);

private:
  void writeLine(nlohmann::ordered_json &json);

  std::optional<File> file;
  std::string identity; // until the first line, which carries it, is written
  std::string line;
};

// Why this job cannot go on with that log; empty if it can, or if there is nothing in it.
std::string whyNotToGoOnWith(const std::string &log, const LogIdentity &identity);

} // namespace braid
#endif // BRAID_TRAIN_METRICS_H
