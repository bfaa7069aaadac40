//===- PositionRow.cpp - one position of a sequence -----------------------===//

#include "passes/FrontEnd/PositionRow.h"

using namespace mlir;
using namespace braid;

Value braid::extractRow(tg::TensorBuilder &b, Value tensor, unsigned leading, int64_t rows, Value position) {
  RankedTensorType type = tg::typeOf(tensor);
  Value row = b.at(b.reshape(tensor, {rows, type.getNumElements() / rows}), /*dim=*/0, position);
  SmallVector<int64_t> shape(type.getShape());
  std::fill_n(shape.begin(), leading, 1);
  return b.reshape(row, shape);
}

Value braid::extractedFrom(Operation *op, Value position) {
  auto gather = dyn_cast<tg::GatherOp>(op);
  return gather && stripReshapes(gather.getIndices()) == position ? gather.getTable() : Value();
}
