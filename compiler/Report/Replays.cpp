//===- Replays.cpp - choices of --recompute=auto --------------------------===//

#include "compiler/Report/Replays.h"
#include "compiler/Report/Report.h"
#include "lib/Memory/Size.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"

using namespace braid;

/// Size of the plot in characters.
static constexpr int kChartRows = 10, kChartColumns = 56;

/// Returns the position of a value between two others, from 0 to `steps`.
static int step(double value, double lower, double upper, int steps) {
  return upper > lower ? int((value - lower) / (upper - lower) * steps + 0.5) : 0;
}

/// Plots bytes to the right and time upwards; `o` is a point, `*` the chosen one.
static void plot(llvm::raw_ostream &stream, llvm::ArrayRef<ReplayReport> points) {
  auto byBytes = [](const ReplayReport &a, const ReplayReport &b) { return a.arenaBytes < b.arenaBytes; };
  auto byTime = [](const ReplayReport &a, const ReplayReport &b) { return a.seconds < b.seconds; };
  int64_t minBytes = llvm::min_element(points, byBytes)->arenaBytes,
          upper = llvm::max_element(points, byBytes)->arenaBytes;
  double fastest = llvm::min_element(points, byTime)->seconds, slowest = llvm::max_element(points, byTime)->seconds;
  std::vector<std::string> rows(kChartRows + 1, std::string(kChartColumns + 1, ' '));
  for (const ReplayReport &point : points) {
    char &place = rows[kChartRows - step(point.seconds, fastest, slowest, kChartRows)]
                      [step(point.arenaBytes, minBytes, upper, kChartColumns)];
    place = point.isChosen ? '*' : place == '*' ? '*' : 'o';
  }
  for (auto [row, text] : llvm::enumerate(rows)) {
    std::string label = row == 0 ? formatSeconds(slowest) : row == kChartRows ? formatSeconds(fastest) : "";
    stream << llvm::formatv("  {0,10} |{1}\n", label, llvm::StringRef(text).rtrim());
  }
  stream << llvm::formatv("  {0,10} +{1}\n", "", std::string(kChartColumns + 1, '-'));
  std::string left = formatSize(minBytes), right = formatSize(upper);
  stream << llvm::formatv("  {0,10}  {1}{2}{3}\n", "step, arena", left,
                          std::string(std::max<int>(1, kChartColumns + 1 - left.size() - right.size()), ' '), right);
}

void braid::printReplays(llvm::raw_ostream &stream, llvm::ArrayRef<ReplayReport> points) {
  if (points.empty())
    return;
  stream << "\nrecomputation: bytes against predicted time\n";
  bool hasValues = llvm::any_of(points, [](const ReplayReport &point) { return !point.values.empty(); });
  stream << llvm::formatv("  {0,12} {1,9} {2,10} {3,12} {4,10} {5,8}{6}\n", "a second is", "in units", "arena",
                          "activations", "step", "slower", hasValues ? "  and values" : "");
  double baseSeconds = points.front().seconds;
  for (const ReplayReport &point : points)
    stream << llvm::formatv("  {0,12} {1,9} {2,10} {3,12} {4,10} {5,7:F1}%{6}{7}{8}\n",
                            point.bytesPerSecond ? formatSize(*point.bytesPerSecond) : "not replayed",
                            point.units            ? std::to_string(*point.units)
                            : point.bytesPerSecond ? "all"
                                                   : "none",
                            formatSize(point.arenaBytes), formatSize(point.activationBytes),
                            formatSeconds(point.seconds), 100 * (point.seconds / baseSeconds - 1),
                            point.values.empty() ? "" : "  ", llvm::join(point.values, ", "),
                            point.isChosen ? "  <- chosen" : "");
  if (points.size() > 1)
    plot(stream, points);
}
