//===- ContextParallel.cpp - attention over a sharded sequence ------------===//
//
// Where positions read others, ranks with parts of the sequence must exchange something.  Left to
// the sharding rules, what is read is gathered, and may then go round the ranks instead (comm-form-rings).  Or
// the ranks share out the heads for as long as positions read each other, and everything changes places twice.
//
//===----------------------------------------------------------------------===//

#include "dialects/Comm/Sharding.h"
#include "dialects/Comm/Zigzag.h"
#include "dialects/Interfaces/Divisors.h"
#include "dialects/Interfaces/Interfaces.h"
#include "lib/Memory/Size.h"
#include "lib/Sharding/AxisLists.h"
#include "lib/Sharding/FactorAxes.h"
#include "lib/Sharding/Zigzag.h"
#include "passes/Strategies/ContextCosts.h"
#include "passes/Strategies/OnlyMesh.h"
#include "passes/Strategies/Passes.h"
#include "llvm/Support/FormatVariadic.h"

namespace braid {
#define GEN_PASS_DEF_CONTEXTPARALLELPASS
#include "passes/Strategies/Passes.h.inc"
} // namespace braid

using namespace mlir;
using namespace braid;
using namespace braid::comm;

namespace {
/// The dims of the tensors of an op along which heads are apart; none in a tensor without them.
struct HeadDims {
  int64_t heads;
  SmallVector<std::optional<unsigned>> operands, results;
};

/// An op in which positions read earlier ones.
struct ContextOp {
  Operation *op;
  SequenceDims sequence;
  std::optional<HeadDims> heads;
};

struct ContextParallel final : braid::impl::ContextParallelPassBase<ContextParallel> {
  using ContextParallelPassBase::ContextParallelPassBase;

  void runOnOperation() final {
    if (failed(readOptions()))
      return signalPassFailure();
    findOps();
    FailureOr<ContextWay> way = how == ContextWay::Auto ? choose() : FailureOr<ContextWay>(how);
    if (failed(way) || failed(check(*way)))
      return signalPassFailure();
    FailureOr<bool> inZigzag = chooseOrder(*way);
    if (failed(inZigzag))
      return signalPassFailure();
    if (*way == ContextWay::Ring)
      getOperation()->setAttr(CommDialect::kRing, sequenceAxes);
    if (*inZigzag)
      getOperation()->setAttr(kZigzag, sequenceAxes);
    for (const ContextOp &found : ops) {
      if (*way == ContextWay::Ulysses)
        shareOutHeads(found);
      if (*way == ContextWay::Ring)
        keepBlocks(found);
    }
  }

private:
  LogicalResult readOptions();
  void findOps();
  FailureOr<ContextWay> choose();
  std::pair<Operation *, std::string> reasonAgainstZigzag();
  std::pair<Operation *, std::string> reasonAgainstRing();
  bool canUseRing();
  StringRef gatherOption();
  FailureOr<bool> chooseOrder(ContextWay way);
  LogicalResult check(ContextWay way);
  LogicalResult checkRing();
  LogicalResult checkHeads(const ContextOp &found);
  /// Whether the ranks divide its heads.
  bool fits(const ContextOp &found) const { return found.heads && found.heads->heads % mesh->sizeOf(allAxes) == 0; }
  void shareOutHeads(const ContextOp &found);
  void keepBlocks(const ContextOp &found);
  Value constrain(OpBuilder &builder, Value value, std::optional<unsigned> sequence, AxesAttr ofSequence,
                  std::optional<unsigned> head, AxesAttr ofHeads);

  FlatSymbolRefAttr symbol;
  std::optional<Mesh> mesh;
  FailureOr<Machine> machine;
  AxesAttr sequenceAxes, headAxes, allAxes, ofStages;
  AxesAttr positionAxes; ///< Of the sequence, with those behind.
  std::vector<ContextOp> ops;
  SmallVector<BlockwiseOpInterface> blockwise;
};
} // namespace

