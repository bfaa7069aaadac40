//===- RowPitch.cpp - rows that begin at aligned addresses ----------------===//

#include "lib/Memory/RowPitch.h"
#include "lib/Memory/Reads.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace braid;
using namespace braid::exec;

/// Bytes of a row for each byte of the gap behind it, at least.
static constexpr int64_t kRowBytesPerGap = 16;

//===----------------------------------------------------------------------===//
// The rule
//===----------------------------------------------------------------------===//

/// From one row to the next; `row` itself where there should be no gap.
static int64_t pitchOf(int64_t row, int64_t rowAlignment) {
  if (row % kLeastRowAlignment == 0)
    return row;
  for (int64_t alignment = rowAlignment; alignment >= kLeastRowAlignment; alignment /= 2)
    if (int64_t pitch = llvm::alignTo(row, alignment); pitch - row <= row / kRowBytesPerGap)
      return pitch;
  return row;
}

std::optional<Layout> braid::layoutWithPitch(RankedTensorType type, int64_t rowAlignment) {
  if (type.getRank() < 2 || type.getNumElements() <= type.getShape().back())
    return std::nullopt;
  int64_t length = type.getShape().back(), element = elementBytes(type.getElementType());
  int64_t pitch = pitchOf(length * element, rowAlignment) / element;
  if (pitch == length)
    return std::nullopt;
  // Dims of size 1 have the strides that views give them.
  Layout layout = Layout::contiguous(type.getShape());
  for (auto [size, stride] : llvm::zip(type.getShape().drop_back(), llvm::drop_end(layout.strides)))
    if (size != 1)
      stride = stride / length * pitch;
  return layout;
}

int64_t braid::gapBytes(RankedTensorType type, const Layout &layout) {
  int64_t elements = 1;
  for (auto [size, stride] : llvm::zip(type.getShape(), layout.strides))
    if (size != 1)
      elements = std::max(elements, size * stride);
  return (elements - type.getNumElements()) * elementBytes(type.getElementType());
}

//===----------------------------------------------------------------------===//
// Who takes it
//===----------------------------------------------------------------------===//

/// Whether what reads `value` with this layout, or views of it, takes the gaps.
static bool readersTake(Value value, const Layout &layout) {
  return llvm::all_of(value.getUses(), [&](OpOperand &use) {
    if (auto view = dyn_cast<ViewOp>(use.getOwner())) {
      auto inner = composeView(view.getSource().getType().getShape(), layout, view.getType().getShape(),
                               view.getOffset(), view.getStrides());
      return inner && readersTake(view.getResult(), *inner);
    }
    auto reader = dyn_cast<ActionOpInterface>(readerOf(use));
    unsigned in = use.getOperandNumber();
    return reader && reader.readsRows(in) && reader.mayReadStrided(in, layout.strides);
  });
}

bool braid::takesPitch(OpResult value, const Layout &layout) {
  auto writer = cast<ActionOpInterface>(cast<ActionOpInterface>(value.getOwner()).getActionBegin());
  unsigned number = value.getResultNumber();
  return writer.writesRows(number) && writer.mayWriteStrided(number, layout.strides) && readersTake(value, layout);
}
