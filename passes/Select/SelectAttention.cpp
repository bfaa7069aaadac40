//===- SelectAttention.cpp - attention as calls ---------------------------===//

#include "dialects/Exec/Exec.h"
#include "dialects/TG/TG.h"
#include "lib/Target/TargetInfo.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#define GEN_PASS_DEF_SELECTATTENTIONPASS
#include "passes/Select/Passes.h"

using namespace mlir;
using namespace braid;

/// Returns why the target's library does not support attention of these operands; empty if it does.
template <typename Op> static std::string reasonAgainstLibrary(Op op, const TargetInfo &target) {
  RankedTensorType query = op.getQuery().getType(), key = op.getKey().getType();
  const auto &limits = target.attention;
  std::string reason;
  llvm::raw_string_ostream os(reason);
  int64_t size = query.getDimSize(3), positions = std::min(query.getDimSize(1), key.getDimSize(1));
  if (!limits.maxHeadSize)
    os << "target '" << target.name << "' has no library for attention";
  else if (!query.getElementType().isBF16())
    os << "its elements are " << query.getElementType() << ", but the library supports only bf16";
  else if (size > limits.maxHeadSize)
    os << "heads have size " << size << ", but the library supports at most " << limits.maxHeadSize;
  else if (size % limits.headSizeStep)
    os << "heads have size " << size << ", but the library supports only multiples of " << limits.headSizeStep;
  else if (positions < limits.minPositions)
    os << "the sequence has " << positions << " positions, but the library needs at least " << limits.minPositions;
  else if (op.getQueryStart())
    os << "the positions of its queries and keys are known only at run time, which the library does not support";
  else if (op.getMask().isBand())
    os << "its mask has a window or an offset, which the library does not support";
  else if (op.getSoftcap())
    os << "its scores are soft-capped, which the library does not support";
  else if (op.getDocuments())
    os << "its rows hold several documents, which the library does not support";
  return reason;
}

/// Returns why tiles do not support attention of these operands; empty if they do.
template <typename Op> static std::string reasonAgainstTiles(Op op, const TargetInfo &target) {
  RankedTensorType query = op.getQuery().getType();
  std::string reason;
  llvm::raw_string_ostream os(reason);
  if (!query.getElementType().isBF16() && !query.getElementType().isF32())
    os << "its elements are " << query.getElementType() << ", but tiles support only f32 and bf16";
  else if (query.getDimSize(3) > target.maxTileHeadSize)
    os << "heads have size " << query.getDimSize(3) << ", but tiles support at most " << target.maxTileHeadSize;
  return reason;
}

static UnitAttr tilesOf(OpBuilder &builder, bool tiles) { return tiles ? builder.getUnitAttr() : UnitAttr(); }

static Operation *createCall(OpBuilder &builder, tg::AttentionOp op, bool tiles) {
  return builder.create<exec::AttentionOp>(op.getLoc(), op->getResultTypes(), op.getQuery(), op.getKey(), op.getValue(),
                                           op.getDocuments(), op.getQueryStart(), op.getKeyStart(), ValueRange(),
                                           op.getScaleAttr(), op.getMaskAttr(), op.getSoftcapAttr(),
                                           tilesOf(builder, tiles));
}

static Operation *createCall(OpBuilder &builder, tg::AttentionGradOp op, bool tiles) {
  return builder.create<exec::AttentionGradOp>(
      op.getLoc(), op->getResultTypes(), op.getQuery(), op.getKey(), op.getValue(), op.getOutput(), op.getLse(),
      op.getGradient(), op.getDocuments(), op.getQueryStart(), op.getKeyStart(), ValueRange(), op.getScaleAttr(),
      op.getMaskAttr(), op.getSoftcapAttr(), tilesOf(builder, tiles),
      exec::SumOrderAttr::get(builder.getContext(), exec::SumOrder::Fixed));
}

namespace {
struct SelectAttentionPass : public braid::impl::SelectAttentionPassBase<SelectAttentionPass> {
  using SelectAttentionPassBase::SelectAttentionPassBase;

  void runOnOperation() final {
    const TargetInfo *info = targetOf(getOperation());
    if (method == AttentionMethod::Decompose)
      return;
    if (!info || failed(selectAll<tg::AttentionOp>(*info)) || failed(selectAll<tg::AttentionGradOp>(*info)))
      signalPassFailure();
  }

private:
  template <typename Op> LogicalResult selectAll(const TargetInfo &info) {
    SmallVector<Op> ops;
    getOperation().walk([&](Op op) { ops.push_back(op); });
    for (Op op : ops)
      if (failed(select(op, info)))
        return failure();
    return success();
  }

  template <typename Op> LogicalResult select(Op op, const TargetInfo &info) {
    std::string againstLibrary = reasonAgainstLibrary(op, info), againstTiles = reasonAgainstTiles(op, info);
    if (method == AttentionMethod::Library && !againstLibrary.empty())
      return op.emitError() << "no library call can compute this attention: " << againstLibrary;
    if (method == AttentionMethod::Tiles && !againstTiles.empty())
      return op.emitError() << "no tiles can compute this attention: " << againstTiles;
    bool tiles = method == AttentionMethod::Tiles || !againstLibrary.empty();
    if (tiles && !againstTiles.empty()) {
      op.emitRemark() << "decomposed: " << againstTiles << (info.attention.maxHeadSize ? "; " + againstLibrary : "");
      return success();
    }
    OpBuilder builder(op);
    Operation *call = createCall(builder, op, tiles);
    if (tiles)
      call->emitRemark() << "is computed by tiles, which keep the scores on chip"
                         << (method == AttentionMethod::Auto && info.attention.maxHeadSize ? ": " + againstLibrary
                                                                                           : "");
    else
      call->emitRemark() << "is a call of the library of target '" << info.name << "', which keeps the scores on chip";
    op->replaceAllUsesWith(call->getResults());
    op.erase();
    return success();
  }
};
} // namespace
