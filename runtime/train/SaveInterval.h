//===- SaveInterval.h - how often a job saves -----------------------------===//
#ifndef BRAID_TRAIN_SAVEINTERVAL_H
#define BRAID_TRAIN_SAVEINTERVAL_H

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace braid {

// An interval in steps or in seconds; the other field is 0. If both are 0, the job saves only at its end.
struct SaveInterval {
  int64_t steps = 0;
  double seconds = 15 * 60;
};

// Parses "500", "15m", "90s" or "1.5h"; returns nothing for other texts.
std::optional<SaveInterval> parseSaveInterval(std::string_view text);

// Formats as "500 steps" or "900 s".
std::string formatSaveInterval(const SaveInterval &interval);

} // namespace braid
#endif // BRAID_TRAIN_SAVEINTERVAL_H
