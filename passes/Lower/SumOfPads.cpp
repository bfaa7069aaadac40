//===- SumOfPads.cpp - gradients of slices, put together ------------------===//

#include "passes/Lower/SumOfPads.h"
#include "dialects/TG/TG.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace braid;

/// Collects the pads that a tree of additions sums; false if it sums anything else.
static bool collectPads(Value value, SmallVectorImpl<tg::PadOp> &pads, bool isRoot) {
  if (!isRoot && !value.hasOneUse())
    return false;
  if (auto add = value.getDefiningOp<arith::AddFOp>())
    return collectPads(add.getLhs(), pads, false) && collectPads(add.getRhs(), pads, false);
  auto pad = value.getDefiningOp<tg::PadOp>();
  if (!pad || !pad.getValue().isZero())
    return false;
  pads.push_back(pad);
  return true;
}

/// The concat that equals a sum of pads, or null if they overlap.
static Value concatOf(OpBuilder &builder, arith::AddFOp add, SmallVectorImpl<tg::PadOp> &pads) {
  int64_t dim = pads[0].getDim(), position = 0;
  auto type = cast<RankedTensorType>(add.getType());
  llvm::stable_sort(pads, [](tg::PadOp a, tg::PadOp b) { return a.getLow() < b.getLow(); });
  for (tg::PadOp pad : pads) {
    if (static_cast<int64_t>(pad.getDim()) != dim || static_cast<int64_t>(pad.getLow()) < position)
      return {};
    position = pad.getLow() + pad.getInput().getType().getDimSize(dim);
  }
  SmallVector<Value> parts;
  position = 0;
  auto addZeros = [&](int64_t end) {
    if (end == position)
      return;
    SmallVector<int64_t> shape(type.getShape());
    shape[dim] = end - position;
    auto zeros = RankedTensorType::get(shape, type.getElementType());
    parts.push_back(builder.create<arith::ConstantOp>(add.getLoc(), cast<TypedAttr>(builder.getZeroAttr(zeros))));
  };
  for (tg::PadOp pad : pads) {
    addZeros(pad.getLow());
    parts.push_back(pad.getInput());
    position = pad.getLow() + pad.getInput().getType().getDimSize(dim);
  }
  addZeros(type.getDimSize(dim));
  return builder.create<tg::ConcatOp>(add.getLoc(), type, parts, dim);
}

void braid::mergeSumsOfPads(func::FuncOp function) {
  // From the end, so that a whole tree is seen at its root.
  SmallVector<arith::AddFOp> adds(function.getBody().front().getOps<arith::AddFOp>());
  for (arith::AddFOp add : llvm::reverse(adds)) {
    SmallVector<tg::PadOp> pads;
    if (add->use_empty() || !isa<RankedTensorType>(add.getType()) || !collectPads(add.getResult(), pads, true))
      continue;
    OpBuilder builder(add);
    if (Value concat = concatOf(builder, add, pads))
      add.replaceAllUsesWith(concat);
  }
}
