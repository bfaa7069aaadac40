//===- LeadingDimPadding.cpp - pads rows to aligned addresses -------------===//

#include "lib/Memory/LeadingDimPadding.h"
#include "lib/Memory/Reads.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace braid;
using namespace braid::exec;

/// Minimum ratio of the bytes of a row to those of its padding.
static constexpr int64_t kRowBytesPerPaddingByte = 16;

//===----------------------------------------------------------------------===//
// Padded layouts
//===----------------------------------------------------------------------===//

/// Returns the bytes of a padded row; `row` itself if it should not be padded.
static int64_t paddedRowBytes(int64_t row, int64_t rowAlignment) {
  if (row % kMinRowAlignment == 0)
    return row;
  for (int64_t alignment = rowAlignment; alignment >= kMinRowAlignment; alignment /= 2)
    if (int64_t padded = llvm::alignTo(row, alignment); padded - row <= row / kRowBytesPerPaddingByte)
      return padded;
  return row;
}

bool braid::canAlignRows(int64_t bytes, const TargetInfo &target) {
  return bytes == 0 || (bytes >= kMinRowAlignment && bytes <= target.alignment && llvm::isPowerOf2_64(bytes));
}

FailureOr<int64_t> braid::rowAlignmentOf(int64_t requested, const TargetInfo &target, Location loc) {
  if (requested < 0)
    return target.rowAlignment;
  if (!canAlignRows(requested, target))
    return emitError(loc) << "invalid row alignment " << requested << ": expected a power of two from "
                          << kMinRowAlignment << " to the " << target.alignment
                          << " bytes at which buffers begin, or 0 for none";
  return requested;
}

std::optional<Layout> braid::paddedLayout(RankedTensorType type, int64_t rowAlignment) {
  if (type.getRank() < 2 || type.getNumElements() <= type.getShape().back())
    return std::nullopt;
  int64_t length = type.getShape().back(), element = elementBytes(type.getElementType());
  int64_t leadingDim = paddedRowBytes(length * element, rowAlignment) / element;
  if (leadingDim == length)
    return std::nullopt;
  // Dims of size 1 keep their contiguous strides, as in views.
  Layout layout = Layout::contiguous(type.getShape());
  for (auto [size, stride] : llvm::zip(type.getShape().drop_back(), llvm::drop_end(layout.strides)))
    if (size != 1)
      stride = stride / length * leadingDim;
  return layout;
}

int64_t braid::paddingBytes(RankedTensorType type, const Layout &layout) {
  int64_t elements = 1;
  for (auto [size, stride] : llvm::zip(type.getShape(), layout.strides))
    if (size != 1)
      elements = std::max(elements, size * stride);
  return (elements - type.getNumElements()) * elementBytes(type.getElementType());
}

//===----------------------------------------------------------------------===//
// Values that accept padding
//===----------------------------------------------------------------------===//

/// Returns whether all readers of `value` with this layout, and of its views, accept padded rows.
static bool readersAccept(Value value, const Layout &layout) {
  return llvm::all_of(value.getUses(), [&](OpOperand &use) {
    if (auto view = dyn_cast<ViewOp>(use.getOwner())) {
      auto inner = composeView(view.getSource().getType().getShape(), layout, view.getType().getShape(),
                               view.getOffset(), view.getStrides());
      return inner && readersAccept(view.getResult(), *inner);
    }
    auto reader = dyn_cast<ActionOpInterface>(readerOf(use));
    unsigned in = use.getOperandNumber();
    return reader && reader.readsRows(in) && reader.mayReadStrided(in, layout.strides);
  });
}

bool braid::acceptsPaddedRows(OpResult value, const Layout &layout) {
  auto writer = cast<ActionOpInterface>(cast<ActionOpInterface>(value.getOwner()).getActionBegin());
  unsigned number = value.getResultNumber();
  return writer.writesRows(number) && writer.mayWriteStrided(number, layout.strides) && readersAccept(value, layout);
}
