//===- DataParallel.cpp - DDP and ZeRO as annotations ---------------------===//
//
// A strategy only says what each rank keeps. Propagation and partition derive the collectives.
//
//===----------------------------------------------------------------------===//

#include "dialects/Comm/Sharding.h"
#include "dialects/TG/ProgramSignature.h"
#include "lib/Schedule/Forward.h"
#include "lib/Sharding/AxisLists.h"
#include "lib/Sharding/GlobalFunction.h"
#include "lib/Sharding/TokenDims.h"
#include "passes/Base/Signature.h"
#include "passes/Strategies/OnlyMesh.h"
#define GEN_PASS_DEF_DATAPARALLELPASS
#include "passes/Strategies/Passes.h"
#include "llvm/ADT/StringSet.h"

#include <algorithm>

using namespace mlir;
using namespace braid;
using namespace braid::comm;

namespace {
using Kind = TokenDims::Kind;

struct DataParallel final : braid::impl::DataParallelPassBase<DataParallel> {
  using DataParallelPassBase::DataParallelPassBase;

  void runOnOperation() final {
    SmallVector<func::FuncOp> functions;
    llvm::copy_if(getOperation().getOps<func::FuncOp>(), std::back_inserter(functions), [](func::FuncOp function) {
      return !function.isExternal() && !function->hasAttr(CommDialect::kProgram);
    });
    // Programs with a batch come first, because others hold the sums that these add up.
    std::stable_partition(functions.begin(), functions.end(),
                          [](func::FuncOp function) { return !batchInputs(function).empty(); });
    if (failed(readOptions()))
      return signalPassFailure();
    readParameters(functions);
    for (func::FuncOp function : functions)
      if (failed(annotate(function)))
        return signalPassFailure();
  }

private:
  LogicalResult readOptions();
  void readParameters(ArrayRef<func::FuncOp> functions);
  LogicalResult annotate(func::FuncOp function);
  LogicalResult annotateBatch(func::FuncOp function, BlockArgument input, const TokenDims &tokens);
  /// Adds the strategy's axes to the sharding of an argument that persists across steps.
  LogicalResult annotateKept(func::FuncOp function, BlockArgument argument, const TokenDims &tokens);
  /// Writes the sharding of an argument, to which axes of the strategy were added.
  LogicalResult write(func::FuncOp function, BlockArgument argument, ShardingAttr sharding, AxesAttr axes);
  bool isSharded(BlockArgument argument) const;
  ShardingAttr layoutOf(func::FuncOp function, BlockArgument argument) const;
  AxesAttr axesSummed(BlockArgument argument, const TokenDims &tokens);

  FlatSymbolRefAttr symbol;
  std::optional<Mesh> mesh;
  AxesAttr batchAxes, sequenceAxes, shardAxes;
  /// Priority of batch annotations: 1 if a parameter of priority 0 shares axes with the batch. Storage yields to the
  /// batch, and the batch yields to parameters on the same axes.
  int64_t batchPriority = 0;
  llvm::StringSet<> unread;                  ///< Parameters that no op of a training program reads.
  llvm::StringMap<AxesAttr> sums;            ///< Axes summed over, by accumulator.
  llvm::StringMap<BlockArgument> parameters; ///< Parameters of the current function, by the names that states use.
};
} // namespace

//===----------------------------------------------------------------------===//
// Options and parameters
//===----------------------------------------------------------------------===//

LogicalResult DataParallel::readOptions() {
  FailureOr<GlobalMesh> found = onlyMesh(getOperation(), "comm-data-parallel");
  if (failed(found))
    return failure();
  mesh = found->mesh;
  symbol = found->symbol;
  auto fail = [&](StringRef option = "") { return getOperation().emitError() << "comm-data-parallel" << option; };
  if (axes.empty() && sequence.empty())
    return fail(" needs axes=, the axes over which the batch is sharded");
  batchAxes = axesNamed(&getContext(), axes);
  sequenceAxes = axesNamed(&getContext(), sequence);
  AxesAttr all = joinAxes(batchAxes, sequenceAxes);
  shardAxes = shard.empty() ? all : axesNamed(&getContext(), shard);
  if (failed(verifyAxes([&] { return fail(" axes: "); }, *mesh, all)) ||
      failed(verifyAxes([&] { return fail(" shard: "); }, *mesh, shardAxes)))
    return failure();
  if (AxesAttr others = differenceOf(shardAxes, all); !others.empty())
    return fail(" shard: the batch is not sharded over '")
           << others.getNames().front().getValue() << "'; its axes are " << all.str();
  return success();
}

