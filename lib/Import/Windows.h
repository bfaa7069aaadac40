//===- Windows.h - windows that move over the last dims ---------*- C++ -*-===//
//
// A window of k numbers that moves over a tensor is k parts of it: the i-th part has the i-th number of each window, as
// a slice with the window's stride. Convolutions and pools are formulas of these parts.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_LIB_IMPORT_WINDOWS_H
#define BRAID_LIB_IMPORT_WINDOWS_H

#include "dialects/TG/TGBuilder.h"
#include "llvm/Support/Error.h"

namespace braid {

/// A window over one dim, after `low` and `high` elements were added at its ends.
struct Window {
  int64_t size = 1, stride = 1, dilation = 1, low = 0, high = 0;

  int64_t reach() const { return dilation * (size - 1) + 1; }
  /// Returns the number of windows in a dim of this size, below 1 if it has none.
  int64_t count(int64_t elements) const { return (elements + low + high - reach()) / stride + 1; }
  /// Whether each element is in exactly one window.
  bool tiles(int64_t elements) const {
    return stride == size && dilation == 1 && low == 0 && high == 0 && elements % size == 0;
  }
};
/// Upper limit of the numbers that describe a window, so that their products and sums fit.
inline constexpr int64_t kMostSize = int64_t(1) << 30;
using Windows = llvm::SmallVector<Window, 3>;

/// Returns the shape with the number of windows in place of the last dims.
llvm::Expected<llvm::SmallVector<int64_t>> shapeOfWindows(llvm::ArrayRef<int64_t> shape, const Windows &windows);

/// Returns the parts of a tensor, in the order of the numbers of a window. Elements at the ends are `value`. There may
/// be at most kMostParts.
llvm::Expected<llvm::SmallVector<mlir::Value>> partsOf(tg::TensorBuilder &b, mlir::Value a, const Windows &windows,
                                                       double value);
inline constexpr int64_t kMostParts = 256;

} // namespace braid

#endif // BRAID_LIB_IMPORT_WINDOWS_H
