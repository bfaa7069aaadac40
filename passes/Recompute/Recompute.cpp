//===- Recompute.cpp - recompute values in backward -----------------------===//
//
// A minimum cut chooses the values to keep. All other values that backward reads are computed from them right before
// their first reader, by clones of forward ops.
//
//===----------------------------------------------------------------------===//

#include "dialects/Interfaces/Interfaces.h"
#include "dialects/TG/Facts.h"
#include "dialects/TG/Replays.h"
#include "lib/Cost/Cost.h"
#include "lib/Input/Statements.h"
#include "lib/Schedule/Forward.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/IRMapping.h"
#include "passes/Recompute/ForwardValues.h"
#include "passes/Recompute/MinCut.h"
#define GEN_PASS_DEF_RECOMPUTEPASS
#include "passes/Recompute/Passes.h"
#include "passes/Recompute/ReplayPrices.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/MapVector.h"

using namespace mlir;
using namespace braid;

//===----------------------------------------------------------------------===//
// Values kept
//===----------------------------------------------------------------------===//

namespace {
/// Chooses, for each value that backward needs, whether it is kept or computed again, so that the sum of
/// the bytes of kept values and the prices of replays is minimal.
///
/// The choice is a minimum cut of a graph. A replayed op, and a value that backward needs, are on the sink's
/// side. The edges are:
/// - from the source to each op, with the price of its replay;
/// - from each op to its value, with the value's bytes: a needed value is kept unless its op is replayed;
/// - from each operand to its op, uncuttable: a replayed op needs its operands.
/// Of the minimum cuts it uses the one with the fewest replays.
class KeptValues {
public:
  KeptValues(const ForwardValues &values, const ReplayPrices &prices);

  bool isReplayed(Operation *op) const { return cut.isOnSinkSide(nodes.lookup(op)); }
  /// Whether the value is needed and its op is not replayed.
  bool isKept(Value value) const;

private:
  const ForwardValues &values;
  MinCut cut;
  DenseMap<Operation *, unsigned> nodes;
  DenseMap<Value, unsigned> nodesOfValues;
};
} // namespace

/// Returns the cost of keeping a value, in bytes. It is 0 if the value lives anyway. A view is kept by keeping its
/// source.
static int64_t bytesToKeep(OpResult value, const ForwardValues &values, const ReplayPrices &prices, bool mayReplay) {
  Operation *op = value.getOwner();
  if (mayReplay && prices.mustReplay(op))
    return MinCut::kUnbounded;
  if (values.isReturned(value))
    return 0;
  return mayReplay && isTransparent(op) ? MinCut::kUnbounded : bytesOf(value.getType());
}

KeptValues::KeptValues(const ForwardValues &values, const ReplayPrices &prices) : values(values) {
  unsigned source = cut.addNode(), sink = cut.addNode();
  for (Operation *op : values.getOps()) {
    unsigned node = nodes[op] = cut.addNode();
    std::optional<int64_t> price = prices.of(op).bytes;
    cut.addEdge(source, node, price.value_or(MinCut::kUnbounded));
    for (OpResult result : op->getResults()) {
      unsigned value = nodesOfValues[result] = cut.addNode();
      cut.addEdge(node, value, bytesToKeep(result, values, prices, price.has_value()));
      if (values.isRead(result))
        cut.addEdge(value, sink, MinCut::kUnbounded);
    }
    for (Value operand : op->getOperands())
      if (values.contains(operand))
        cut.addEdge(nodesOfValues.lookup(operand), node, MinCut::kUnbounded);
  }
  cut.solve(source, sink);
}

bool KeptValues::isKept(Value value) const {
  return values.contains(value) && cut.isOnSinkSide(nodesOfValues.lookup(value)) && !isReplayed(value.getDefiningOp());
}

//===----------------------------------------------------------------------===//
// Replays
//===----------------------------------------------------------------------===//

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
  remark() << "keeps " << nameOfForward(op) << ", " << bytes << " bytes, instead of a replay of "
           << formatMicroseconds(seconds.of(op)) << ": " << prices.of(op).reason;
}

void Remarks::addReplayed(Operation *op) {
  if (isTransparent(op))
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
