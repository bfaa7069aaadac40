//===- ContextParallel.cpp - attention over a sharded sequence ------------===//
//
// Where positions read others, ranks with parts of the sequence must exchange something.  Left to
// the sharding rules, the sequence is gathered where the op needs it whole.  Or the ranks share out
// the heads for as long as positions read each other, and everything changes places twice.
//
//===----------------------------------------------------------------------===//

#include "dialects/Comm/Sharding.h"
#include "dialects/Interfaces/Interfaces.h"
#include "lib/Sharding/AxisLists.h"
#include "lib/Sharding/FactorAxes.h"
#include "passes/Strategies/OnlyMesh.h"
#include "passes/Strategies/Passes.h"

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

struct ContextParallel final : braid::impl::ContextParallelPassBase<ContextParallel> {
  using ContextParallelPassBase::ContextParallelPassBase;

  void runOnOperation() final {
    if (failed(readOptions()))
      return signalPassFailure();
    for (auto function : getOperation().getOps<func::FuncOp>())
      if (!function.isExternal() && !function->hasAttr(CommDialect::kProgram))
        for (Operation &op : llvm::make_early_inc_range(function.front()))
          if (failed(visit(op)))
            return signalPassFailure();
  }

private:
  LogicalResult readOptions();
  LogicalResult visit(Operation &op);
  Value constrain(OpBuilder &builder, Value value, std::optional<unsigned> sequence, AxesAttr ofSequence,
                  std::optional<unsigned> head, AxesAttr ofHeads);

  FlatSymbolRefAttr symbol;
  std::optional<Mesh> mesh;
  AxesAttr sequenceAxes, headAxes, allAxes;
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
  return verifyAxes([&] { return getOperation().emitError() << "comm-context-parallel: "; }, *mesh, allAxes);
}

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

LogicalResult ContextParallel::visit(Operation &op) {
  auto causal = dyn_cast<CausalOpInterface>(op);
  std::optional<SequenceDims> sequence = causal ? causal.getSequenceDims() : std::nullopt;
  if (!sequence || sequence->past.empty() || how == ContextWay::Gather)
    return success();
  std::optional<HeadDims> heads = headDimsOf(op, *sequence);
  bool fits = heads && heads->heads % mesh->sizeOf(allAxes) == 0;
  if (how == ContextWay::Ulysses && !fits) {
    InFlightDiagnostic error = op.emitOpError();
    error << "cannot share out heads over " << allAxes.str() << ", " << mesh->sizeOf(allAxes) << " ranks: ";
    return heads ? error << "it has " << heads->heads
                         << " heads of keys and values, which these ranks do not divide; gather keys and values instead"
                 : error << "it has no heads";
  }
  if (!fits)
    return success();
  OpBuilder builder(&op);
  AxesAttr none = AxesAttr::get(&getContext());
  for (auto [operand, position, head] : llvm::zip_equal(op.getOpOperands(), sequence->operands, heads->operands))
    if (position)
      operand.set(constrain(builder, operand.get(), position, none, head, allAxes));
  builder.setInsertionPointAfter(&op);
  for (auto [result, position, head] : llvm::zip_equal(op.getResults(), sequence->results, heads->results))
    if (position && !result.use_empty()) {
      Value back = constrain(builder, result, position, sequenceAxes, head, headAxes);
      result.replaceAllUsesExcept(back, back.getDefiningOp());
    }
  return success();
}
