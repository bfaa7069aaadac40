//===- Divisors.h - numbers of ranks that divide a size ---------*- C++ -*-===//
#ifndef BRAID_DIALECTS_INTERFACES_DIVISORS_H
#define BRAID_DIALECTS_INTERFACES_DIVISORS_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include <cstdint>
#include <string>

namespace braid {

/// Returns the nearest numbers below and above `ranks`, and above 1, that divide one of the sizes.
llvm::SmallVector<int64_t, 2> nearestDivisors(llvm::ArrayRef<int64_t> sizes, int64_t ranks);

/// Returns alternatives for a size that does not divide: `4 divides 16 and 20, and 3 and 6 divide 18`.
std::string nearestDivisibleSizes(int64_t size, int64_t ranks);

/// Joins numbers with a word: `3 and 6`.
std::string joinNumbers(llvm::ArrayRef<int64_t> numbers, llvm::StringRef word);

} // namespace braid

#endif // BRAID_DIALECTS_INTERFACES_DIVISORS_H
