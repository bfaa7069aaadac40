//===- Compare.h - comparison of results ------------------------*- C++ -*-===//
#ifndef BRAID_LIB_REFERENCE_COMPARE_H
#define BRAID_LIB_REFERENCE_COMPARE_H

#include "lib/Reference/Program.h"

namespace braid::reference {

/// Limit of |found - expected|: absolute + relative * max |expected|.
struct Tolerance {
  double relative = 1e-5, absolute = 0;
};

/// Returns the first difference as text; empty if there is none. An expected NaN counts
/// as a difference too, because it proves nothing.
std::string difference(const Tensor &expected, const Tensor &found, Tolerance tolerance);

/// Returns the greatest |found - expected| divided by the greatest |expected|.
double relativeError(const Tensor &expected, const Tensor &found);

/// Returns for each result of `expected` the number of its partner in `found`, or -1. The partner has
/// the same name. If one has no name, it has the same place among the results that are not updates.
std::vector<int64_t> matchResults(const Program &expected, const Program &found);

} // namespace braid::reference

#endif // BRAID_LIB_REFERENCE_COMPARE_H