LogicalResult ContextParallel::readOptions() {
  FailureOr<GlobalMesh> found = onlyMesh(getOperation(), "comm-context-parallel");
  if (failed(found))
    return failure();
  symbol = found->symbol;
  mesh = found->mesh;
  sequenceAxes = axesNamed(&getContext(), *axes);
  headAxes = axesNamed(&getContext(), *otherHeadAxes);
  allAxes = joinAxes(headAxes, sequenceAxes);
  positionAxes = joinAxes(sequenceAxes, axesNamed(&getContext(), *behindAxes));
  ofStages = axesNamed(&getContext(), *stageAxes);
  machine = machineOf(getOperation());
  if (failed(machine))
    return failure();
  auto emitError = [&] { return getOperation().emitError() << "comm-context-parallel: "; };
  return success(succeeded(verifyAxes(emitError, *mesh, joinAxes(allAxes, ofStages))) &&
                 succeeded(verifyAxes(emitError, *mesh, positionAxes)));
}

//===----------------------------------------------------------------------===//
// Which ops
//===----------------------------------------------------------------------===//

/// The factor along which an op does the same for each, whatever reads other positions: it is
/// in every tensor of numbers with a sequence, and the first of its dim.
static std::optional<HeadDims> headDimsOf(Operation &op, const SequenceDims &sequence) {
  std::optional<ShardingRule> rule = shardingRuleOf(&op);
  auto find = [&](const ShardingRule::TensorFactors &tensor, unsigned factor) -> std::optional<unsigned> {
    for (auto [dim, factors] : llvm::enumerate(tensor))
      if (!factors.empty() && factors.front() == factor)
        return dim;
    return std::nullopt;
  };
  auto isOfNumbers = [](Value value) { return isa<FloatType>(getElementTypeOrSelf(value)); };
  for (unsigned factor = 0; rule && factor < rule->factors.size(); ++factor) {
    HeadDims dims{rule->factors[factor].size, {}, {}};
    bool isEverywhere = isShardable(rule->factors[factor]);
    auto visit = [&](ValueRange values, ArrayRef<ShardingRule::TensorFactors> tensors,
                     ArrayRef<std::optional<unsigned>> sequenceOf, SmallVectorImpl<std::optional<unsigned>> &found) {
      for (auto [value, tensor, position] : llvm::zip_equal(values, tensors, sequenceOf)) {
        found.push_back(find(tensor, factor));
        // The batch is the first dim; heads are behind the sequence or before it, but never there.
        isEverywhere &= !position || !isOfNumbers(value) || (found.back() && *found.back() != *position);
        isEverywhere &= !found.back() || *found.back() != 0;
      }
    };
    visit(op.getOperands(), rule->operands, sequence.operands, dims.operands);
    visit(op.getResults(), rule->results, sequence.results, dims.results);
    if (isEverywhere)
      return dims;
  }
  return std::nullopt;
}

void ContextParallel::findOps() {
  ops.clear();
  blockwise.clear();
  for (auto function : getOperation().getOps<func::FuncOp>()) {
    if (function.isExternal() || function->hasAttr(CommDialect::kProgram))
      continue;
    for (Operation &op : function.front()) {
      if (auto byBlocks = dyn_cast<BlockwiseOpInterface>(op))
        blockwise.push_back(byBlocks);
      auto causal = dyn_cast<CausalOpInterface>(op);
      std::optional<SequenceDims> sequence = causal ? causal.getSequenceDims() : std::nullopt;
      if (sequence && !sequence->past.empty())
        ops.push_back({&op, *sequence, headDimsOf(op, *sequence)});
    }
  }
}

//===----------------------------------------------------------------------===//
// Which way
//===----------------------------------------------------------------------===//

LogicalResult ContextParallel::checkHeads(const ContextOp &found) {
  if (fits(found))
    return success();
  int64_t ranks = mesh->sizeOf(allAxes);
  InFlightDiagnostic error = found.op->emitOpError();
  error << "cannot share out heads over " << allAxes.str() << ", " << ranks << " ranks: ";
  return found.heads ? error << "it has " << found.heads->heads
                             << " heads of keys and values, which these ranks do not divide; gather keys and values "
                                "instead ("
                             << gatherOption()
                             << (canUseRing() ? "), or let them go round a ring (--context=ring): " : "): ")
                             << nearestThatDivide(found.heads->heads, ranks)
                     : error << "it has no heads";
}

/// What sets the way that all models have, beside the order that was given.
StringRef ContextParallel::gatherOption() {
  return order == ContextOrder::Zigzag ? "--context=gather without --context-order=zigzag" : "--context=gather";
}