/// Returns the axes that shard dims.
static AxesAttr dimAxes(ShardingAttr sharding) {
  AxesAttr axes = AxesAttr::get(sharding.getContext());
  for (AxesAttr dim : sharding.getDims())
    axes = joinAxes(axes, dim);
  return axes;
}

/// Finds the priority of the batch, and the parameters that no op of a training program reads. These have no gradient
/// to reduce, and the new values of their shards need no gather.
void DataParallel::readParameters(ArrayRef<func::FuncOp> functions) {
  llvm::StringSet<> read;
  unread.clear();
  batchPriority = 0;
  for (func::FuncOp function : functions) {
    bool trains = isTraining(function);
    for (BlockArgument argument : llvm::make_filter_range(function.getArguments(), tg::parameterOf)) {
      ShardingAttr sharding = shardingOfArgument(function, argument.getArgNumber(), symbol);
      if (sharding.getPriority() == 0 && !areDisjoint(batchAxes, dimAxes(sharding)))
        batchPriority = 1;
      bool isRead =
          llvm::any_of(argument.getUsers(), [](Operation *user) { return !user->hasTrait<OpTrait::IsTerminator>(); });
      if (trains)
        (isRead ? read : unread).insert(parameterOf(argument).getName());
    }
  }
  for (const auto &name : read)
    unread.erase(name.getKey());
}

//===----------------------------------------------------------------------===//
// Annotations
//===----------------------------------------------------------------------===//

LogicalResult DataParallel::write(func::FuncOp function, BlockArgument argument, ShardingAttr sharding, AxesAttr axes) {
  auto emitError = [&] {
    return function.emitError() << nameOfArgument(function, argument.getArgNumber()) << " cannot be sharded over "
                                << axes.str() << " as the strategy requires: ";
  };
  if (failed(verifySharding(emitError, *mesh, sharding, cast<RankedTensorType>(argument.getType()))))
    return failure();
  function.setArgAttr(argument.getArgNumber(), CommDialect::kSharding, sharding);
  return success();
}

LogicalResult DataParallel::annotateBatch(func::FuncOp function, BlockArgument input, const TokenDims &tokens) {
  auto type = cast<RankedTensorType>(input.getType());
  ShardingAttr sharding = shardingOfArgument(function, input.getArgNumber(), symbol);
  if (sharding.isFlat() || sharding.isPartial() || type.getRank() == 0)
    return function.emitError() << "argument #" << input.getArgNumber() << " of type " << type << " is " << sharding
                                << ": its first dim cannot be sharded over " << batchAxes.str();
  SmallVector<AxesAttr> dims(sharding.getDims());
  dims.front() = joinAxes(batchAxes, dims.front());
  if (!sequenceAxes.empty()) {
    auto inner = llvm::drop_begin(llvm::seq<int64_t>(0, type.getRank()));
    auto dim = llvm::find_if(inner, [&](int64_t dim) { return tokens.kindOf(input, dim) == Kind::Sequence; });
    if (dim == inner.end())
      return function.emitError() << nameOfArgument(function, input.getArgNumber()) << " of type " << type
                                  << " has no sequence of tokens to shard over " << sequenceAxes.str();
    dims[*dim] = joinAxes(sequenceAxes, dims[*dim]);
  }
  int64_t priority = std::max(batchPriority, sharding.getPriority());
  return write(function, input, sharding.withDims(dims).withPriority(priority), joinAxes(batchAxes, sequenceAxes));
}

/// Returns an argument's sharding in the layout. Without one, a state gets its parameter's sharding if that divides
/// it: a state with one scale per block has shorter rows.
ShardingAttr DataParallel::layoutOf(func::FuncOp function, BlockArgument argument) const {
  ShardingAttr own = shardingOfArgument(function, argument.getArgNumber(), symbol);
  tg::StateAttr state = stateOf(argument);
  BlockArgument owner = state && state.getOf() ? parameters.lookup(state.getOf()) : BlockArgument();
  auto type = cast<RankedTensorType>(argument.getType());
  if (!owner || cast<RankedTensorType>(owner.getType()).getRank() != type.getRank() ||
      function.getArgAttr(argument.getArgNumber(), CommDialect::kSharding))
    return own;
  AxesAttr none = AxesAttr::get(symbol.getContext());
  ShardingAttr owners = shardingOfArgument(function, owner.getArgNumber(), symbol).withFlat(none).withPartial(none);
  bool fits = succeeded(verifySharding([] { return InFlightDiagnostic(); }, *mesh, owners, type));
  return fits ? owners : own;
}

