//===- Mix.cpp - rows of several sources by weight ------------------------===//

#include "data/Mix.h"

#include <algorithm>
#include <cmath>

using namespace braid;

static constexpr uint64_t one = uint64_t{1} << 32;

Mix::Mix(std::span<const double> weights) : shares(weights.size()) {
  // Only ratios matter, and sums of huge weights would overflow.
  const double maxWeight = weights.empty() ? 1 : *std::max_element(weights.begin(), weights.end());
  double left = 0;
  for (size_t i = weights.size(); i-- > 0;) {
    left += weights[i] / maxWeight;
    const double share = left > 0 ? weights[i] / maxWeight / left : 1;
    shares[i] = std::min(one, static_cast<uint64_t>(std::llround(share * static_cast<double>(one))));
  }
}

static int64_t rowsBefore(int64_t row, uint64_t share) {
  return static_cast<int64_t>(static_cast<unsigned __int128>(row) * share >> 32);
}

Mix::Place Mix::at(int64_t row) const {
  for (size_t source = 0; source + 1 < shares.size(); ++source) {
    const int64_t before = rowsBefore(row, shares[source]);
    if (rowsBefore(row + 1, shares[source]) > before)
      return {source, before};
    row -= before;
  }
  return {shares.empty() ? 0 : shares.size() - 1, row};
}
