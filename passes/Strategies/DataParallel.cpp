//===- DataParallel.cpp - DDP and ZeRO as annotations ---------------------===//
//
// A strategy only says what each rank keeps. Propagation and partition derive the collectives.
//
//===----------------------------------------------------------------------===//

#include "dialects/Comm/Sharding.h"
#include "dialects/TG/Facts.h"
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
constexpr unsigned kNever = ~0u;

struct DataParallel final : braid::impl::DataParallelPassBase<DataParallel> {
  using DataParallelPassBase::DataParallelPassBase;

  void runOnOperation() final {
    if (failed(readOptions()))
      return signalPassFailure();
    findSharded();
    if (failed(findUnread()))
      return signalPassFailure();
    // Programs with a batch come first, because others hold the sums that these add up.
    SmallVector<func::FuncOp> functions(getOperation().getOps<func::FuncOp>());
    std::stable_partition(functions.begin(), functions.end(), [](func::FuncOp function) {
      return !function.isExternal() && !batchInputs(function).empty();
    });
    for (func::FuncOp function : functions)
      if (!function.isExternal() && !function->hasAttr(CommDialect::kProgram) && failed(annotate(function)))
        return signalPassFailure();
  }

private:
  LogicalResult readOptions();
  FailureOr<AxesAttr> axesOption(ArrayRef<std::string> names, StringRef option);
  void findSharded();
  LogicalResult findUnread();
  unsigned firstStage(BlockArgument argument) const;
  ShardingAttr layoutOf(func::FuncOp function, BlockArgument argument) const;
  LogicalResult annotate(func::FuncOp function);
  LogicalResult annotateBatch(func::FuncOp function, BlockArgument input, const std::optional<TokenDims> &tokens);
  AxesAttr axesSummed(BlockArgument argument, tg::StateAttr state, const DenseSet<Value> &ofBatch,
                      const std::optional<TokenDims> &tokens);
  /// Adds the strategy's axes to the sharding of an argument that persists across steps.
  LogicalResult annotateKept(func::FuncOp function, BlockArgument argument, const DenseSet<Value> &ofBatch,
                             const std::optional<TokenDims> &tokens);
  /// Writes the sharding of an argument, to which axes of the strategy were added.
  LogicalResult write(func::FuncOp function, BlockArgument argument, ShardingAttr sharding, AxesAttr axes);

  FlatSymbolRefAttr symbol;
  std::optional<Mesh> mesh;
  AxesAttr batchAxes, sequenceAxes, shardAxes;
  AxesAttr dataAxes; ///< Axes of the batch, then axes of the sequence.
  /// Priority of batch annotations. Storage yields to the batch, and the batch yields to parameters on the same axes.
  int64_t batchPriority = 0;
  llvm::StringSet<> unread;
  llvm::StringMap<AxesAttr> sums;            ///< Axes summed over, by accumulator.
  llvm::StringMap<BlockArgument> parameters; ///< Parameters of the current function, by the names that states use.
};
} // namespace

//===----------------------------------------------------------------------===//
// Options
//===----------------------------------------------------------------------===//

FailureOr<AxesAttr> DataParallel::axesOption(ArrayRef<std::string> names, StringRef option) {
  AxesAttr list = axesNamed(&getContext(), names);
  auto emitError = [&] { return getOperation().emitError() << "comm-data-parallel " << option << ": "; };
  if (failed(verifyAxes(emitError, *mesh, list)))
    return failure();
  return list;
}

LogicalResult DataParallel::readOptions() {
  FailureOr<GlobalMesh> found = onlyMesh(getOperation(), "comm-data-parallel");
  if (failed(found))
    return failure();
  mesh = found->mesh;
  symbol = found->symbol;
  if (axes.empty() && sequence.empty())
    return getOperation().emitError() << "comm-data-parallel needs axes=, the axes over which the batch is sharded";
  SmallVector<std::string> data(axes.begin(), axes.end());
  llvm::append_range(data, sequence);
  FailureOr<AxesAttr> all = axesOption(data, "axes");
  FailureOr<AxesAttr> parts = axesOption(shard.empty() ? ArrayRef(data) : ArrayRef<std::string>(*shard), "shard");
  if (failed(all) || failed(parts))
    return failure();
  for (StringAttr axis : parts->getNames())
    if (!all->contains(axis))
      return getOperation().emitError() << "comm-data-parallel shard: the batch is not sharded over '"
                                        << axis.getValue() << "'; its axes are " << all->str();
  dataAxes = *all;
  batchAxes = sliceAxes(*all, 0, axes.size());
  sequenceAxes = sliceAxes(*all, axes.size());
  shardAxes = *parts;
  return success();
}

//===----------------------------------------------------------------------===//
// Annotations
//===----------------------------------------------------------------------===//

/// Returns the axes that shard dims.
static AxesAttr dimAxes(ShardingAttr sharding) {
  AxesAttr axes = AxesAttr::get(sharding.getContext());
  for (AxesAttr dim : sharding.getDims())
    axes = joinAxes(axes, AxesAttr::get(dim.getContext(), dim.getNames()));
  return axes;
}

