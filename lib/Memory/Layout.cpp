//===- Layout.cpp - strided layouts and views of them ---------------------===//
//
// The position of an element in row-major order is written in digits, one for each dim
// of a tensor (mixed radix). A view that never carries from one digit into the next has
// strides over any layout of that tensor.
//
//===----------------------------------------------------------------------===//

#include "lib/Memory/Layout.h"
#include "llvm/ADT/STLExtras.h"

using namespace braid;
using llvm::ArrayRef;
using llvm::SmallVector;

Layout Layout::contiguous(ArrayRef<int64_t> shape) {
  Layout layout;
  layout.strides.assign(shape.size(), 1);
  for (int64_t dim = static_cast<int64_t>(shape.size()) - 2; dim >= 0; --dim)
    layout.strides[dim] = layout.strides[dim + 1] * shape[dim + 1];
  return layout;
}

bool Layout::isContiguous(ArrayRef<int64_t> shape) const {
  int64_t expected = 1;
  for (int64_t dim = static_cast<int64_t>(shape.size()) - 1; dim >= 0; --dim) {
    if (shape[dim] != 1 && strides[dim] != expected)
      return false;
    expected *= shape[dim];
  }
  return true;
}

namespace {
/// One digit of a position. `weight` is its value in row-major order; `stride` is the
/// distance of its steps in memory.
struct Digit {
  int64_t size, weight, stride;
};
} // namespace

/// Joins digits, given from the most significant on, that are one strided walk through memory.
static SmallVector<Digit> mergeStrides(ArrayRef<Digit> digits) {
  SmallVector<Digit> result;
  for (const Digit &digit : digits) {
    if (digit.size == 1)
      continue;
    if (!result.empty() && result.back().stride == digit.size * digit.stride &&
        result.back().weight == digit.size * digit.weight)
      result.back() = {result.back().size * digit.size, digit.weight, digit.stride};
    else
      result.push_back(digit);
  }
  return result;
}

/// Returns the layout of a tensor whose element i is at position `offset` + Σ i_d
/// strides[d], for positions with these digits.
static std::optional<Layout> layoutOfDigits(ArrayRef<Digit> digits, int64_t base, ArrayRef<int64_t> shape,
                                            int64_t offset, ArrayRef<int64_t> strides) {
  Layout layout;
  layout.offset = base;
  SmallVector<int64_t> largest;
  for (const Digit &digit : digits) {
    int64_t value = offset / digit.weight;
    offset -= value * digit.weight;
    layout.offset += value * digit.stride;
    largest.push_back(value);
  }
  if (offset != 0)
    return std::nullopt;
  for (auto [size, stride] : llvm::zip(shape, strides)) {
    if (size == 1 || stride == 0) {
      layout.strides.push_back(stride);
      continue;
    }
    const auto *digit = llvm::find_if(digits, [&, stride = stride](const Digit &d) { return d.weight <= stride; });
    if (stride < 0 || digit == digits.end() || stride % digit->weight != 0)
      return std::nullopt;
    layout.strides.push_back(stride / digit->weight * digit->stride);
    largest[digit - digits.begin()] += (size - 1) * (stride / digit->weight);
  }
  for (auto [digit, value] : llvm::zip(digits, largest))
    if (value >= digit.size)
      return std::nullopt;
  return layout;
}

std::optional<Layout> braid::composeView(ArrayRef<int64_t> sourceShape, const Layout &source,
                                         ArrayRef<int64_t> viewShape, int64_t viewOffset,
                                         ArrayRef<int64_t> viewStrides) {
  SmallVector<Digit> digits;
  Layout rowMajor = Layout::contiguous(sourceShape);
  for (auto [size, weight, stride] : llvm::zip(sourceShape, rowMajor.strides, source.strides))
    digits.push_back({size, weight, stride});
  return layoutOfDigits(mergeStrides(digits), source.offset, viewShape, viewOffset, viewStrides);
}

std::optional<Layout> braid::invertView(ArrayRef<int64_t> sourceShape, ArrayRef<int64_t> viewShape, int64_t viewOffset,
                                        ArrayRef<int64_t> viewStrides, const Layout &view) {
  SmallVector<Digit> digits;
  for (auto [size, weight, stride] : llvm::zip(viewShape, viewStrides, view.strides))
    if (size != 1)
      digits.push_back({size, weight, stride});
  llvm::stable_sort(digits, [](const Digit &a, const Digit &b) { return a.weight > b.weight; });
  // The view is one-to-one and onto if its dims are the digits of a number that counts all elements of the source.
  int64_t count = 1;
  for (const Digit &digit : llvm::reverse(digits)) {
    if (digit.weight != count)
      return std::nullopt;
    count *= digit.size;
  }
  int64_t elements = 1;
  for (int64_t size : sourceShape)
    elements *= size;
  if (viewOffset != 0 || count != elements)
    return std::nullopt;
  return layoutOfDigits(mergeStrides(digits), view.offset, sourceShape, 0, Layout::contiguous(sourceShape).strides);
}
