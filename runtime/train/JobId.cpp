//===- JobId.cpp - the id of a job ----------------------------------------===//

#include "train/JobId.h"

#include "base/Checksum.h"
#include "core/Agree.h"

#include <array>
#include <random>

using namespace braid;

static uint64_t draw() {
  std::random_device random; // from the system
  return static_cast<uint64_t>(random()) << 32 | random();
}

// Shares 16 bits per value, because `agree` returns maxima; ranks other than the first contribute 0.
std::string braid::agreeOnJobId(Model &model, const std::string &saved) {
  std::array<int32_t, agreeValues> values{};
  constexpr int parts = 4;
  static_assert(parts <= agreeValues);
  if (model.rank().isFirst()) {
    const uint64_t id = saved.empty() ? draw() : parseChecksum(saved).value_or(0);
    for (int i = 0; i < parts; ++i)
      values[i] = static_cast<int32_t>(id >> (16 * i) & 0xffff);
  }
  values = agree(model, values);
  uint64_t id = 0;
  for (int i = 0; i < parts; ++i)
    id |= static_cast<uint64_t>(values[i]) << (16 * i);
  return checksumText(id);
}
