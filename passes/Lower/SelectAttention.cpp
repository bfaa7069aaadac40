//===- SelectAttention.cpp - attention as library calls -------------------===//

#include "dialects/Exec/Exec.h"
#include "dialects/TG/TG.h"
#include "lib/Target/TargetInfo.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "passes/Lower/Passes.h"

namespace braid {
#define GEN_PASS_DEF_SELECTATTENTIONPASS
#include "passes/Lower/Passes.h.inc"
} // namespace braid

using namespace mlir;
using namespace braid;

/// Why the target's library does not take attention of these operands; empty if it
/// does.
template <typename Op> static std::string reasonAgainst(Op op, const TargetInfo &target) {
  RankedTensorType query = op.getQuery().getType(), key = op.getKey().getType();
  std::string reason;
  llvm::raw_string_ostream os(reason);
  int64_t size = query.getDimSize(3), positions = std::min(query.getDimSize(1), key.getDimSize(1));
  if (!target.attention.maxHeadSize)
    os << "target '" << target.name << "' has no library for it";
  else if (!query.getElementType().isBF16() && !(target.attention.takesF32 && query.getElementType().isF32()))
    os << "its elements are " << query.getElementType() << ", but the library takes "
       << (target.attention.takesF32 ? "f32 and bf16" : "bf16");
  else if (size > target.attention.maxHeadSize)
    os << "heads have size " << size << ", but the library takes " << target.attention.maxHeadSize << " at most";
  else if (size % target.attention.headSizeStep)
    os << "heads have size " << size << ", but the library takes multiples of " << target.attention.headSizeStep;
  else if (positions < target.attention.minPositions)
    os << "the sequence has " << positions << " positions, but the library takes " << target.attention.minPositions
       << " at least";
  else if (!target.attention.takesBands && op.getMask().isBand())
    os << "its mask has a window or an offset, which the library does not take";
  else if (!target.attention.takesSoftcap && op.getSoftcap())
    os << "its scores are soft-capped, which the library does not do";
  else if (!target.attention.takesDocuments && op.getDocuments())
    os << "its rows hold several documents, which the library does not keep apart";
  return reason;
}

static Operation *createCall(OpBuilder &builder, tg::AttentionOp op) {
  return builder.create<exec::AttentionOp>(op.getLoc(), op->getResultTypes(), op.getQuery(), op.getKey(), op.getValue(),
                                           op.getDocuments(), ValueRange(), op.getScaleAttr(), op.getMaskAttr(),
                                           op.getSoftcapAttr());
}

static Operation *createCall(OpBuilder &builder, tg::AttentionGradOp op) {
  return builder.create<exec::AttentionGradOp>(
      op.getLoc(), op->getResultTypes(), op.getQuery(), op.getKey(), op.getValue(), op.getOutput(), op.getLse(),
      op.getGradient(), op.getDocuments(), ValueRange(), op.getScaleAttr(), op.getMaskAttr(), op.getSoftcapAttr(),
      exec::SumOrderAttr::get(builder.getContext(), exec::SumOrder::Fixed));
}

namespace {
struct SelectAttentionPass : public braid::impl::SelectAttentionPassBase<SelectAttentionPass> {
  using SelectAttentionPassBase::SelectAttentionPassBase;

  void runOnOperation() final {
    const TargetInfo *info = targetOf(getOperation());
    if (!info || failed(selectAll<tg::AttentionOp>(*info)) || failed(selectAll<tg::AttentionGradOp>(*info)))
      signalPassFailure();
  }

private:
  template <typename Op> LogicalResult selectAll(const TargetInfo &info) {
    SmallVector<Op> ops;
    getOperation().walk([&](Op op) { ops.push_back(op); });
    for (Op op : ops) {
      std::string reason = reasonAgainst(op, info);
      if (!reason.empty() && required)
        return op.emitError() << "no library call can do this attention: " << reason;
      if (!reason.empty()) {
        op.emitRemark() << "decomposed: " << reason;
        continue;
      }
      OpBuilder builder(op);
      Operation *call = createCall(builder, op);
      call->emitRemark() << "is a call of the library of target '" << info.name << "', which keeps the scores on chip";
      op->replaceAllUsesWith(call->getResults());
      op.erase();
    }
    return success();
  }
};
} // namespace
