//===- LeastCount.h - the divisor of a step without targets -----*- C++ -*-===//
#ifndef BRAID_PASSES_GRAPH_LEASTCOUNT_H
#define BRAID_PASSES_GRAPH_LEASTCOUNT_H

#include "mlir/IR/Types.h"

namespace braid {

/// The weight of an ignored target where other terms are added to a mean of losses.  Terms of a step are
/// weighted by targets, so without any target each would be weighted by 0 and divided by 0.  With this weight they are
/// averaged over positions instead, and any other step has the same numbers to the last bit: so many of them
/// as a tensor has elements are below half of the last digit of 1.  A power of two, so scaling rounds nothing.
inline double leastCount(mlir::Type element) { return element.isF64() ? 0x1p-110 : 0x1p-60; }

} // namespace braid

#endif // BRAID_PASSES_GRAPH_LEASTCOUNT_H