/// Why there can be no ring, and an op of which that is said, null for the program; empty if there can.
std::pair<Operation *, std::string> ContextParallel::reasonAgainstRing() {
  for (BlockwiseOpInterface op : blockwise)
    if (std::string reason = op.getReasonAgainstBlocks(); !reason.empty())
      return {op, reason};
  for (const ContextOp &found : ops)
    if (!isa<BlockwiseOpInterface>(found.op))
      return {found.op, "it needs all of the sequence at once"};
  return {nullptr, blockwise.empty() ? "no op reads a sequence block by block" : ""};
}

/// Whether a ring fits the order that was given, too.
bool ContextParallel::canUseRing() {
  return reasonAgainstRing().second.empty() && (order != ContextOrder::Zigzag || reasonAgainstZigzag().second.empty());
}

LogicalResult ContextParallel::checkRing() {
  auto [op, reason] = reasonAgainstRing();
  if (op)
    return op->emitOpError() << "cannot be computed in a ring over " << sequenceAxes.str() << ": " << reason
                             << "; gather the sequence instead (" << gatherOption() << ")";
  if (reason.empty())
    return success();
  return getOperation().emitError() << "nothing can go round a ring over " << sequenceAxes.str() << ": " << reason;
}

LogicalResult ContextParallel::check(ContextWay way) {
  if (way == ContextWay::Ring)
    return checkRing();
  return success(way != ContextWay::Ulysses ||
                 llvm::all_of(ops, [&](const ContextOp &found) { return succeeded(checkHeads(found)); }));
}

//===----------------------------------------------------------------------===//
// Which order
//===----------------------------------------------------------------------===//

static StringRef nameOf(ContextWay way) {
  return way == ContextWay::Ring ? "a ring" : way == ContextWay::Ulysses ? "changing places with heads" : "gathering";
}

/// Of the sequence of an op.
static int64_t positionsOf(const ContextOp &found) {
  for (auto [operand, dim] : llvm::zip_equal(found.op->getOperands(), found.sequence.operands))
    if (dim)
      return cast<RankedTensorType>(operand.getType()).getDimSize(*dim);
  llvm_unreachable("an op along a sequence has one");
}

/// Why a ring cannot be in zigzag, and an op of which that is said; empty if it can.
std::pair<Operation *, std::string> ContextParallel::reasonAgainstZigzag() {
  auto isCausal = [&](Operation *op) {
    return llvm::any_of(ops, [&](const ContextOp &found) { return found.op == op; });
  };
  for (BlockwiseOpInterface op : blockwise)
    if (!isCausal(op))
      return {op, "it reads later positions, too, so that all ranks have equally much in any order"};
  if (sequenceAxes.size() > 1)
    return {getOperation(), "more than one axis shards the sequence"};
  Zigzag zigzag{sequenceAxes.getNames().front(), mesh->sizeOf(sequenceAxes)};
  for (const ContextOp &found : ops)
    if (std::string problem = zigzag.problemOf(positionsOf(found), positionAxes, *mesh); !problem.empty())
      return {found.op, problem};
  return {};
}

/// Whether positions are in zigzag.
FailureOr<bool> ContextParallel::chooseOrder(ContextWay way) {
  if (order == ContextOrder::Straight)
    return false;
  if (way != ContextWay::Ring) {
    if (order == ContextOrder::Auto)
      return false;
    return getOperation().emitError() << "positions over " << sequenceAxes.str() << " are read by " << nameOf(way)
                                      << ", and only a ring can be in zigzag; "
                                      << (canUseRing() ? "add --context=ring, or leave " : "leave ")
                                      << "--context-order=zigzag out";
  }
  auto [op, reason] = reasonAgainstZigzag();
  if (reason.empty())
    return true;
  if (order == ContextOrder::Zigzag)
    return op->emitError() << "a ring over " << sequenceAxes.str() << " cannot be in zigzag: " << reason
                           << "; leave --context-order=zigzag out";
  op->emitRemark() << "a ring over " << sequenceAxes.str() << " has positions in order, not in zigzag: " << reason;
  return false;
}

//===----------------------------------------------------------------------===//
// The fastest way
//===----------------------------------------------------------------------===//

