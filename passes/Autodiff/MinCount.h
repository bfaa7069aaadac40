//===- MinCount.h - divisor of a step without targets -----------*- C++ -*-===//
#ifndef BRAID_PASSES_AUTODIFF_MINCOUNT_H
#define BRAID_PASSES_AUTODIFF_MINCOUNT_H

#include "mlir/IR/Types.h"

namespace braid {

/// Weight of an ignored target, for losses that add other terms to a mean. Terms of a step are weighted by targets, so
/// without any target each term would be 0 divided by 0. With this weight they are averaged over positions instead.
/// Other steps keep their results bit for bit: the weights of all elements of a tensor add up to less than half of the
/// last digit of 1. The weight is a power of two, so scaling by it rounds nothing.
inline double minCount(mlir::Type element) { return element.isF64() ? 0x1p-110 : 0x1p-60; }

} // namespace braid

#endif // BRAID_PASSES_AUTODIFF_MINCOUNT_H
