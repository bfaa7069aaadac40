//===- Mix.h - rows of several sources in given proportions ---------------===//
#ifndef BRAID_DATA_MIX_H
#define BRAID_DATA_MIX_H

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace braid {

// Says of each row of a job which source it is from and how many rows of that source came
// before it: a function of the row's number alone, so a resumed job needs no more than that.
//
// Sources are split off one by one.  Of the first n rows that are left to it, a source with the
// share p of what is left has floor(n p), so after any number of rows each source is within a
// few rows of its share.
class Mix {
public:
  // Weights are above 0 and need not have the sum 1.
  explicit Mix(std::span<const double> weights);

  struct Place {
    size_t source;
    int64_t number;
  };
  Place at(int64_t row) const;

private:
  // Of what the sources in front leave; in 2^-32, so that products are exact.
  std::vector<uint64_t> shares;
};

} // namespace braid
#endif // BRAID_DATA_MIX_H
