//===- Recognize.cpp - composites that a framework spelled out ------------===//

#include "lib/Import/Recognize.h"
#include "lib/Import/Match.h"
#include "llvm/ADT/STLExtras.h"

using namespace llvm;
using namespace mlir;
using namespace braid;

/// Moves factors of a loss, which is a sum or a mean, to what is summed: -mean(x) is mean(-x). The compiler splits a
/// sum or a mean over the batch, but nothing around it.
static void moveFactorsIntoLoss(func::FuncOp function) {
  for (OpOperand &result : function.getBody().front().getTerminator()->getOpOperands()) {
    if (tg::typeOf(result.get()).getRank() != 0 || !tg::isFloat(result.get()))
      continue;
    SmallVector<Operation *> factors;
    Value value = result.get();
    auto isConstant = [](Value value) { return match::splat(value).has_value(); };
    while (Operation *op = value.getDefiningOp()) {
      bool isFactor = isa<arith::NegFOp>(op) || (isa<arith::DivFOp>(op) && isConstant(op->getOperand(1))) ||
                      (isa<arith::MulFOp>(op) && (isConstant(op->getOperand(0)) || isConstant(op->getOperand(1))));
      if (!isFactor)
        break;
      factors.push_back(op);
      value = op->getOperand(isa<arith::MulFOp>(op) && isConstant(op->getOperand(0)) ? 1 : 0);
    }
    auto reduce = value.getDefiningOp<tg::ReduceOp>();
    if (!reduce || reduce.getKind() == tg::ReduceKind::Max || factors.empty())
      return;
    OpBuilder builder(factors.front());
    tg::TensorBuilder b(builder, factors.front()->getLoc());
    Value terms = reduce.getInput();
    for (Operation *op : reverse(factors)) {
      if (isa<arith::NegFOp>(op)) {
        terms = b.neg(terms);
        continue;
      }
      Value first = op->getOperand(0), number = isConstant(first) ? first : op->getOperand(1);
      Value wide = b.constantLike(terms, *match::splat(number));
      terms = isa<arith::DivFOp>(op) ? b.div(terms, wide) : b.mul(terms, wide);
    }
    result.set(b.reduce(reduce.getKind(), terms, reduce.getDims()));
    return;
  }
}

Recognized braid::recognizeIndices(func::FuncOp function) {
  SmallVector<Operation *> ops;
  function.walk([&](Operation *op) { ops.push_back(op); });
  for (Operation *op : ops)
    if (Value value = patterns::rowsByInput(op))
      op->getResult(0).replaceAllUsesWith(value);
  return {};
}

Recognized braid::recognize(func::FuncOp function, const KnownValues &known) {
  Recognized counts;
  RopeTables tables;
  SmallVector<Operation *> ops;
  function.walk([&](Operation *op) { ops.push_back(op); });
  auto replace = [&](StringRef name, Operation *op, Value value) {
    if (!value)
      return false;
    op->getResult(0).replaceAllUsesWith(value);
    if (!name.empty())
      ++counts[name];
    return true;
  };
  for (Operation *op : ops)
    replace("", op, patterns::mean(op)) || replace("layer norm", op, patterns::layerNorm(op)) ||
        replace("RMS norm", op, patterns::rmsNorm(op)) || replace("", op, patterns::normScale(op)) ||
        replace("", op, patterns::normBias(op)) || replace("GELU", op, patterns::gelu(op)) ||
        replace("SiLU", op, patterns::silu(op)) || replace("softmax", op, patterns::softmax(op)) ||
        replace("", op, patterns::rowsByInput(op)) || replace("cross entropy", op, patterns::crossEntropy(op)) ||
        replace("cross entropy", op, patterns::maskedCrossEntropy(op)) || replace("", op, patterns::meanLoss(op)) ||
        replace("rotary embedding", op, patterns::rope(op, known, tables)) ||
        replace("rotary embedding of a part", op, patterns::partialRope(op)) ||
        replace("attention by matmuls", op, patterns::attention(op, known));
  // Behind the patterns that have a sigmoid inside.
  for (Operation *op : ops)
    if (!op->use_empty())
      replace("", op, patterns::sigmoid(op));
  moveFactorsIntoLoss(function);
  return counts;
}
