//===- Metrics.h - what a run writes down and shows -----------------------===//
//
// Two readers: machines get metrics.jsonl, one JSON object a step or
// evaluation, and people a line on the terminal that is refreshed, or now and
// then a plain line where standard output is not a terminal.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_TRAIN_METRICS_H
#define BRAID_TRAIN_METRICS_H

#include "base/File.h"

#include <cstdint>
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
  double scale;                    // in tokens: the batch size that is worth having
};
NoiseMetrics noiseOf(float localSquare, float globalSquare, int64_t localTokens, int64_t globalTokens);

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
  int64_t tokens;                // in this step
  double seconds;
  std::optional<NoiseMetrics> noise = std::nullopt; // absent likewise
  std::span<const Measurement> measurements = {};
};

// metrics.jsonl with the keys `step loss lr grad_norm tokens seconds
// tokens_per_second`, then, if the model reports them, `grad_sq_local
// grad_sq_global noise_scale` and measurements by their names; and `step eval_loss`.  Every float reads back
// exactly.  Tokens are those of all ranks.
class MetricsLog {
public:
  // An empty path writes nothing.  A resumed job appends.
  MetricsLog(const std::string &path, bool append);

  void step(const StepMetrics &m);
  void evaluation(int64_t step, float loss);

private:
  void writeLine();

  std::optional<File> file;
  std::string line;
};

class Progress {
public:
  Progress(int64_t firstStep, int64_t lastStep, uint64_t arenaBytes, uint64_t peakBytes);

  void step(const StepMetrics &m);
  void evaluation(int64_t step, float loss);
  // Leaves the refreshed line as it is and goes to the next.
  void finishLine();

private:
  int64_t firstStep, lastStep, stepsDone = 0;
  uint64_t arenaBytes, peakBytes;
  double secondsDone = 0, secondsSinceShown = 0;
  bool terminal, lineOpen = false;
};

} // namespace braid
#endif // BRAID_TRAIN_METRICS_H