/// The fastest as predicted.  A ring is taken for as good as what is less than a twentieth faster and keeps more.
FailureOr<ContextWay> ContextParallel::choose() {
  if (ops.empty())
    return ContextWay::Gather;
  bool inZigzag = order != ContextOrder::Straight && reasonAgainstZigzag().second.empty();
  auto predict = [&](ContextWay way) {
    ContextCost sum;
    for (const ContextOp &found : ops)
      sum += costOf(way, inZigzag,
                    ContextWork::of(found.op, found.sequence, mesh->sizeOf(sequenceAxes),
                                    mesh->getNumRanks() / mesh->sizeOf(ofStages), machine->compute),
                    machine->compute, machine->linkOver(sequenceAxes, *mesh));
    return sum;
  };
  bool hasHeads = llvm::all_of(ops, [&](const ContextOp &found) { return fits(found); });
  bool hasBlocks = reasonAgainstRing().second.empty();
  ContextCost gather = predict(ContextWay::Gather), ring = predict(ContextWay::Ring),
              ulysses = predict(ContextWay::Ulysses);
  ContextWay way = hasBlocks && ring.seconds < gather.seconds * 1.05 ? ContextWay::Ring : ContextWay::Gather;
  if (hasHeads && ulysses.seconds < (way == ContextWay::Ring ? ring : gather).seconds)
    way = ContextWay::Ulysses;
  InFlightDiagnostic remark = ops.front().op->emitRemark();
  remark << "positions read those of other ranks along " << sequenceAxes.str() << " by " << nameOf(way)
         << (way == ContextWay::Ring && inZigzag ? " in zigzag" : "") << ": predicted are "
         << llvm::formatv("{0:f3}", gather.seconds * 1e3).str() << " ms a microbatch by gathering, which "
         << "keeps " << formatSize(gather.keptBytes);
  if (hasBlocks)
    remark << ", " << llvm::formatv("{0:f3}", ring.seconds * 1e3).str() << " in a ring";
  if (hasHeads)
    remark << ", " << llvm::formatv("{0:f3}", ulysses.seconds * 1e3).str() << " by heads";
  return way;
}

//===----------------------------------------------------------------------===//
// Heads instead of positions
//===----------------------------------------------------------------------===//

Value ContextParallel::constrain(OpBuilder &builder, Value value, std::optional<unsigned> sequence, AxesAttr ofSequence,
                                 std::optional<unsigned> head, AxesAttr ofHeads) {
  int64_t rank = cast<RankedTensorType>(value.getType()).getRank();
  SmallVector<AxesAttr> dims(rank, AxesAttr::get(&getContext(), {}, /*open=*/true));
  if (sequence)
    dims[*sequence] = ofSequence;
  if (head)
    dims[*head] = ofHeads;
  ShardingAttr sharding = ShardingAttr::replicated(symbol, rank).withDims(dims);
  return builder.create<ConstrainOp>(value.getLoc(), value, sharding, UnitAttr());
}

/// Blocks of a ring are those of the ranks along the sequence.  Where the axes behind do not divide the heads, they do
/// not get positions instead: their ranks compute the same.
void ContextParallel::keepBlocks(const ContextOp &found) {
  int64_t behind = mesh->sizeOf(positionAxes) / mesh->sizeOf(sequenceAxes);
  if (behind == 1 || (found.heads && found.heads->heads % behind == 0))
    return;
  Operation &op = *found.op;
  OpBuilder builder(&op);
  for (auto [operand, position] : llvm::zip_equal(op.getOpOperands(), found.sequence.operands))
    if (position)
      operand.set(constrain(builder, operand.get(), position, sequenceAxes, std::nullopt, {}));
  builder.setInsertionPointAfter(&op);
  for (auto [result, position] : llvm::zip_equal(op.getResults(), found.sequence.results))
    if (position && !result.use_empty()) {
      Value kept = constrain(builder, result, position, sequenceAxes, std::nullopt, {});
      result.replaceAllUsesExcept(kept, kept.getDefiningOp());
    }
}

void ContextParallel::shareOutHeads(const ContextOp &found) {
  Operation &op = *found.op;
  OpBuilder builder(&op);
  AxesAttr none = AxesAttr::get(&getContext());
  for (auto [operand, position, head] :
       llvm::zip_equal(op.getOpOperands(), found.sequence.operands, found.heads->operands))
    if (position)
      operand.set(constrain(builder, operand.get(), position, none, head, allAxes));
  builder.setInsertionPointAfter(&op);
  for (auto [result, position, head] : llvm::zip_equal(op.getResults(), found.sequence.results, found.heads->results))
    if (position && !result.use_empty()) {
      Value back = constrain(builder, result, position, sequenceAxes, head, headAxes);
      result.replaceAllUsesExcept(back, back.getDefiningOp());
    }
}
