//===- LibrarySizes.h - size limits of libraries ----------------*- C++ -*-===//
#ifndef BRAID_PASSES_SELECT_LIBRARYSIZES_H
#define BRAID_PASSES_SELECT_LIBRARYSIZES_H

#include "lib/Target/TargetInfo.h"
#include <limits>

namespace braid {

constexpr int64_t kLargestLibraryNumber = std::numeric_limits<int32_t>::max();

/// Returns the first size of the call that its library cannot represent.
std::optional<exec::LibraryNumber> findTooLarge(exec::ActionOpInterface call, const TargetInfo &target);

} // namespace braid

#endif // BRAID_PASSES_SELECT_LIBRARYSIZES_H
