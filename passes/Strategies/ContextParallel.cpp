//===- ContextParallel.cpp - attention over a sharded sequence ------------===//
//
// Ranks with parts of a sequence must exchange data where positions read other positions. By default, sharding rules
// gather the operands, and comm-form-rings may replace the gather by a ring. Alternatively, the ranks shard the heads
// in these ops, with an exchange of positions and heads before and after.
//
//===----------------------------------------------------------------------===//

#include "dialects/Comm/Sharding.h"
#include "dialects/Comm/Zigzag.h"
#include "dialects/Interfaces/Divisors.h"
#include "dialects/Interfaces/Interfaces.h"
#include "lib/Memory/Size.h"
#include "lib/Sharding/AxisLists.h"
#include "lib/Sharding/DimFlow.h"
#include "lib/Sharding/FactorAxes.h"
#include "lib/Sharding/Zigzag.h"
#include "passes/Strategies/ContextCosts.h"
#include "passes/Strategies/OnlyMesh.h"
#define GEN_PASS_DEF_CONTEXTPARALLELPASS
#include "passes/Strategies/Passes.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace braid;
using namespace braid::comm;

namespace {
/// An op whose positions read earlier positions.
struct ContextOp {
  Operation *op;
  SequenceDims sequence;
  std::optional<FactorDims> heads; ///< The factor along which heads are independent.
};

struct ContextParallel final : braid::impl::ContextParallelPassBase<ContextParallel> {
  using ContextParallelPassBase::ContextParallelPassBase;

  void runOnOperation() final {
    if (failed(readOptions()))
      return signalPassFailure();
    findOps();
    FailureOr<ContextMethod> method = how == ContextMethod::Auto ? choose() : FailureOr<ContextMethod>(how);
    if (failed(method) || failed(check(*method)))
      return signalPassFailure();
    FailureOr<bool> inZigzag = chooseOrder(*method);
    if (failed(inZigzag))
      return signalPassFailure();
    if (*method == ContextMethod::Ring)
      getOperation()->setAttr(CommDialect::kRing, sequenceAxes);
    if (*inZigzag)
      getOperation()->setAttr(kZigzag, sequenceAxes);
    for (const ContextOp &found : ops) {
      if (*method == ContextMethod::Ulysses)
        distributeHeads(found);
      if (*method == ContextMethod::Ring)
        keepBlocks(found);
    }
  }

private:
  LogicalResult readOptions();
  void findOps();
  FailureOr<ContextMethod> choose();
  std::pair<Operation *, std::string> reasonAgainstZigzag();
  std::pair<Operation *, std::string> reasonAgainstRing();
  bool canUseRing();
  StringRef gatherOption();
  FailureOr<bool> chooseOrder(ContextMethod method);
  LogicalResult check(ContextMethod method);
  LogicalResult checkRing();
  LogicalResult checkHeads(const ContextOp &found);
  static int64_t numHeads(const ContextOp &found) { return found.heads->getFactor().size; }
  /// Whether the ranks divide the op's heads.
  bool fits(const ContextOp &found) const { return found.heads && numHeads(found) % mesh->sizeOf(allAxes) == 0; }
  void distributeHeads(const ContextOp &found);
  void keepBlocks(const ContextOp &found);
  Value constrain(OpBuilder &builder, Value value, std::optional<unsigned> sequence, AxesAttr ofSequence,
                  std::optional<unsigned> head, AxesAttr ofHeads);

