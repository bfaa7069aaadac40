//===- Compare.h - are two results the same? --------------------*- C++ -*-===//
#ifndef BRAID_LIB_REFERENCE_COMPARE_H
#define BRAID_LIB_REFERENCE_COMPARE_H

#include "lib/Reference/Program.h"

namespace braid::reference {

/// |found - expected| may be up to absolute + relative * max |expected|.
struct Tolerance {
  double relative = 1e-5, absolute = 0;
};

/// The first difference, as text; empty when there is none.  A NaN in what is
/// expected is a difference too: nothing can be learnt from it.
std::string difference(const Tensor &expected, const Tensor &found, Tolerance tolerance);

/// The greatest |found - expected| over the greatest |expected|.
double relativeError(const Tensor &expected, const Tensor &found);

/// For each result of `expected` the number of its partner in `found`, or -1:
/// the one of the same name, else, where one has no name, the one in the same
/// place among results that are not updates.
std::vector<int64_t> matchResults(const Program &expected, const Program &found);

} // namespace braid::reference

#endif // BRAID_LIB_REFERENCE_COMPARE_H
