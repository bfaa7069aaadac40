//===- Recompute.cpp - what backward computes again -----------------------===//
//
// Which values are kept, KeptValues says; everything else that backward reads is computed from
// them right before its first reader, by copies of the ops of forward.
//
//===----------------------------------------------------------------------===//

#include "dialects/TG/Facts.h"
#include "dialects/TG/Replays.h"
#include "lib/Schedule/Forward.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/IRMapping.h"
#include "passes/Recompute/KeptValues.h"
#include "passes/Recompute/Passes.h"
#include "passes/Recompute/ReplayPrices.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/Support/FormatVariadic.h"

namespace braid {
#define GEN_PASS_DEF_RECOMPUTEPASS
#include "passes/Recompute/Passes.h.inc"
} // namespace braid

using namespace mlir;
using namespace braid;

namespace {
/// Makes the replays of a program.
class Replays {
public:
  Replays(func::FuncOp program, const ForwardValues &values, const KeptValues &kept)
      : program(program), values(values), kept(kept) {}

  void make();
  ArrayRef<Operation *> getRepeated() const { return repeated; }

private:
  Value valueFor(Operation *reader, Value value);
  Operation *repeat(Operation *op, Operation *before);

  func::FuncOp program;
  const ForwardValues &values;
  const KeptValues &kept;
  DenseMap<Operation *, Operation *> replays;
  /// In the order in which backward comes to them.
  SmallVector<Operation *> repeated;
};
} // namespace

/// What backward reads for a value of forward: the same, or the result of a replay.
Value Replays::valueFor(Operation *reader, Value value) {
  Operation *op = value.getDefiningOp();
  if (!values.contains(op) || !kept.isReplayed(op))
    return value;
  return repeat(op, reader)->getResult(cast<OpResult>(value).getResultNumber());
}

Operation *Replays::repeat(Operation *op, Operation *before) {
  if (Operation *replay = replays.lookup(op))
    return replay;
  IRMapping operands;
  for (Value operand : op->getOperands())
    operands.map(operand, valueFor(before, operand));
  OpBuilder builder(before);
  Operation *replay = builder.clone(*op, operands);
  replay->setLoc(tg::withPhase(op->getLoc(), tg::Phase::Backward));
  IntegerAttr number = builder.getI64IntegerAttr(repeated.size());
  op->setAttr(tg::kRepeated, number);
  replay->setAttr(tg::kReplays, number);
  repeated.push_back(op);
  return replays[op] = replay;
}

void Replays::make() {
  SmallVector<Operation *> readers;
  for (Operation &op : program.front().without_terminator())
    if (tg::phaseOf(&op) == tg::Phase::Backward)
      readers.push_back(&op);
  for (Operation *reader : readers)
    for (OpOperand &operand : reader->getOpOperands())
      operand.set(valueFor(reader, operand.get()));
}

//===----------------------------------------------------------------------===//
// Remarks
//===----------------------------------------------------------------------===//

namespace {
/// Of a unit.
struct Kept {
  int64_t values = 0, bytes = 0, replays = 0;
  double seconds = 0;
};
} // namespace

static void remarkOnUnits(func::FuncOp program, const ForwardValues &values, const KeptValues &kept,
                          ArrayRef<Operation *> repeated, const ComputeRates &rates) {
  llvm::MapVector<StringAttr, Kept> units;
  for (Operation *op : values.getOps())
    for (OpResult result : op->getResults())
      if (kept.isKept(result)) {
        Kept &unit = units[tg::unitOf(tg::factsOf(op))];
        ++unit.values;
        unit.bytes += bytesOf(result.getType());
      }
  for (Operation *op : repeated)
    if (!isSeenThrough(op)) {
      Kept &unit = units[tg::unitOf(tg::factsOf(op))];
      ++unit.replays;
      unit.seconds += secondsOf(op, rates);
    }
  for (auto &[name, unit] : units) {
    InFlightDiagnostic remark = emitRemark(program.getLoc()) << "@" << program.getName() << ": ";
    (name ? remark << "unit " << name : remark << "the root unit")
        << " keeps " << unit.values << " values of " << unit.bytes << " bytes for backward, which replays "
        << unit.replays << " ops in " << llvm::formatv("{0:F1} us", unit.seconds * 1e6).str();
  }
}

namespace {
struct RecomputePass final : braid::impl::RecomputePassBase<RecomputePass> {
  using RecomputePassBase::RecomputePassBase;

  void runOnOperation() final {
    func::FuncOp program = getOperation();
    if (policy == RecomputePolicy::None || program.isExternal() || !isTraining(program))
      return markAllAnalysesPreserved();
    const TargetInfo *target = targetOf(program);
    if (!target)
      return signalPassFailure();
    ComputeRates rates = ComputeRates::of(*target);
    ForwardValues values(program);
    ReplayPrices prices(values, policy, bytesPerSecond, rates);
    KeptValues kept(values, [&](Operation *op) { return prices.of(op); });
    Replays replays(program, values, kept);
    replays.make();
    remarkOnUnits(program, values, kept, replays.getRepeated(), rates);
  }
};
} // namespace
