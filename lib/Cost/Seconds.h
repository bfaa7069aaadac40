//===- Seconds.h - formatting of predicted times ----------------*- C++ -*-===//
#ifndef BRAID_LIB_COST_SECONDS_H
#define BRAID_LIB_COST_SECONDS_H

#include "llvm/Support/FormatVariadic.h"

namespace braid {

/// Returns "12.5 us", for times that are compared in one message.
inline std::string formatMicroseconds(double seconds) { return llvm::formatv("{0:F1} us", seconds * 1e6); }

} // namespace braid

#endif // BRAID_LIB_COST_SECONDS_H
