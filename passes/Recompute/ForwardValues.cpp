//===- ForwardValues.cpp - values of forward that backward reads ----------===//

#include "passes/Recompute/ForwardValues.h"
#include "dialects/Comm/Comm.h"
#include "dialects/Interfaces/Interfaces.h"
#include "dialects/TG/Facts.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "passes/Base/Signature.h"

using namespace mlir;
using namespace braid;

bool braid::isTransparent(Operation *op) {
  return numericKindOf(op) == NumericKind::Movement && op->getNumOperands() == 1;
}

static StringAttr forwardUnitOf(Operation *op) { return tg::unitOf(tg::factsOf(op)); }

static Value stripViews(Value value) {
  while (Operation *op = value.getDefiningOp()) {
    if (!isTransparent(op))
      break;
    value = op->getOperand(0);
  }
  return value;
}

/// Ranks that run one program execute its collectives in the same order.
static bool isRunByAllRanks(func::FuncOp program) {
  auto ranks = program->getAttrOfType<comm::ProgramAttr>(comm::CommDialect::kProgram);
  return ranks && !ranks.getAxis();
}

ForwardValues::ForwardValues(func::FuncOp program) : isOfAllRanks(isRunByAllRanks(program)) {
  DenseSet<Value> ofBatch;
  for (BlockArgument argument : program.getArguments())
    if (!parameterOf(argument))
      ofBatch.insert(argument);
  for (Operation &op : program.front().without_terminator())
    if (tg::phaseOf(&op) == tg::Phase::Forward &&
        llvm::any_of(op.getOperands(), [&](Value operand) { return ofBatch.contains(operand); })) {
      ops.insert(&op);
      ofBatch.insert(op.result_begin(), op.result_end());
    }
  for (Operation &op : program.front()) {
    std::optional<tg::Phase> phase = tg::phaseOf(&op);
    for (Value operand : op.getOperands()) {
      if (!contains(operand))
        continue;
      Operation *source = stripViews(operand).getDefiningOp();
      if (op.hasTrait<OpTrait::IsTerminator>() || phase == tg::Phase::Update)
        returned.insert(operand);
      else if (phase == tg::Phase::Backward)
        read.insert(operand);
      else if (contains(source) && forwardUnitOf(source) != forwardUnitOf(&op))
        escaping.insert(source);
    }
  }
  for (Operation *op : ops)
    if (StringAttr unit = forwardUnitOf(op); unit && escaping.contains(op))
      lastEscaping[unit] = op;
}

bool ForwardValues::isOfInnerUnit(Operation *op) const {
  StringAttr unit = forwardUnitOf(op);
  Operation *last = unit ? lastEscaping.lookup(unit) : nullptr;
  return last && !last->isBeforeInBlock(op);
}

bool ForwardValues::mayRepeat(Operation *op) const {
  if (op->getNumRegions() != 0)
    return false;
  if (auto collective = dyn_cast<comm::CollectiveOpInterface>(op))
    return isOfAllRanks && !collective.getReductionKind() && op->getNumResults() != 0;
  return isMemoryEffectFree(op);
}
