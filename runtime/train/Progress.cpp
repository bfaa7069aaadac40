//===- Progress.cpp - progress of training on the terminal ----------------===//

#include "train/Progress.h"

#include "base/Clock.h"
#include "base/Error.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string_view>
#include <sys/ioctl.h>
#include <unistd.h>

using namespace braid;

//===----------------------------------------------------------------------===//
// Text
//===----------------------------------------------------------------------===//

namespace {

template <class... Args> std::string format(const char *pattern, Args... args) {
  char text[128];
  std::snprintf(text, sizeof text, pattern, args...);
  return text;
}

// Formats seconds as "1h 02m", "3m 20s" or "12s".
std::string formatDuration(double seconds) {
  const long long s = static_cast<long long>(seconds + 0.5);
  if (s >= 3600)
    return format("%lldh %02lldm", s / 3600, s / 60 % 60);
  return s >= 60 ? format("%lldm %02llds", s / 60, s % 60) : format("%llds", s);
}

// Formats a rate as "842", "12.3k" or "1.25M".
std::string formatRate(double x) {
  return x < 1e4 ? format("%.0f", x) : x < 1e6 ? format("%.1fk", x / 1e3) : format("%.2fM", x / 1e6);
}

// Formats the time of a step as "0.42 ms/step", "61.5 ms/step" or "1240 ms/step".
std::string formatStepTime(double seconds) {
  const double ms = 1e3 * seconds;
  return format(ms < 10 ? "%.2f ms/step" : ms < 1000 ? "%.1f ms/step" : "%.0f ms/step", ms);
}

size_t lengthOf(const std::vector<ProgressField> &fields, size_t gap) {
  size_t length = fields.empty() ? 0 : gap * (fields.size() - 1);
  for (const ProgressField &field : fields)
    length += field.text.size();
  return length;
}

void flushOutput() {
  if (std::fflush(stdout) != 0)
    fail("cannot write to standard output: ", std::strerror(errno));
  if (std::ferror(stdout)) // an earlier write failed
    fail("cannot write to standard output");
}

} // namespace

std::string braid::fitLine(std::vector<ProgressField> fields, size_t width) {
  const auto less = [](const ProgressField &a, const ProgressField &b) { return a.dropOrder < b.dropOrder; };
  while (lengthOf(fields, 1) > width) {
    auto first = std::max_element(fields.begin(), fields.end(), less);
    if (first == fields.end() || first->dropOrder == 0)
      break;
    fields.erase(first);
  }
  const size_t gap = lengthOf(fields, 2) <= width ? 2 : 1;
  std::string line;
  for (const ProgressField &field : fields)
    line += (line.empty() ? "" : std::string(gap, ' ')) + field.text;
  return line.substr(0, width);
}

size_t braid::terminalColumns() {
  const char *kind = std::getenv("TERM");
  winsize size = {};
  if (!isatty(STDOUT_FILENO) || (kind && std::string_view(kind) == "dumb") ||
      ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0)
    return 0;
  return size.ws_col > 1 ? size.ws_col : 0; // a single column has no room for a line
}

//===----------------------------------------------------------------------===//
// Progress
//===----------------------------------------------------------------------===//

Progress::Progress(int64_t firstStep, int64_t lastStep, const std::string &unit, double minSeconds)
    : firstStep(firstStep), lastStep(lastStep), unit(unit == "tokens" ? "tok" : unit), minSeconds(minSeconds),
      terminal(terminalColumns() > 0) {}

// Whether to show the step. Refreshes at most ten times a second; always shows the first and the last step.
bool Progress::isDue(const StepMetrics &m, bool refreshes) const {
  const double elapsed = secondsNow() - shownAt;
  const int64_t interval = std::max<int64_t>(1, (lastStep - firstStep + 1) / 50);
  const bool isTime = refreshes ? elapsed >= 0.1 : m.step % interval == 0 || elapsed + m.seconds > 30;
  return isTime || m.step == firstStep || m.step == lastStep;
}

std::vector<ProgressField> Progress::fieldsOf(const StepMetrics &m) const {
  const double stepSeconds = std::max(seconds, 1e-9) / static_cast<double>(steps);
  std::vector<ProgressField> fields = {
      {format("step %lld/%lld", static_cast<long long>(m.step), static_cast<long long>(lastStep)), 0},
      {format("loss %.4f", m.loss), 0}};
  if (m.gradNorm)
    fields.push_back({format("norm %#.3g", *m.gradNorm), 4});
  fields.push_back({format("lr %.2e", m.lr), 6});
  fields.push_back({formatRate(static_cast<double>(tokens) / std::max(seconds, 1e-9)) + " " + unit + "/s", 2});
  fields.push_back({formatStepTime(stepSeconds), 5});
  if (minSeconds > 0)
    fields.push_back({format("MFU %.1f%%", 100 * minSeconds / stepSeconds), 3});
  const double mean = stepsDone > 0 ? secondsDone / static_cast<double>(stepsDone) : stepSeconds;
  fields.push_back({formatDuration(mean * static_cast<double>(lastStep - m.step)) + " left", 1});
  return fields;
}

void Progress::step(const StepMetrics &m) {
  ++steps, tokens += m.tokens, seconds += m.seconds;
  if (m.step > firstStep)
    ++stepsDone, secondsDone += m.seconds;
  // A line with measurements may be wider than the terminal, so it cannot be refreshed.
  const bool refreshes = terminal && m.measurements.empty();
  if (!isDue(m, refreshes))
    return;
  const size_t columns = refreshes ? terminalColumns() : 0;
  // The last column stays empty, because some terminals wrap there.
  std::string line = fitLine(fieldsOf(m), columns > 0 ? columns - 1 : SIZE_MAX);
  for (const Measurement &measured : m.measurements)
    line += format("  %s %.4g", measured.name, measured.value);
  std::printf("%s%s%s", refreshes ? "\r\033[K" : "", line.c_str(), refreshes ? "" : "\n");
  lineOpen = refreshes;
  flushOutput();
  steps = tokens = 0;
  seconds = 0;
  shownAt = secondsNow();
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
