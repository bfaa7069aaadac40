//===- LossRows.cpp - losses that are sums over rows ----------------------===//

#include "passes/Memory/LossRows.h"
#include "dialects/TG/Facts.h"
#include "dialects/TG/TGBuilder.h"

using namespace mlir;
using namespace braid;

SmallVector<LossOpInterface> braid::lossesOf(func::FuncOp function) {
  SmallVector<LossOpInterface> losses;
  for (auto loss : function.getOps<LossOpInterface>()) {
    std::optional<tg::Phase> phase = tg::phaseOf(loss);
    bool isForward = !phase || *phase == tg::Phase::Forward;
    if (isForward && loss.isSumOrMean() && tg::typeOf(loss->getResult(0)).getNumElements() == 1 &&
        tg::typeOf(loss->getOperand(0)).getRank() > 1)
      losses.push_back(loss);
  }
  auto elements = [](LossOpInterface loss) { return tg::typeOf(loss->getOperand(0)).getNumElements(); };
  llvm::stable_sort(losses, [&](LossOpInterface a, LossOpInterface b) { return elements(a) > elements(b); });
  return losses;
}

int64_t braid::rowsOf(LossOpInterface loss) {
  RankedTensorType logits = tg::typeOf(loss->getOperand(0));
  return logits.getNumElements() / logits.getShape().back();
}
