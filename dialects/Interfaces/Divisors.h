//===- Divisors.h - sizes that ranks divide, for messages -------*- C++ -*-===//
#ifndef BRAID_DIALECTS_INTERFACES_DIVISORS_H
#define BRAID_DIALECTS_INTERFACES_DIVISORS_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include <cstdint>
#include <string>

namespace braid {

/// The nearest numbers of ranks below and above `ranks` that divide one of the sizes; a single rank is none.
llvm::SmallVector<int64_t, 2> nearestDivisors(llvm::ArrayRef<int64_t> sizes, int64_t ranks);

/// For a size that does not divide, what would: `4 divides 16 and 20, and 3 and 6 divide 18`.
std::string nearestThatDivide(int64_t size, int64_t ranks);

/// `3 and 6`.
std::string joinNumbers(llvm::ArrayRef<int64_t> numbers, llvm::StringRef word);

} // namespace braid

#endif // BRAID_DIALECTS_INTERFACES_DIVISORS_H
