//===- SelectViews.cpp - data movement as views ---------------------------===//

#include "passes/Select/SelectViews.h"
#include "dialects/TG/TG.h"
#include "dialects/TG/TGBuilder.h"
#include "passes/Select/InlineValues.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace braid;
using exec::ViewCoordinates;
using tg::typeOf;

Value braid::broadcastAsView(OpBuilder &builder, Value value) {
  auto broadcast = value.getDefiningOp<tg::BroadcastOp>();
  if (!broadcast || isInlined(broadcast.getInput()))
    return value;
  RankedTensorType source = broadcast.getInput().getType(), type = typeOf(value);
  ViewCoordinates at{0, SmallVector<int64_t>(type.getRank(), 0)};
  SmallVector<int64_t> strides = exec::rowMajor(source.getShape());
  for (auto [dim, size, stride] : llvm::zip(broadcast.getDims(), source.getShape(), strides))
    at.strides[dim] = size == type.getDimSize(dim) ? stride : 0;
  return createView(builder, broadcast.getLoc(), broadcast.getInput(), type, at);
}

Value braid::createView(OpBuilder &builder, Location loc, Value value, RankedTensorType type,
                        const ViewCoordinates &at) {
  value = broadcastAsView(builder, value);
  if (auto inner = value.getDefiningOp<exec::ViewOp>()) {
    ViewCoordinates innerAt{static_cast<int64_t>(inner.getOffset()), SmallVector<int64_t>(inner.getStrides())};
    if (auto composed = exec::composeViews(inner.getType().getShape(), innerAt, type.getShape(), at))
      return builder.createOrFold<exec::ViewOp>(loc, type, inner.getSource(), composed->offset, composed->strides);
    value = copyToMemory(builder, loc, "copy", value);
  }
  return builder.createOrFold<exec::ViewOp>(loc, type, value, at.offset, at.strides);
}

Value braid::transposed(OpBuilder &builder, Location loc, Value value, ArrayRef<int64_t> permutation) {
  RankedTensorType type = typeOf(value);
  SmallVector<int64_t> strides = exec::rowMajor(type.getShape()), shape;
  ViewCoordinates at;
  for (int64_t dim : permutation) {
    shape.push_back(type.getDimSize(dim));
    at.strides.push_back(strides[dim]);
  }
  return createView(builder, loc, value, RankedTensorType::get(shape, type.getElementType()), at);
}

static Value selectSlice(OpBuilder &builder, tg::SliceOp op) {
  RankedTensorType source = typeOf(op.getInput());
  ViewCoordinates at{0, exec::rowMajor(source.getShape())};
  int64_t &stride = at.strides[op.getDim()];
  at.offset = op.getOffset() * stride;
  stride *= op.getStride();
  return createView(builder, op.getLoc(), op.getInput(), typeOf(op.getResult()), at);
}

Value braid::selectView(OpBuilder &builder, Operation *op) {
  return TypeSwitch<Operation *, Value>(op)
      .Case([&](tg::SliceOp slice) { return selectSlice(builder, slice); })
      .Case([&](tg::TransposeOp transpose) {
        return transposed(builder, op->getLoc(), transpose.getInput(), transpose.getPermutation());
      })
      .Case([&](tg::ReshapeOp reshape) {
        RankedTensorType type = typeOf(reshape.getResult());
        return createView(builder, op->getLoc(), reshape.getInput(), type, {0, exec::rowMajor(type.getShape())});
      })
      .Default([](Operation *) { return Value(); });
}
