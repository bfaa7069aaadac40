//===- Mix.h - rows of several sources by weight --------------------------===//
#ifndef BRAID_DATA_MIX_H
#define BRAID_DATA_MIX_H

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace braid {

// Maps a row number of a job to its source and to the number of earlier rows from that source. This depends
// on the row number only, so a resumed job needs no other state.
//
// Sources are split off one by one. If a source has the share p of what earlier sources leave, it gets
// floor(n p) of the first n rows left. So after any number of rows, each source is within a few rows of its
// share.
class Mix {
public:
  // Weights are above 0; their sum need not be 1.
  explicit Mix(std::span<const double> weights);

  struct Place {
    size_t source;
    int64_t number;
  };
  Place at(int64_t row) const;

private:
  // Share of what earlier sources leave, in units of 2^-32, so that products are exact.
  std::vector<uint64_t> shares;
};

} // namespace braid
#endif // BRAID_DATA_MIX_H
