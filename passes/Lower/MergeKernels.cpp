//===- MergeKernels.cpp - two kernels of one space become one -------------===//

#include "passes/Lower/MergeKernels.h"
#include "dialects/Exec/Views.h"
#include "passes/Lower/KernelNames.h"

using namespace mlir;
using namespace braid;

bool braid::isSameRead(Value a, Value b) {
  if (a == b)
    return true;
  auto left = a.getDefiningOp<exec::ViewOp>(), right = b.getDefiningOp<exec::ViewOp>();
  return left && right && a.getType() == b.getType() && left.getSource() == right.getSource() &&
         left.getOffset() == right.getOffset() && left.getStrides() == right.getStrides();
}

std::optional<unsigned> braid::resultRead(Value operand, exec::KernelOp kernel) {
  if (auto view = operand.getDefiningOp<exec::ViewOp>(); view && exec::isReshape(view))
    operand = view.getSource();
  auto result = dyn_cast<OpResult>(operand);
  if (!result || result.getOwner() != kernel)
    return std::nullopt;
  return result.getResultNumber();
}

/// True if something besides `reader` reads `value`, through views.
static bool isReadElsewhere(Value value, Operation *reader) {
  return llvm::any_of(value.getUsers(), [&](Operation *user) {
    return isa<exec::ViewOp>(user) ? isReadElsewhere(user->getResult(0), reader) : user != reader;
  });
}

namespace {
/// The kernel being made of two.
struct Merger {
  exec::KernelOp first, second;
  Region region;
  SmallVector<Value> operands;
  SmallVector<Value> yielded, replaced;

  void takeFirst();
  void takeSecond();
  exec::KernelOp finish();
};
} // namespace

void Merger::takeFirst() {
  region.takeBody(first.getBody());
  operands.assign(first.getIns().begin(), first.getIns().end());
  Operation *yield = region.front().getTerminator();
  for (auto [result, value] : llvm::zip(first.getResults(), yield->getOperands()))
    if (isReadElsewhere(result, second)) {
      yielded.push_back(value);
      replaced.push_back(result);
    }
}

void Merger::takeSecond() {
  Block &body = region.front(), &other = *second.getBlock();
  Operation *yield = body.getTerminator();
  for (auto [value, argument] : llvm::zip(second.getIns(), other.getArguments())) {
    if (auto result = resultRead(value, first)) {
      argument.replaceAllUsesWith(yield->getOperand(*result));
      continue;
    }
    auto *known = llvm::find_if(operands, [value = value](Value operand) { return isSameRead(operand, value); });
    unsigned index = known - operands.begin();
    if (known == operands.end()) {
      operands.push_back(value);
      body.addArgument(argument.getType(), argument.getLoc());
    }
    argument.replaceAllUsesWith(body.getArgument(index));
  }
  Operation *otherYield = other.getTerminator();
  for (auto [result, value] : llvm::zip(second.getResults(), otherYield->getOperands())) {
    yielded.push_back(value);
    replaced.push_back(result);
  }
  yield->erase();
  body.getOperations().splice(body.end(), other.getOperations(), other.begin(), Block::iterator(otherYield));
}

exec::KernelOp Merger::finish() {
  OpBuilder builder(second);
  Location loc = first.getLoc();
  auto merged =
      builder.create<exec::KernelOp>(loc, ValueRange(yielded).getTypes(), fusedName(first.getName(), second.getName()),
                                     operands, ValueRange(), first.getSpace());
  merged.getBody().takeBody(region);
  builder.setInsertionPointToEnd(merged.getBlock());
  builder.create<exec::YieldOp>(loc, yielded);
  for (auto [before, after] : llvm::zip(replaced, merged.getResults()))
    before.replaceAllUsesWith(after);
  return merged;
}

exec::KernelOp braid::mergeKernels(exec::KernelOp first, exec::KernelOp second) {
  Merger merger{first, second, {}, {}, {}, {}};
  merger.takeFirst();
  merger.takeSecond();
  return merger.finish();
}
