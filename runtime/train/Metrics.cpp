//===- Metrics.cpp - what a run writes down -------------------------------===//

#include "train/Metrics.h"

#include "base/Error.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

using namespace braid;

// Estimates without bias of |G|^2 and of the noise's trace, and their ratio.
// One step's is rough: average the squares over steps before dividing (that is
// why they are logged).
NoiseMetrics braid::noiseOf(float localSquare, float globalSquare, int64_t localTargets, int64_t globalTargets) {
  double small = static_cast<double>(localTargets), big = static_cast<double>(globalTargets);
  double signal = (big * globalSquare - small * localSquare) / (big - small);
  double noise = (static_cast<double>(localSquare) - globalSquare) / (1 / small - 1 / big);
  return {localSquare, globalSquare, noise / signal};
}

// Takes away what was logged after a step, and a last line that was not written whole.
static void cutAfter(const std::string &path, int64_t step) {
  std::error_code error;
  if (!std::filesystem::is_regular_file(path, error))
    return;
  std::ifstream file(path, std::ios::binary);
  uint64_t kept = 0;
  int64_t number = 1;
  for (std::string line; std::getline(file, line); ++number) {
    const bool isWhole = !file.eof();
    const auto json = nlohmann::json::parse(line, nullptr, /*allow_exceptions=*/false);
    const bool isMetrics = json.is_object() && json.contains("step") && json["step"].is_number_integer();
    if (isWhole && !isMetrics)
      fail("cannot go on with the log '", path, "': line ", number, " is not what training writes; name another --log");
    if (!isWhole || json["step"].get<int64_t>() > step)
      break;
    kept += line.size() + 1;
  }
  file.close();
  std::filesystem::resize_file(path, kept, error);
  if (error)
    fail("cannot write '", path, "': ", error.message());
}

MetricsLog::MetricsLog(const std::string &path, std::optional<int64_t> resumedStep) {
  line.reserve(512);
  if (path.empty())
    return;
  if (resumedStep)
    cutAfter(path, *resumedStep);
  file.emplace(resumedStep ? File::openForAppending(path) : File::createForWriting(path));
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
  if (m.targets)
    json["targets"] = *m.targets;
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
