//===- SaveInterval.cpp - how often a job saves ---------------------------===//

#include "train/SaveInterval.h"

#include "base/Error.h"
#include "base/Format.h"

#include <charconv>

using namespace braid;

namespace {

// Returns the seconds of a time unit; 0 for an unknown unit.
double secondsOf(std::string_view unit) { return unit == "s" ? 1 : unit == "m" ? 60 : unit == "h" ? 3600 : 0; }

} // namespace

std::optional<SaveInterval> braid::parseSaveInterval(std::string_view text) {
  const char *end = text.data() + text.size();
  int64_t steps = 0;
  if (auto [at, error] = std::from_chars(text.data(), end, steps); error == std::errc() && at == end && steps >= 0)
    return SaveInterval{steps, 0};
  double count = 0;
  auto [at, error] = std::from_chars(text.data(), end, count);
  const double seconds = error == std::errc() ? count * secondsOf({at, static_cast<size_t>(end - at)}) : 0;
  // All options in seconds have this upper limit: about three years.
  if (!(seconds > 0 && seconds <= 1e8))
    return std::nullopt;
  return SaveInterval{0, seconds};
}

std::string braid::formatSaveInterval(const SaveInterval &interval) {
  return interval.seconds > 0 ? formatExact(interval.seconds) + " s" : concat(interval.steps, " steps");
}
