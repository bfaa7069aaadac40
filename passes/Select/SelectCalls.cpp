//===- SelectCalls.cpp - library calls and views ---------------------------===//
//
// Replaces contractions, embeddings and data movement. Arithmetic and reductions stay for exec-form-kernels.
//
//===----------------------------------------------------------------------===//

#include "dialects/Exec/Views.h"
#include "dialects/TG/Facts.h"
#include "dialects/TG/TGBuilder.h"
#include "lib/Target/TargetInfo.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "passes/Base/Signature.h"
#include "passes/Select/InlineValues.h"
#define GEN_PASS_DEF_SELECTCALLSPASS
#include "passes/Select/Passes.h"
#include "passes/Select/SelectMatmul.h"
#include "passes/Select/SelectViews.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace braid;
using tg::typeOf;

//===----------------------------------------------------------------------===//
// Gradients of slices as a concat
//===----------------------------------------------------------------------===//

/// Collects the pads that a tree of additions sums; returns false if it sums anything else.
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

/// Returns the concat that equals a sum of pads, or null if they overlap.
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

/// Rewrites sums of zero-padded tensors that do not overlap as one concat: the gradient of a tensor with slices as
/// uses.
static void mergeSumsOfPads(func::FuncOp function) {
  // Visits additions from the end, so that a tree is seen at its root.
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

//===----------------------------------------------------------------------===//
// Selection
//===----------------------------------------------------------------------===//

/// Returns `value` contiguous in memory, as tables and indices must be.
static Value contiguous(OpBuilder &builder, Location loc, Value value) {
  if (exec::layoutOf(value).isContiguous())
    return value;
  return copyToMemory(builder, tg::withoutTensor(loc), "copy", value);
}

/// Returns indices as 32-bit integers for library calls.
static Value indices(OpBuilder &builder, Location loc, Value value) {
  auto type = RankedTensorType::get(typeOf(value).getShape(), builder.getI32Type());
  if (value.getType() != type)
    value = builder.create<tg::ConvertOp>(tg::withoutTensor(loc), type, value);
  return contiguous(builder, loc, value);
}

static Value selectPad(OpBuilder &builder, tg::PadOp pad) {
  RankedTensorType type = typeOf(pad.getInput());
  SmallVector<Value> parts;
  auto addBorder = [&](int64_t size) {
    if (size == 0)
      return;
    SmallVector<int64_t> shape(type.getShape());
    shape[pad.getDim()] = size;
    Type element = type.getElementType();
    double value = pad.getValue().convertToDouble();
    Attribute scalar = isa<FloatType>(element)
                           ? Attribute(builder.getFloatAttr(element, value))
                           : Attribute(builder.getIntegerAttr(element, static_cast<int64_t>(value)));
    parts.push_back(builder.create<arith::ConstantOp>(
        pad.getLoc(), DenseElementsAttr::get(RankedTensorType::get(shape, element), scalar)));
  };
  addBorder(pad.getLow());
  parts.push_back(pad.getInput());
  addBorder(pad.getHigh());
  if (parts.size() == 1)
    return parts[0];
  return builder.create<exec::ConcatOp>(pad.getLoc(), pad.getType(), parts, pad.getDim());
}

/// Returns the rows that a scatter sums, in bf16 if the target supports that.
static Value updatesOf(tg::ScatterAddOp scatter, const TargetInfo &info) {
  Value narrow = info.supportsF32Scatter ? wideningSource(scatter.getUpdates()) : Value();
  return narrow && scatter.getType().getElementType().isF32() ? narrow : scatter.getUpdates();
}

/// Returns the call or view for an op, or null if the op stays.
static Value select(OpBuilder &builder, Operation *op, const TargetInfo &info) {
  Location loc = op->getLoc();
  return TypeSwitch<Operation *, Value>(op)
      .Case([&](tg::ContractOp contract) -> Value { return selectMatmul(builder, contract); })
      .Case([&](tg::GatherOp gather) -> Value {
        return builder
            .create<exec::GatherOp>(loc, gather.getType(), contiguous(builder, loc, gather.getTable()),
                                    indices(builder, loc, gather.getIndices()), ValueRange())
            .getResult();
      })
      .Case([&](tg::ScatterAddOp scatter) -> Value {
        return builder
            .create<exec::ScatterAddOp>(loc, scatter.getType(), indices(builder, loc, scatter.getIndices()),
                                        contiguous(builder, loc, updatesOf(scatter, info)), Value(), ValueRange())
            .getResult();
      })
      .Case([&](tg::ConcatOp concat) -> Value {
        return builder.create<exec::ConcatOp>(loc, concat.getType(), concat.getInputs(), concat.getDim());
      })
      .Case([&](tg::PadOp pad) -> Value { return selectPad(builder, pad); })
      .Default([&](Operation *op) { return selectView(builder, op); });
}

namespace {
struct SelectCallsPass : public braid::impl::SelectCallsPassBase<SelectCallsPass> {
  using SelectCallsPassBase::SelectCallsPassBase;

  void runOnOperation() final {
    const TargetInfo *info = targetOf(getOperation());
    if (!info)
      return signalPassFailure();
    if (getOperation().isExternal())
      return;
    mergeSumsOfPads(getOperation());
    expandContractions();
    selectAll(*info);
    fuseIntoCalls(*info);
  }

private:
  Block &block() { return getOperation().getBody().front(); }

  void expandContractions() {
    for (auto contract : llvm::make_early_inc_range(block().getOps<tg::ContractOp>())) {
      OpBuilder builder(contract);
      if (Value value = expandContraction(builder, contract)) {
        contract.replaceAllUsesWith(value);
        contract.erase();
      }
    }
  }

  void selectAll(const TargetInfo &info) {
    for (Operation &op : llvm::make_early_inc_range(block())) {
      if (auto matmul = dyn_cast<exec::MatmulOp>(op)) {
        legalizeOperands(matmul);
        continue;
      }
      if (isOpTriviallyDead(&op)) {
        op.erase();
        continue;
      }
      OpBuilder builder(&op);
      if (Value value = select(builder, &op, info)) {
        op.getResult(0).replaceAllUsesWith(value);
        op.erase();
      }
    }
  }

  void fuseIntoCalls(const TargetInfo &info) {
    for (auto add : llvm::make_early_inc_range(block().getOps<arith::AddFOp>()))
      if (!fuseBias(add, info))
        fuseAccumulation(add);
    // Ops that a fused op duplicated may be dead now.
    eraseDeadOps(block());
  }
};
} // namespace
