//===- Metrics.cpp - the metrics log of a run -----------------------------===//

#include "train/Metrics.h"

#include "base/Error.h"
#include "base/Json.h"

#include <algorithm>
#include <filesystem>

using namespace braid;

// Unbiased estimates of |G|^2 and of the trace of the noise covariance, and their ratio. The estimate of
// one step is rough. Average the squares over several steps before dividing; the log has the squares for
// this reason.
NoiseMetrics braid::noiseOf(float localSquare, float globalSquare, int64_t localTargets, int64_t globalTargets) {
  double small = static_cast<double>(localTargets), big = static_cast<double>(globalTargets);
  double signal = (big * globalSquare - small * localSquare) / (big - small);
  double noise = (static_cast<double>(localSquare) - globalSquare) / (1 / small - 1 / big);
  return {localSquare, globalSquare, noise / signal};
}

namespace {

// Limit of a line's length, in bytes. A line that the log writes is shorter: it has one number per
// measurement.
constexpr uint64_t maxLineBytes = 16 << 20;

// Reads a log line by line; each line includes its newline. Skips a last line without a newline.
class Lines {
public:
  explicit Lines(const File &file) : file(file), left(file.size()) {}

  // Returns false at the end of the file, or if a line is too long.
  bool next(std::string &line) {
    for (;;) {
      if (const size_t end = buffer.find('\n', searched); end != std::string::npos) {
        line = buffer.substr(0, end + 1);
        buffer.erase(0, end + 1);
        searched = 0;
        return true;
      }
      searched = buffer.size();
      if (left == 0 || buffer.size() > maxLineBytes)
        return false;
      const uint64_t count = std::min<uint64_t>(left, 1 << 16), had = buffer.size();
      buffer.resize(had + count);
      file.readAt(file.size() - left, buffer.data() + had, count);
      left -= count;
    }
  }

private:
  const File &file;
  uint64_t left;
  std::string buffer;
  size_t searched = 0;
};

nlohmann::json parseLine(const std::string &line, const std::string &where) { return parseJson(line, where); }

bool isContinuableLog(const std::string &path) {
  std::error_code error;
  return std::filesystem::is_regular_file(path, error) && std::filesystem::file_size(path, error) > 0;
}

// Returns the length in bytes of all lines up to a step.
uint64_t bytesUntil(const File &file, int64_t step) {
  Lines lines(file);
  uint64_t kept = 0;
  int64_t number = 1;
  for (std::string line; lines.next(line); ++number) {
    const auto json = parseLine(line, concat("'", file.path(), "' line ", number, ": "));
    if (!json.is_object() || !json.contains("step") || !json["step"].is_number_integer())
      fail("cannot go on with the log '", file.path(), "': line ", number,
           " is not what training writes; name another --log, or overwrite it with --force");
    if (json["step"].get<int64_t>() > step)
      break;
    kept += line.size();
  }
  return kept;
}

} // namespace

std::string braid::reasonNotToContinueLog(const std::string &log, const LogIdentity &identity) {
  if (!isContinuableLog(log))
    return "";
  const File file = File::openForReading(log);
  std::string line;
  const bool hasLine = Lines(file).next(line);
  const auto json = hasLine ? nlohmann::json(parseLine(line, concat("'", log, "' line 1: "))) : nlohmann::json();
  const bool namesJob = json.is_object() && json.contains("job") && json["job"].is_string();
  if (!namesJob)
    return "its first line does not say which job wrote it";
  return identity.goesOnWith(json["job"].get<std::string>()) ? "" : "another job wrote it, as its first line says";
}

MetricsLog::MetricsLog(const std::string &path, const LogResume &resume) : identity(resume.identity.text()) {
  line.reserve(512);
  if (path.empty())
    return;
  if (!resume.step || !isContinuableLog(path) || !reasonNotToContinueLog(path, resume.identity).empty()) {
    file.emplace(File::createForWriting(path));
    return;
  }
  file.emplace(File::openToUpdate(path, File::Links::Follow));
  const uint64_t kept = bytesUntil(*file, *resume.step);
  file->truncate(kept);
  if (kept > 0)
    identity.clear();
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
  writeLine(json);
}

void MetricsLog::evaluation(int64_t step, float loss) {
  if (!file)
    return;
  nlohmann::ordered_json json;
  json["step"] = step;
  json["eval_loss"] = loss;
  writeLine(json);
}

// Writes a line completely or not at all, even on a full disk.
void MetricsLog::writeLine(nlohmann::ordered_json &json) {
  if (!identity.empty())
    json["job"] = identity;
  line = json.dump() + '\n';
  file->writeWhole(line.data(), line.size());
  identity.clear();
}
