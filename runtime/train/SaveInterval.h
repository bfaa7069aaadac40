//===- SaveInterval.h - how often a job saves -----------------------------===//
#ifndef BRAID_TRAIN_SAVEINTERVAL_H
#define BRAID_TRAIN_SAVEINTERVAL_H

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace braid {

// By steps or by time, of which one is 0; both are for a job that saves at its end alone.
struct SaveInterval {
  int64_t steps = 0;
  double seconds = 15 * 60;
};

// "500", "15m", "90s", "1.5h"; nothing for other texts.
std::optional<SaveInterval> parseSaveInterval(std::string_view text);

// "500 steps", "900 s".
std::string formatSaveInterval(const SaveInterval &interval);

} // namespace braid
#endif // BRAID_TRAIN_SAVEINTERVAL_H
