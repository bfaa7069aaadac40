//===- Metrics.cpp - what a run writes down and shows ---------------------===//

#include "train/Metrics.h"

#include "base/Error.h"
#include "base/Format.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <nlohmann/json.hpp>
#include <unistd.h>

using namespace braid;

// Estimates without bias of |G|^2 and of the noise's trace, and their ratio.
// One step's is rough: average the squares over steps before dividing (that is
// why they are logged).
NoiseMetrics braid::noiseOf(float localSquare, float globalSquare, int64_t localTokens, int64_t globalTokens) {
  double small = static_cast<double>(localTokens), big = static_cast<double>(globalTokens);
  double signal = (big * globalSquare - small * localSquare) / (big - small);
  double noise = (static_cast<double>(localSquare) - globalSquare) / (1 / small - 1 / big);
  return {localSquare, globalSquare, noise / signal};
}

MetricsLog::MetricsLog(const std::string &path, bool append) {
  line.reserve(512);
  if (!path.empty())
    file.emplace(append ? File::openForAppending(path) : File::createForWriting(path));
}

void MetricsLog::step(const StepMetrics &m) {
  if (!file)
    return;
  nlohmann::ordered_json json;
  json["step"] = m.step;
  json["loss"] = m.loss;
  json["lr"] = m.lr;
  if (m.gradNorm)
    json["grad_norm"] = *m.gradNorm;
  json["tokens"] = m.tokens;
  json["seconds"] = m.seconds;
  json["tokens_per_second"] = m.tokens / std::max(m.seconds, 1e-9);
  if (m.noise) {
    json["grad_sq_local"] = m.noise->localSquare;
    json["grad_sq_global"] = m.noise->globalSquare;
    json["noise_scale"] = m.noise->scale;
  }
  for (const Measurement &measured : m.measurements)
    json[measured.name] = measured.value;
  line = json.dump();
  writeLine();
}

void MetricsLog::evaluation(int64_t step, float loss) {
  if (!file)
    return;
  nlohmann::ordered_json json;
  json["step"] = step;
  json["eval_loss"] = loss;
  line = json.dump();
  writeLine();
}

void MetricsLog::writeLine() {
  line += '\n';
  file->write(line.data(), line.size());
}

Progress::Progress(int64_t firstStep, int64_t lastStep, uint64_t arenaBytes, uint64_t peakBytes)
    : firstStep(firstStep), lastStep(lastStep), arenaBytes(arenaBytes), peakBytes(peakBytes),
      terminal(isatty(STDOUT_FILENO)) {}

namespace {

// "1h 02m", "3m 20s", "12s".
void formatDuration(double seconds, char (&text)[32]) {
  long long s = static_cast<long long>(seconds + 0.5);
  if (s >= 3600)
    std::snprintf(text, sizeof text, "%lldh %02lldm", s / 3600, s / 60 % 60);
  else if (s >= 60)
    std::snprintf(text, sizeof text, "%lldm %02llds", s / 60, s % 60);
  else
    std::snprintf(text, sizeof text, "%llds", s);
}

void flushOutput() {
  if (std::fflush(stdout) != 0)
    fail("cannot write to standard output: ", std::strerror(errno));
  if (std::ferror(stdout)) // before
    fail("cannot write to standard output");
}

} // namespace

void Progress::step(const StepMetrics &m) {
  ++stepsDone;
  secondsDone += m.seconds;
  secondsSinceShown += m.seconds;
  // Ten refreshments a second, or about fifty plain lines a run; always the
  // first step and the last.
  int64_t every = std::max<int64_t>(1, (lastStep - firstStep + 1) / 50);
  // A line with measurements may not fit the terminal, and then cannot be refreshed.
  const bool refreshes = terminal && m.measurements.empty();
  bool due = refreshes ? secondsSinceShown >= 0.1 : m.step % every == 0;
  if (!due && m.step != firstStep && m.step != lastStep)
    return;
  secondsSinceShown = 0;

  char eta[32];
  formatDuration(secondsDone / stepsDone * (lastStep - m.step), eta);
  double share = peakBytes ? 100.0 * arenaBytes / peakBytes : 100.0;
  std::printf("%sstep %lld/%lld  loss %.4f  lr %.2e  %.0f tok/s  arena %s "
              "(%.0f%% of peak)  eta %s",
              refreshes ? "\r\033[K" : "", static_cast<long long>(m.step), static_cast<long long>(lastStep), m.loss,
              m.lr, m.tokens / std::max(m.seconds, 1e-9), formatBytes(arenaBytes).c_str(), share, eta);
  for (const Measurement &measured : m.measurements)
    std::printf("  %s %.4g", measured.name, measured.value);
  lineOpen = refreshes;
  if (!refreshes)
    std::printf("\n");
  flushOutput();
}

void Progress::evaluation(int64_t step, float loss) {
  finishLine();
  std::printf("step %lld  held-out loss %.4f\n", static_cast<long long>(step), loss);
  flushOutput();
}

void Progress::finishLine() {
  if (lineOpen)
    std::printf("\n");
  lineOpen = false;
}
