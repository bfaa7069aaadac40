//===- Recognize.cpp - composites that a framework spelled out ------------===//

#include "lib/Import/Recognize.h"

using namespace llvm;
using namespace mlir;
using namespace braid;

Recognized braid::recognize(func::FuncOp function, const KnownValues &known) {
  Recognized counts;
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
        replace("", op, patterns::meanLoss(op)) || replace("rotary embedding", op, patterns::rope(op, known)) ||
        replace("rotary embedding of a part", op, patterns::partialRope(op)) ||
        replace("attention by matmuls", op, patterns::attention(op, known));
  return counts;
}