static ShardingAttr withPriority(ShardingAttr sharding, int64_t priority) {
  return ShardingAttr::get(sharding.getContext(), sharding.getMesh(), sharding.getDims(), sharding.getPartial(),
                           sharding.getReduction(), sharding.getFlat(), priority);
}

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

/// Returns the input's dim that holds positions of tokens, whether these belong to documents or are position numbers.
static std::optional<unsigned> sequenceDimOf(BlockArgument input, const TokenDims &tokens) {
  int64_t rank = cast<RankedTensorType>(input.getType()).getRank();
  for (int64_t dim = 1; dim < rank; ++dim)
    if (tokens.kindOf(input, dim) == TokenDims::Kind::Sequence)
      return dim;
  return std::nullopt;
}

LogicalResult DataParallel::annotateBatch(func::FuncOp function, BlockArgument input,
                                          const std::optional<TokenDims> &tokens) {
  auto type = cast<RankedTensorType>(input.getType());
  ShardingAttr sharding = shardingOfArgument(function, input.getArgNumber(), symbol);
  if (sharding.isFlat() || sharding.isPartial() || type.getRank() == 0)
    return function.emitError() << "argument #" << input.getArgNumber() << " of type " << type << " is " << sharding
                                << ": its first dim cannot be sharded over " << batchAxes.str();
  SmallVector<AxesAttr> dims(sharding.getDims());
  SmallVector<StringAttr> first(batchAxes.getNames());
  llvm::append_range(first, dims.front().getNames());
  dims.front() = AxesAttr::get(&getContext(), first);
  if (!sequenceAxes.empty()) {
    std::optional<unsigned> sequence = sequenceDimOf(input, *tokens);
    if (!sequence)
      return function.emitError() << nameOfArgument(function, input.getArgNumber()) << " of type " << type
                                  << " has no sequence of tokens to shard over " << sequenceAxes.str();
    dims[*sequence] = joinAxes(sequenceAxes, dims[*sequence]);
  }
  int64_t priority = std::max(batchPriority, sharding.getPriority());
  return write(function, input, withPriority(sharding.withDims(dims), priority), dataAxes);
}

/// Returns the values that depend on the batch.
static DenseSet<Value> valuesOfBatch(func::FuncOp function) {
  DenseSet<Value> values;
  for (BlockArgument input : batchInputs(function))
    values.insert(input);
  for (Operation &op : function.front())
    if (llvm::any_of(op.getOperands(), [&](Value operand) { return values.contains(operand); }))
      values.insert(op.result_begin(), op.result_end());
  return values;
}

/// Whether the addends of an accumulator differ from rank to rank. A constant count of rows does not, so its sum is
/// whole.
static bool addsUpBatch(BlockArgument accumulator, const DenseSet<Value> &ofBatch) {
  return llvm::all_of(accumulator.getUsers(), [&](Operation *user) {
    return llvm::any_of(user->getOperands(), [&](Value operand) { return ofBatch.contains(operand); });
  });
}

/// Whether the addends of an accumulator are sums over positions. For a table of positions they are not.
static bool addsUpSequence(BlockArgument accumulator, const TokenDims &tokens) {
  return llvm::all_of(accumulator.getUsers(), [&](Operation *user) {
    return llvm::any_of(user->getOperands(), [&](Value operand) { return tokens.isSumOverSequence(operand); });
  });
}

/// Whether the addends of a sum of the loss are whole on every rank, so that the sum is whole too. They are if they
/// have terms that are scalars of the whole batch, or have other readers. Otherwise one op that reduces the batch
/// computes them.
static bool addsUpWhole(BlockArgument accumulator) {
  auto isNumber = [](Value value) { return cast<RankedTensorType>(value.getType()).getNumElements() == 1; };
  auto isWhole = [&](Value value) {
    Operation *maker = value.getDefiningOp();
    if (maker && !value.hasOneUse())
      return true;
    while (maker && maker->getNumOperands() == 1 && isNumber(maker->getOperand(0)))
      maker = maker->getOperand(0).getDefiningOp();
    return maker && maker->getNumOperands() > 1 && llvm::all_of(maker->getOperands(), isNumber);
  };
  return llvm::any_of(accumulator.getUsers(),
                      [&](Operation *user) { return llvm::any_of(user->getOperands(), isWhole); });
}

/// Sets the batch priority: 1 if a parameter of priority 0 shares axes with the batch, else 0.
void DataParallel::findSharded() {
  auto sharesAxes = [&](ShardingAttr sharding) {
    return sharding.getPriority() == 0 && !areDisjoint(batchAxes, dimAxes(sharding));
  };
  batchPriority = 0;
  for (auto function : getOperation().getOps<func::FuncOp>())
    for (BlockArgument argument : function.isExternal() ? ArrayRef<BlockArgument>() : function.getArguments())
      if (parameterOf(argument) && sharesAxes(shardingOfArgument(function, argument.getArgNumber(), symbol)))
        batchPriority = 1;
}

