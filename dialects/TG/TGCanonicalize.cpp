//===- TGCanonicalize.cpp - rewrites to a canonical form ------------------===//
//
// Folds (TGFolds.cpp) only replace an op by an existing value; these rewrites create
// new ops. Some start at ops of arith, which does not know tg, so they are registered
// with the tg op that they concern.
//
//===----------------------------------------------------------------------===//

#include "dialects/TG/TG.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/PatternMatch.h"

using namespace mlir;
using namespace braid::tg;

//===----------------------------------------------------------------------===//
// Transposes around contractions become other letters
//===----------------------------------------------------------------------===//

/// Returns the letters of a transpose's operand, given those of its result.
static std::string lettersBefore(TransposeOp transpose, StringRef letters) {
  std::string before(letters.size(), ' ');
  for (auto [index, dim] : llvm::enumerate(transpose.getPermutation()))
    before[dim] = letters[index];
  return before;
}

namespace {
/// contract(transpose(a), b) -> contract(a, b)
struct FoldTransposedOperand final : OpRewritePattern<ContractOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(ContractOp contract, PatternRewriter &rewriter) const final {
    auto lhs = contract.getLhs().getDefiningOp<TransposeOp>();
    auto rhs = contract.getRhs().getDefiningOp<TransposeOp>();
    if (!lhs && !rhs)
      return failure();
    ContractionAttr dims = contract.getContraction();
    std::string left = lhs ? lettersBefore(lhs, dims.getLhs()) : dims.getLhs().str();
    std::string right = rhs ? lettersBefore(rhs, dims.getRhs()) : dims.getRhs().str();
    rewriter.modifyOpInPlace(contract, [&] {
      contract.setContractionAttr(dims.withOperands(left, right));
      if (lhs)
        contract.getLhsMutable().assign(lhs.getInput());
      if (rhs)
        contract.getRhsMutable().assign(rhs.getInput());
    });
    return success();
  }
};

/// transpose(contract(a, b)) -> contract(a, b), if nothing else reads the contraction.
struct FoldTransposedResult final : OpRewritePattern<TransposeOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(TransposeOp transpose, PatternRewriter &rewriter) const final {
    auto contract = transpose.getInput().getDefiningOp<ContractOp>();
    if (!contract || !contract->hasOneUse())
      return failure();
    std::string result;
    for (int64_t dim : transpose.getPermutation())
      result += contract.getContraction().getResult()[dim];
    rewriter.replaceOpWithNewOp<ContractOp>(transpose, transpose.getType(),
                                            contract.getContraction().withResult(result), contract.getLhs(),
                                            contract.getRhs());
    return success();
  }
};
} // namespace

void ContractOp::getCanonicalizationPatterns(RewritePatternSet &patterns, MLIRContext *context) {
  patterns.add<FoldTransposedOperand, FoldTransposedResult>(context);
}

//===----------------------------------------------------------------------===//
// Sums of padded parts are concatenations
//===----------------------------------------------------------------------===//

/// Collects the pads of a sum, through additions without other readers. Fails if the sum has any other term.
static LogicalResult collectPads(Value value, bool isRoot, SmallVectorImpl<PadOp> &pads) {
  if (auto pad = value.getDefiningOp<PadOp>()) {
    pads.push_back(pad);
    return success(pad.getValue().isZero());
  }
  auto add = value.getDefiningOp<arith::AddFOp>();
  if (!add || (!isRoot && !add->hasOneUse()))
    return failure();
  return success(succeeded(collectPads(add.getLhs(), false, pads)) &&
                 succeeded(collectPads(add.getRhs(), false, pads)));
}

namespace {
/// pad(a) + pad(b) + ... -> concat(a, b, ...), if the parts are disjoint and cover the
/// tensor. Such sums are gradients of tensors that are read only in slices.
struct SumOfPadsIsConcat final : OpRewritePattern<arith::AddFOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(arith::AddFOp add, PatternRewriter &rewriter) const final {
    SmallVector<PadOp> pads;
    if (failed(collectPads(add.getResult(), true, pads)))
      return failure();
    llvm::stable_sort(pads, [](PadOp a, PadOp b) { return a.getLow() < b.getLow(); });
    int64_t dim = pads.front().getDim(), covered = 0;
    SmallVector<Value> parts;
    for (PadOp pad : pads) {
      if (static_cast<int64_t>(pad.getDim()) != dim || static_cast<int64_t>(pad.getLow()) != covered)
        return failure();
      covered += pad.getInput().getType().getDimSize(dim);
      parts.push_back(pad.getInput());
    }
    if (covered != cast<RankedTensorType>(add.getType()).getDimSize(dim))
      return failure();
    rewriter.replaceOpWithNewOp<ConcatOp>(add, add.getType(), parts, rewriter.getI64IntegerAttr(dim));
    return success();
  }
};
} // namespace

void PadOp::getCanonicalizationPatterns(RewritePatternSet &patterns, MLIRContext *context) {
  patterns.add<SumOfPadsIsConcat>(context);
}

//===----------------------------------------------------------------------===//
// Zeros
//===----------------------------------------------------------------------===//

namespace {
/// x + 0 -> x. Not exact for x = -0, so arith has no such fold. Gradients start from
/// zeros, and no training graph distinguishes -0 from 0.
struct AddZero final : OpRewritePattern<arith::AddFOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(arith::AddFOp add, PatternRewriter &rewriter) const final {
    for (auto [zero, other] : {std::pair(add.getLhs(), add.getRhs()), std::pair(add.getRhs(), add.getLhs())})
      if (matchPattern(zero, m_AnyZeroFloat())) {
        rewriter.replaceOp(add, other);
        return success();
      }
    return failure();
  }
};
} // namespace

void BroadcastOp::getCanonicalizationPatterns(RewritePatternSet &patterns, MLIRContext *context) {
  patterns.add<AddZero>(context);
}