  FlatSymbolRefAttr symbol;
  std::optional<Mesh> mesh;
  FailureOr<Machine> machine;
  AxesAttr sequenceAxes, headAxes, allAxes, ofStages;
  AxesAttr positionAxes; ///< Axes of the sequence, and the axes behind them.
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
// Ops to shard
//===----------------------------------------------------------------------===//

/// Returns the dims of the factor along which the op works independently, the heads. It is in every float tensor with
/// a sequence, and it is the first factor of its dim.
static std::optional<FactorDims> headDimsOf(Operation &op, const SequenceDims &sequence) {
  std::optional<ShardingRule> rule = shardingRuleOf(&op);
  auto isFloatTensor = [](Value value) { return isa<FloatType>(getElementTypeOrSelf(value)); };
  // The batch is the first dim. Heads are before or behind the sequence, but never in that dim or dim 0.
  auto areHeads = [&](ValueRange values, ArrayRef<std::optional<unsigned>> heads,
                      ArrayRef<std::optional<unsigned>> sequenceOf) {
    return llvm::all_of(llvm::zip_equal(values, heads, sequenceOf), [&](auto tuple) {
      auto [value, head, position] = tuple;
      return head != 0u && (!position || !isFloatTensor(value) || (head && head != position));
    });
  };
  for (unsigned factor = 0; rule && factor < rule->factors.size(); ++factor) {
    FactorDims dims = FactorDims::along(*rule, factor);
    if (isShardable(dims.getFactor()) && dims.areOutermost() &&
        areHeads(op.getOperands(), dims.operands, sequence.operands) &&
        areHeads(op.getResults(), dims.results, sequence.results))
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
// Choice of the method
//===----------------------------------------------------------------------===//

LogicalResult ContextParallel::checkHeads(const ContextOp &found) {
  if (fits(found))
    return success();
  int64_t ranks = mesh->sizeOf(allAxes);
  InFlightDiagnostic error = found.op->emitOpError();
  error << "cannot share out heads over " << allAxes.str() << ", " << ranks << " ranks: ";
  return found.heads
             ? error << "it has " << numHeads(found)
                     << " heads of keys and values, which the ranks do not divide; gather keys and values instead ("
                     << gatherOption() << (canUseRing() ? "), or use a ring (--context=ring): " : "): ")
                     << nearestDivisibleSizes(numHeads(found), ranks)
             : error << "it has no heads";
}

/// Returns the options for gather, which every model supports, given the requested order.
StringRef ContextParallel::gatherOption() {
  return order == ContextOrder::Zigzag ? "--context=gather without --context-order=zigzag" : "--context=gather";
}

/// Returns the reason against a ring and the op that it concerns (null for the program). The reason is empty if a ring
/// is possible.
std::pair<Operation *, std::string> ContextParallel::reasonAgainstRing() {
  for (BlockwiseOpInterface op : blockwise)
    if (std::string reason = op.getReasonAgainstBlocks(); !reason.empty())
      return {op, reason};
  for (const ContextOp &found : ops)
    if (!isa<BlockwiseOpInterface>(found.op))
      return {found.op, "it needs all of the sequence at once"};
  return {nullptr, blockwise.empty() ? "no op reads a sequence block by block" : ""};
}

/// Whether a ring is possible, also in the requested order.
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
  return getOperation().emitError() << "no op can use a ring over " << sequenceAxes.str() << ": " << reason;
}

LogicalResult ContextParallel::check(ContextMethod method) {
  if (method == ContextMethod::Ring)
    return checkRing();
  return success(method != ContextMethod::Ulysses ||
                 llvm::all_of(ops, [&](const ContextOp &found) { return succeeded(checkHeads(found)); }));
}

//===----------------------------------------------------------------------===//
// Choice of the order
//===----------------------------------------------------------------------===//

static StringRef nameOf(ContextMethod method) {
  return method == ContextMethod::Ring      ? "a ring"
         : method == ContextMethod::Ulysses ? "an exchange with heads"
                                            : "a gather";
}

/// Returns the number of positions of an op's sequence.
static int64_t positionsOf(const ContextOp &found) {
  for (auto [operand, dim] : llvm::zip_equal(found.op->getOperands(), found.sequence.operands))
    if (dim)
      return cast<RankedTensorType>(operand.getType()).getDimSize(*dim);
  llvm_unreachable("an op along a sequence has one");
}

/// Returns the reason against zigzag in a ring and the op that it concerns. The reason is empty if zigzag is possible.
std::pair<Operation *, std::string> ContextParallel::reasonAgainstZigzag() {
  auto isCausal = [&](Operation *op) {
    return llvm::any_of(ops, [&](const ContextOp &found) { return found.op == op; });
  };
  for (BlockwiseOpInterface op : blockwise)
    if (!isCausal(op))
      return {op, "it also reads later positions, so all ranks have equal work in any order"};
  if (sequenceAxes.size() > 1)
    return {getOperation(), "more than one axis shards the sequence"};
  Zigzag zigzag{sequenceAxes.getNames().front(), mesh->sizeOf(sequenceAxes)};
  for (const ContextOp &found : ops)
    if (std::string problem = zigzag.problemOf(positionsOf(found), positionAxes, *mesh); !problem.empty())
      return {found.op, problem};
  return {};
}

/// Returns whether positions are in zigzag.
FailureOr<bool> ContextParallel::chooseOrder(ContextMethod method) {
  if (order == ContextOrder::Straight)
    return false;
  if (method != ContextMethod::Ring) {
    if (order == ContextOrder::Auto)
      return false;
    return getOperation().emitError() << "positions over " << sequenceAxes.str() << " are read by " << nameOf(method)
                                      << ", but only a ring can be in zigzag; "
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
// Choice of the fastest method
//===----------------------------------------------------------------------===//

/// Returns the method with the least predicted time. Prefers a ring over a method that keeps more bytes and is faster
/// by less than a twentieth.
FailureOr<ContextMethod> ContextParallel::choose() {
  if (ops.empty())
    return ContextMethod::Gather;
  bool inZigzag = order != ContextOrder::Straight && reasonAgainstZigzag().second.empty();
  auto predict = [&](ContextMethod method) {
    ContextCost sum;
    for (const ContextOp &found : ops)
      sum += costOf(method, inZigzag,
                    ContextWork::of(found.op, found.sequence, mesh->sizeOf(sequenceAxes),
                                    mesh->getNumRanks() / mesh->sizeOf(ofStages), machine->compute),
                    machine->compute, machine->slowestLink(sequenceAxes, *mesh));
    return sum;
  };
  bool hasHeads = llvm::all_of(ops, [&](const ContextOp &found) { return fits(found); });
  bool hasBlocks = reasonAgainstRing().second.empty();
  ContextCost gather = predict(ContextMethod::Gather), ring = predict(ContextMethod::Ring),
              ulysses = predict(ContextMethod::Ulysses);
  ContextMethod method =
      hasBlocks && ring.seconds < gather.seconds * 1.05 ? ContextMethod::Ring : ContextMethod::Gather;
  if (hasHeads && ulysses.seconds < (method == ContextMethod::Ring ? ring : gather).seconds)
    method = ContextMethod::Ulysses;
  InFlightDiagnostic remark = ops.front().op->emitRemark();
  remark << "attention reads positions of other ranks along " << sequenceAxes.str() << " by " << nameOf(method)
         << (method == ContextMethod::Ring && inZigzag ? " in zigzag" : "") << ": predicted are "
         << llvm::formatv("{0:f3}", gather.seconds * 1e3).str() << " ms per microbatch by gather, which keeps "
         << formatSize(gather.keptBytes);
  if (hasBlocks)
    remark << ", " << llvm::formatv("{0:f3}", ring.seconds * 1e3).str() << " in a ring";
  if (hasHeads)
    remark << ", " << llvm::formatv("{0:f3}", ulysses.seconds * 1e3).str() << " by heads";
  return method;
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

/// Blocks of a ring belong to the ranks along the sequence. If the axes behind do not divide the heads, they must not
/// shard positions instead, so their ranks compute the same.
void ContextParallel::keepBlocks(const ContextOp &found) {
  int64_t behind = mesh->sizeOf(positionAxes) / mesh->sizeOf(sequenceAxes);
  if (behind == 1 || (found.heads && numHeads(found) % behind == 0))
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

void ContextParallel::distributeHeads(const ContextOp &found) {
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