/// Finds parameters that no forward pass reads. They have no gradient to reduce, and the new values of their shards
/// need no gather.
LogicalResult DataParallel::findUnread() {
  llvm::StringSet<> read;
  unread.clear();
  for (auto function : getOperation().getOps<func::FuncOp>()) {
    if (function.isExternal() || !isTraining(function))
      continue;
    for (BlockArgument argument : function.getArguments()) {
      tg::ParamAttr parameter = parameterOf(argument);
      if (!parameter)
        continue;
      for (Operation *user : argument.getUsers())
        if (!user->hasTrait<OpTrait::IsTerminator>() && failed(tg::requireFacts(user)))
          return failure();
      bool isRead =
          llvm::any_of(argument.getUsers(), [](Operation *user) { return tg::phaseOf(user) == tg::Phase::Forward; });
      (isRead ? read : unread).insert(parameter.getName());
    }
  }
  for (const auto &name : read)
    unread.erase(name.getKey());
  return success();
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

/// Returns the first ZeRO stage that shards a persistent tensor.
unsigned DataParallel::firstStage(BlockArgument argument) const {
  if (tg::ParamAttr parameter = parameterOf(argument))
    return unread.contains(parameter.getName()) ? 1 : 3;
  tg::StateAttr state = stateOf(argument);
  if (state.isAccumulator())
    return 2;
  return state.getOf() ? 1 : kNever;
}

/// Returns the axes over which ranks hold terms of an accumulator. A program without a batch, such as the update of a
/// pipeline, holds it like the programs with one.
AxesAttr DataParallel::axesSummed(BlockArgument argument, tg::StateAttr state, const DenseSet<Value> &ofBatch,
                                  const std::optional<TokenDims> &tokens) {
  auto function = cast<func::FuncOp>(argument.getOwner()->getParentOp());
  if (auto known = sums.find(state.getName()); known != sums.end() && batchInputs(function).empty())
    return known->second;
  bool isWhole = !addsUpBatch(argument, ofBatch) || (state.isOfLoss() && addsUpWhole(argument));
  AxesAttr axes = isWhole                                       ? AxesAttr::get(&getContext())
                  : tokens && addsUpSequence(argument, *tokens) ? dataAxes
                                                                : batchAxes;
  sums[state.getName()] = axes;
  return axes;
}

LogicalResult DataParallel::annotateKept(func::FuncOp function, BlockArgument argument, const DenseSet<Value> &ofBatch,
                                         const std::optional<TokenDims> &tokens) {
  tg::StateAttr state = stateOf(argument);
  bool isSharded = zero >= firstStage(argument) && cast<RankedTensorType>(argument.getType()).getRank() > 0;
  ShardingAttr sharding = layoutOf(function, argument);
  bool isAnnotated = function.getArgAttr(argument.getArgNumber(), CommDialect::kSharding) != nullptr;
  if (sharding.isFlat() || sharding.isPartial())
    return success(); // annotated elsewhere
  AxesAttr summed = state && state.isAccumulator() ? axesSummed(argument, state, ofBatch, tokens) : AxesAttr();
  bool isSum = summed && !summed.empty();
  // Ranks with different parts along sharded dims have nothing to shard or to sum among themselves.
  AxesAttr others = dimAxes(sharding), flat = differenceOf(shardAxes, others);
  if (isSharded && !(isSum && keepUnreduced))
    sharding = sharding.withFlat(flat);
  // Reductions other than those into shards wait for the last microbatch. These are all reductions, or the sums over
  // replicas of the shards.
  if (isSum)
    sharding = sharding.withPartial(differenceOf(differenceOf(summed, others), sharding.getFlat()));
  if (!isAnnotated)
    sharding = withPriority(sharding, batchPriority + 1);
  return write(function, argument, sharding, flat);
}

/// Whether ranks shard the examples of a program. A program without a loss that only updates caches generates text,
/// and every rank needs its results.
static bool isShardedByBatch(func::FuncOp function) {
  return isTraining(function) || resultWithRole(function, tg::Role::Loss);
}

LogicalResult DataParallel::annotate(func::FuncOp function) {
  std::optional<TokenDims> tokens;
  if (!sequenceAxes.empty())
    tokens.emplace(function);
  if (isShardedByBatch(function))
    for (BlockArgument input : batchInputs(function))
      if (failed(annotateBatch(function, input, tokens)))
        return failure();
  DenseSet<Value> ofBatch = valuesOfBatch(function);
  parameters = parametersByOwner(function);
  for (BlockArgument argument : function.getArguments()) {
    if (tg::ArgumentAttrs(argument).persistent() && isa<RankedTensorType>(argument.getType()) &&
        failed(annotateKept(function, argument, ofBatch, tokens)))
      return failure();
  }
  // The new value of an argument has the argument's sharding.
  for (unsigned i = 0; i < function.getNumResults(); ++i)
    if (tg::ResultAttrs(function, i).updates)
      function.removeResultAttr(i, StringAttr::get(&getContext(), CommDialect::kSharding));
  return success();
}
