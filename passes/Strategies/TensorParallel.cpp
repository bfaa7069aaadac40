//===- TensorParallel.cpp - choose a layout for an axis -------------------===//

#include "dialects/Comm/Sharding.h"
#include "dialects/Interfaces/Divisors.h"
#include "dialects/TG/TGBuilder.h"
#include "lib/Cost/Machine.h"
#include "lib/Memory/Size.h"
#include "lib/Sharding/AxisLists.h"
#include "lib/Sharding/LayoutSearch.h"
#include "lib/Sharding/TokenDims.h"
#include "passes/Base/Signature.h"
#include "passes/Strategies/LayoutText.h"
#include "passes/Strategies/OnlyMesh.h"
#define GEN_PASS_DEF_TENSORPARALLELPASS
#include "passes/Strategies/Passes.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace braid;
using namespace braid::comm;

namespace {
struct TensorParallel final : braid::impl::TensorParallelPassBase<TensorParallel> {
  using TensorParallelPassBase::TensorParallelPassBase;

  void runOnOperation() final {
    if (failed(readOptions()))
      return signalPassFailure();
    for (auto function : getOperation().getOps<func::FuncOp>())
      if (!function.isExternal() && !function->hasAttr(CommDialect::kProgram) && failed(choose(function)))
        return signalPassFailure();
  }

private:
  LogicalResult readOptions();
  LogicalResult choose(func::FuncOp function);
  LogicalResult checkSequence(func::FuncOp function);
  void annotate(func::FuncOp function, BlockArgument weight, int64_t dim);
  ShardingAttr requestFor(Value value, int64_t dim, const LayoutSearch &search);
  void constrain(const LayoutChoice &choice, const LayoutSearch &search);
  LogicalResult report(func::FuncOp function, const LayoutChoice &choice);

  FlatSymbolRefAttr symbol;
  StringAttr name;
  AxesAttr ofSequence;
  int64_t ranks = 1, ranksOfSequence = 1;
  /// The latency of the link in bytes, if the module describes the link.
  std::optional<int64_t> latencyBytes;
};
} // namespace

LogicalResult TensorParallel::readOptions() {
  FailureOr<GlobalMesh> found = onlyMesh(getOperation(), "comm-tensor-parallel");
  if (failed(found))
    return failure();
  symbol = found->symbol;
  name = StringAttr::get(&getContext(), axis);
  ofSequence = axesNamed(&getContext(), *sequenceAxes);
  auto emitError = [&] { return getOperation().emitError() << "comm-tensor-parallel: "; };
  if (failed(verifyAxes(emitError, found->mesh, joinAxes(ofSequence, AxesAttr::get(&getContext(), name)))))
    return failure();
  ranks = found->mesh.sizeOf(name);
  ranksOfSequence = ranks * found->mesh.sizeOf(ofSequence);
  FailureOr<Machine> machine = machineOf(getOperation());
  if (succeeded(machine) && machine->linkIsGiven)
    latencyBytes = machine->slowestLink(AxesAttr::get(&getContext(), name), found->mesh).bytesPerLatency();
  return machine;
}

/// Annotates a weight. Whole weights are annotated as well, because every program must hold them alike.
void TensorParallel::annotate(func::FuncOp function, BlockArgument weight, int64_t dim) {
  unsigned number = weight.getArgNumber();
  ShardingAttr sharding = shardingOfArgument(function, number, symbol);
  SmallVector<AxesAttr> dims(sharding.getDims());
  if (dim != kWhole)
    dims[dim] = AxesAttr::get(&getContext(), name);
  else if (function.getArgAttr(number, CommDialect::kSharding))
    return;
  function.setArgAttr(number, CommDialect::kSharding, sharding.withDims(dims).withPriority(/*priority=*/dim == kWhole));
}

/// Returns the requested sharding of a value. Leaves batch, expert and sequence dims to their own axes.
ShardingAttr TensorParallel::requestFor(Value value, int64_t dim, const LayoutSearch &search) {
  SmallVector<AxesAttr> dims;
  for (int64_t i = 0; i < cast<RankedTensorType>(value.getType()).getRank(); ++i) {
    TokenDims::Kind kind = search.tokenDims().kindOf(value, i);
    SmallVector<StringAttr> names;
    if (kind == TokenDims::Kind::Sequence)
      llvm::append_range(names, ofSequence.getNames());
    if (i == dim)
      names.push_back(name);
    bool isOpen = kind == TokenDims::Kind::Batch || search.isAlreadySharded(value, i);
    dims.push_back(AxesAttr::get(&getContext(), names, isOpen));
  }
  return ShardingAttr::replicated(symbol, dims.size()).withDims(dims);
}