/// Returns whether the stage of ZeRO shards a persistent tensor.
bool DataParallel::isSharded(BlockArgument argument) const {
  if (cast<RankedTensorType>(argument.getType()).getRank() == 0)
    return false;
  if (tg::ParamAttr parameter = parameterOf(argument))
    return zero >= (unread.contains(parameter.getName()) ? 1 : 3);
  tg::StateAttr state = stateOf(argument);
  return state.isAccumulator() ? zero >= 2 : zero >= 1 && state.getOf();
}

/// Whether the addends of a sum of the loss are whole on every rank, so that the sum is whole too. They are if they
/// have terms that are scalars of the whole batch, or have other readers. Otherwise one op that reduces the batch
/// computes them.
static bool accumulatesWhole(BlockArgument accumulator) {
  auto isNumber = [](Value value) { return cast<RankedTensorType>(value.getType()).getNumElements() == 1; };
  auto isWhole = [&](Value value) {
    Operation *producer = value.getDefiningOp();
    if (producer && !value.hasOneUse())
      return true;
    while (producer && producer->getNumOperands() == 1 && isNumber(producer->getOperand(0)))
      producer = producer->getOperand(0).getDefiningOp();
    return producer && producer->getNumOperands() > 1 && llvm::all_of(producer->getOperands(), isNumber);
  };
  return llvm::any_of(accumulator.getUsers(),
                      [&](Operation *user) { return llvm::any_of(user->getOperands(), isWhole); });
}

/// Returns the axes over which ranks hold terms of an accumulator. A program without a batch, such as the update of a
/// pipeline, holds it like the programs with one.
AxesAttr DataParallel::axesSummed(BlockArgument argument, const TokenDims &tokens) {
  auto function = cast<func::FuncOp>(argument.getOwner()->getParentOp());
  auto [known, isNew] = sums.try_emplace(stateOf(argument).getName());
  if (!isNew && batchInputs(function).empty())
    return known->second;
  bool isWhole = stateOf(argument).isOfLoss() && accumulatesWhole(argument);
  auto axesIf = [&](Kind kind, AxesAttr axes) {
    bool isSum = !isWhole && llvm::all_of(argument.getUsers(), [&](Operation *user) {
      return llvm::any_of(user->getOperands(), [&](Value operand) { return tokens.isSumOver(kind, operand); });
    });
    return isSum ? axes : AxesAttr::get(&getContext());
  };
  return known->second = joinAxes(axesIf(Kind::Batch, batchAxes), axesIf(Kind::Sequence, sequenceAxes));
}

LogicalResult DataParallel::annotateKept(func::FuncOp function, BlockArgument argument, const TokenDims &tokens) {
  tg::StateAttr state = stateOf(argument);
  ShardingAttr sharding = layoutOf(function, argument);
  if (sharding.isFlat() || sharding.isPartial())
    return success(); // annotated elsewhere
  // Ranks with different parts along sharded dims have nothing to shard or to sum among themselves.
  AxesAttr others = dimAxes(sharding), flat = differenceOf(shardAxes, others);
  AxesAttr summed = state && state.isAccumulator() ? axesSummed(argument, tokens) : AxesAttr::get(&getContext());
  if (isSharded(argument) && (summed.empty() || !keepUnreduced))
    sharding = sharding.withFlat(flat);
  // Reductions other than those into shards wait for the last microbatch. These are all reductions, or the sums over
  // replicas of the shards.
  sharding = sharding.withPartial(differenceOf(differenceOf(summed, others), sharding.getFlat()));
  if (!function.getArgAttr(argument.getArgNumber(), CommDialect::kSharding))
    sharding = sharding.withPriority(batchPriority + 1);
  return write(function, argument, sharding, flat);
}

LogicalResult DataParallel::annotate(func::FuncOp function) {
  TokenDims tokens(function);
  // A program without a loss that only updates caches generates text, and every rank needs its results.
  if (isTraining(function) || resultWithRole(function, tg::Role::Loss))
    for (BlockArgument input : batchInputs(function))
      if (failed(annotateBatch(function, input, tokens)))
        return failure();
  parameters = parametersByOwner(function);
  for (BlockArgument argument : function.getArguments())
    if (tg::ArgumentAttrs(argument).persistent() && isa<RankedTensorType>(argument.getType()) &&
        failed(annotateKept(function, argument, tokens)))
      return failure();
  // The new value of an argument has the argument's sharding.
  for (unsigned i = 0; i < function.getNumResults(); ++i)
    if (tg::ResultAttrs(function, i).updates)
      function.removeResultAttr(i, StringAttr::get(&getContext(), CommDialect::kSharding));
  return success();
}
