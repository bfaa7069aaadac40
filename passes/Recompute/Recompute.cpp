//===- Recompute.cpp - recompute values in backward -----------------------===//
//
// KeptValues chooses the values to keep. All other values that backward reads are computed from them right before
// their first reader, by clones of forward ops.
//
//===----------------------------------------------------------------------===//

#include "dialects/TG/Facts.h"
#include "dialects/TG/Replays.h"
#include "lib/Cost/Seconds.h"
#include "lib/Input/Statements.h"
#include "lib/Schedule/Forward.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/IRMapping.h"
#include "passes/Recompute/KeptValues.h"
#include "passes/Recompute/Passes.h"
#include "passes/Recompute/ReplayPrices.h"
#include "llvm/ADT/MapVector.h"

namespace braid {
#define GEN_PASS_DEF_RECOMPUTEPASS
#include "passes/Recompute/Passes.h.inc"
} // namespace braid

using namespace mlir;
using namespace braid;

namespace {
/// Builds the replays of a program.
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
  /// Replayed ops, in the order in which backward needs them.
  SmallVector<Operation *> repeated;
};
} // namespace

/// Returns the value that backward reads for a forward value: the value itself, or the result of a replay.
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
/// Totals of a unit.
struct Kept {
  int64_t values = 0, bytes = 0, replays = 0;
  double seconds = 0;
};

/// Reports what is kept and what is replayed, for each value and in sum for each unit.
class Remarks {
public:
  Remarks(func::FuncOp program, const ReplayPrices &prices, const OpSeconds &seconds)
      : program(program), prices(prices), seconds(seconds) {}

  void addKept(OpResult value);
  void addReplayed(Operation *op);
  void emitUnits();

private:
  InFlightDiagnostic remark() { return emitRemark(program.getLoc()) << "@" << program.getName() << ": "; }
  Kept &unitOf(Operation *op) { return units[tg::unitOf(tg::factsOf(op))]; }

  func::FuncOp program;
  const ReplayPrices &prices;
  const OpSeconds &seconds;
  llvm::MapVector<StringAttr, Kept> units;
};
} // namespace

void Remarks::addKept(OpResult value) {
  Operation *op = value.getOwner();
  int64_t bytes = bytesOf(value.getType());
  Kept &unit = unitOf(op);
  ++unit.values;
  unit.bytes += bytes;
  remark() << "keeps " << nameOfForward(op) << ", " << bytes << " bytes, which a replay would take "
           << formatMicroseconds(seconds.of(op)) << " for: " << prices.of(op).reason;
}

void Remarks::addReplayed(Operation *op) {
  if (isSeenThrough(op))
    return;
  double replaySeconds = seconds.of(op);
  Kept &unit = unitOf(op);
  ++unit.replays;
  unit.seconds += replaySeconds;
  remark() << "replays " << nameOfForward(op) << ", " << bytesOf(op->getResultTypes()) << " bytes, in "
           << formatMicroseconds(replaySeconds) << ": " << prices.of(op).reason;
}

void Remarks::emitUnits() {
  for (auto &[name, unit] : units) {
    InFlightDiagnostic diagnostic = remark();
    (name ? diagnostic << "unit " << name : diagnostic << "the root unit")
        << " keeps " << unit.values << " values of " << unit.bytes << " bytes for backward, which replays "
        << unit.replays << " ops in " << formatMicroseconds(unit.seconds);
  }
}

namespace {
struct RecomputePass final : braid::impl::RecomputePassBase<RecomputePass> {
  using RecomputePassBase::RecomputePassBase;

  LogicalResult initialize(MLIRContext *context) final {
    llvm::Expected<std::string> text = readStatements("", choicesFile);
    if (!text)
      return emitError(UnknownLoc::get(context)) << "tg-recompute: " << llvm::toString(text.takeError());
    FailureOr<ReplayChoices> read = ReplayChoices::parse(std::move(*text), choicesFile, context);
    if (failed(read))
      return failure();
    parsed = std::move(*read);
    return success();
  }

  void runOnOperation() final {
    func::FuncOp program = getOperation();
    if (program.isExternal() || !isTraining(program))
      return markAllAnalysesPreserved();
    bool hasMarks = llvm::any_of(program.getOps(), [](Operation &op) { return op.hasAttr(tg::kKept); });
    if (policy == RecomputePolicy::None && parsed.isEmpty() && !hasMarks)
      return markAllAnalysesPreserved();
    FailureOr<Machine> machine = machineOf(program);
    ForwardValues values(program);
    if (failed(machine) || failed(parsed.check(program, values)))
      return signalPassFailure();
    OpSeconds seconds(*machine);
    ReplayPrices prices(values, policy, {bytesPerSecond, units, restBytesPerSecond}, parsed, seconds);
    KeptValues kept(values, prices);
    Replays replays(program, values, kept);
    replays.make();
    Remarks remarks(program, prices, seconds);
    for (Operation *op : values.getOps())
      for (OpResult result : op->getResults())
        if (kept.isKept(result))
          remarks.addKept(result);
    for (Operation *op : replays.getRepeated())
      remarks.addReplayed(op);
    remarks.emitUnits();
  }

private:
  ReplayChoices parsed;
};
} // namespace