/// Constrains the shardings of values where the choice changes them. A value with several uses, such as a table of
/// angles, may get two requests; then one request yields.
void TensorParallel::constrain(const LayoutChoice &choice, const LayoutSearch &search) {
  llvm::DenseMap<std::pair<Value, int64_t>, Value> made;
  for (auto [operand, dim] : choice.needed) {
    Value value = operand->get();
    Value &needed = made[{value, dim}];
    if (!needed) {
      OpBuilder builder(&getContext());
      builder.setInsertionPointAfterValue(value);
      needed =
          builder.create<ConstrainOp>(value.getLoc(), value, requestFor(value, dim, search), builder.getUnitAttr());
    }
    operand->set(needed);
  }
  for (auto [value, dim] : choice.held) {
    OpBuilder builder(&getContext());
    builder.setInsertionPointAfterValue(value);
    auto held =
        builder.create<ConstrainOp>(value.getLoc(), value, requestFor(value, dim, search), builder.getUnitAttr());
    value.replaceAllUsesExcept(held, held);
  }
}

/// Returns `; 4 or 6 ranks divide some dims`, or an empty text if no near number does.
static std::string nearestRankCounts(ArrayRef<BlockArgument> weights, int64_t ranks) {
  SmallVector<int64_t> sizes;
  for (BlockArgument weight : weights)
    llvm::append_range(sizes, cast<RankedTensorType>(weight.getType()).getShape());
  SmallVector<int64_t, 2> divisors = nearestDivisors(sizes, ranks);
  return divisors.empty() ? "" : "; " + joinNumbers(divisors, "or") + " ranks divide some dims of weights";
}

/// Returns a text such as `; activations and gradients of the whole batch send 1.50 MiB in each of h.0 to h.11, 256
/// KiB in embedding`.
static std::string sentText(const LayoutChoice &choice) {
  std::vector<std::string> parts;
  for (auto unit = choice.sent.begin(), end = choice.sent.end(); unit != end;) {
    auto next = std::find_if(unit, end, [&](const auto &other) { return other.second != unit->second; });
    auto nameOf = [](StringAttr name) { return name ? name.str() : std::string("ops outside of units"); };
    std::string names = nameOf(unit->first);
    if (next - unit > 1)
      names = "each of " + names + " to " + nameOf(std::prev(next)->first);
    parts.push_back(formatSize(unit->second) + " in " + names);
    unit = next;
  }
  return parts.empty() ? "" : "; activations and their gradients, of the whole batch, send " + llvm::join(parts, ", ");
}

/// Reports the choice as lines of a layout, and the weights whose dims the ranks do not divide.
LogicalResult TensorParallel::report(func::FuncOp function, const LayoutChoice &choice) {
  SmallVector<std::pair<BlockArgument, int64_t>> sharded;
  llvm::copy_if(choice.weights, std::back_inserter(sharded), [](auto &weight) { return weight.second != kWhole; });
  InFlightDiagnostic diagnostic = sharded.empty() ? function.emitError() : function.emitRemark();
  if (sharded.empty())
    diagnostic << axis << " = " << ranks << " divides no weight, so all of its ranks would compute the same"
               << nearestRankCounts(choice.undivided, ranks);
  else
    diagnostic << axis << " = " << ranks << " shards " << layoutText(sharded, AxesAttr::get(&getContext(), name))
               << sentText(choice);
  for (BlockArgument weight : choice.undivided)
    diagnostic.attachNote(weight.getLoc())
        << parameterOf(weight).getName() << " of type " << weight.getType()
        << " is whole on every rank: none of its dims that may be sharded is a multiple of " << ranks;
  return failure(sharded.empty());
}

/// Checks that all ranks get equally many positions.
LogicalResult TensorParallel::checkSequence(func::FuncOp function) {
  TokenDims tokens(function);
  for (BlockArgument input : function.getArguments())
    for (auto [dim, size] : llvm::enumerate(tg::typeOf(input).getShape()))
      if (tokens.kindOf(input, dim) == TokenDims::Kind::Sequence && size % ranksOfSequence != 0)
        return function.emitError() << "sequence: " << nameOfArgument(function, input.getArgNumber()) << " has " << size
                                    << " positions, which do not divide over the " << ranksOfSequence << " ranks of "
                                    << joinAxes(ofSequence, AxesAttr::get(&getContext(), name)).str()
                                    << "; leave sequences whole, or change their length: "
                                    << nearestDivisibleSizes(size, ranksOfSequence);
  return success();
}

LogicalResult TensorParallel::choose(func::FuncOp function) {
  CommonDims taken;
  for (BlockArgument argument : function.getArguments())
    for (auto [dim, axes] : llvm::enumerate(shardingOfArgument(function, argument.getArgNumber(), symbol).getDims())) {
      if (axes.contains(name))
        return success();
      if (parameterOf(argument) && !axes.empty())
        taken.add(argument, dim);
    }
  if (sequence && failed(checkSequence(function)))
    return failure();
  LayoutOptions options{ranks, sequence, std::move(taken)};
  options.latencyBytes = latencyBytes.value_or(options.latencyBytes);
  LayoutSearch search(function, std::move(options));
  std::optional<LayoutChoice> choice = search.run();
  if (!choice)
    return function.emitError() << "is too entangled to search a layout over '" << axis
                                << "'; give the shardings of its weights by comm-annotate";
  for (auto [weight, dim] : choice->weights)
    annotate(function, weight, dim);
  constrain(*choice, search);
  return report(function, *choice);
}
