//===- ZeroRows.cpp - rows of zeros after weights -------------------------===//

#include "lib/Memory/ZeroRows.h"
#include "lib/Memory/LeadingDimPadding.h"

using namespace mlir;
using namespace braid;

std::optional<unsigned> braid::operandOfColumns(exec::MatmulOp matmul) {
  StringRef left = matmul.getContraction().getLhs(), right = matmul.getContraction().getRhs();
  StringRef result = matmul.getContraction().getResult();
  if (!matmul.isPlain() || matmul.getAccumulator() || result.empty())
    return std::nullopt;
  char columns = result.back();
  if (left.contains(columns) == right.contains(columns))
    return std::nullopt;
  unsigned operand = left.contains(columns) ? 0 : 1;
  return (operand == 0 ? left : right).front() == columns ? std::optional(operand) : std::nullopt;
}

int64_t braid::zeroBytesBehind(exec::MatmulOp matmul, unsigned operand, int64_t rowAlignment) {
  auto result = cast<RankedTensorType>(matmul.getResult().getType());
  std::optional<Layout> layout = paddedLayout(result, rowAlignment);
  if (!layout)
    return 0;
  int64_t columns = result.getShape().back(), pitch = 0;
  for (auto [size, stride] : llvm::zip(result.getShape().drop_back(), layout->strides))
    if (size != 1)
      pitch = stride; // the last one is the distance between rows
  auto rows = cast<RankedTensorType>(matmul->getOperand(operand).getType());
  return (pitch - columns) * rows.getNumElements() / rows.getShape().front() * elementBytes(rows.getElementType());
}
