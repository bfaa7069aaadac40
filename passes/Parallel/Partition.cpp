//===- Partition.cpp - the program of a rank ------------------------------===//
//
// Every value of the global function says how it is held and every change is a
// comm.reshard, so each op is made on its own: on the rank's parts of its operands,
// with the local types of its results.  What an op does on a part is its own
// knowledge (`buildShard`); what a change of sharding takes is `reshardSteps`.
//
//===----------------------------------------------------------------------===//

#include "dialects/Interfaces/Interfaces.h"
#include "dialects/TG/TG.h"
#include "lib/Sharding/FactorAxes.h"
#include "lib/Sharding/GlobalFunction.h"
#include "lib/Sharding/Reshard.h"
#include "passes/Parallel/PartitionShard.h"
#include "passes/Parallel/Passes.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/StringMap.h"

namespace braid {
#define GEN_PASS_DEF_PARTITIONPASS
#include "passes/Parallel/Passes.h.inc"
} // namespace braid

using namespace mlir;
using namespace braid;
using namespace braid::comm;

namespace {
/// Makes one function local.
class Partitioner {
public:
  Partitioner(func::FuncOp function, FlatSymbolRefAttr symbol, const Mesh &mesh)
      : function(function), symbol(symbol), mesh(mesh), builder(function.getContext()),
        places(builder, symbol, mesh) {}

  LogicalResult run();

private:
  LogicalResult checkArguments();
  LogicalResult checkResults(Operation *terminator);
  LogicalResult checkUpdates();
  LogicalResult build(Operation &op);
  LogicalResult buildReshard(ReshardOp op);
  LogicalResult buildShard(Operation &op);
  void updateSignature();

  /// Says how a value is held; false when the function does not.
  bool hold(Value value) { return static_cast<bool>(held[value] = shardingOf(value)); }
  Type localOf(Value value) { return localType(cast<RankedTensorType>(value.getType()), held[value], mesh); }
  ShardingAttr resultSharding(unsigned result) {
    return function.getResultAttrOfType<ShardingAttr>(result, CommDialect::kSharding);
  }

  func::FuncOp function;
  FlatSymbolRefAttr symbol;
  const Mesh &mesh;
  OpBuilder builder;
  RankPlaces places;
  /// Of global values: the shardings and the rank's parts.
  llvm::DenseMap<Value, ShardingAttr> held;
  IRMapping parts;
};

struct Partition final : braid::impl::PartitionPassBase<Partition> {
  using PartitionPassBase::PartitionPassBase;

  void runOnOperation() final {
    for (auto function : getOperation().getOps<func::FuncOp>())
      if (failed(partition(function)))
        return signalPassFailure();
  }

private:
  static LogicalResult partition(func::FuncOp function) {
    FailureOr<FlatSymbolRefAttr> symbol = meshOfGlobal(function);
    if (failed(symbol) || !*symbol)
      return symbol;
    FailureOr<Mesh> mesh = Mesh::require(function, *symbol);
    if (failed(mesh))
      return failure();
    return Partitioner(function, *symbol, *mesh).run();
  }
};
} // namespace

//===----------------------------------------------------------------------===//
// The signature
//===----------------------------------------------------------------------===//

LogicalResult Partitioner::checkArguments() {
  for (BlockArgument argument : function.getArguments())
    if (!hold(argument))
      return function.emitError() << nameOfArgument(function, argument.getArgNumber())
                                  << " has no comm.sharding; run comm-propagate first";
  return success();
}

/// Returned values are held as the function says.
LogicalResult Partitioner::checkResults(Operation *terminator) {
  for (auto [index, value] : llvm::enumerate(terminator->getOperands())) {
    ShardingAttr declared = resultSharding(index);
    if (!declared)
      return function.emitError() << nameOfResult(function, index) << " has no comm.sharding; run comm-propagate first";
    if (declared.canonical() != held[value].canonical()) {
      InFlightDiagnostic diagnostic = terminator->emitError()
                                      << nameOfResult(function, index) << " is declared with " << declared
                                      << " but returned with " << held[value] << "; run comm-insert-reshards first";
      diagnostic.attachNote(value.getLoc()) << "the value is here";
      return diagnostic;
    }
  }
  return success();
}

/// What is updated in place is held as its new value is.
LogicalResult Partitioner::checkUpdates() {
  llvm::StringMap<unsigned> arguments;
  for (unsigned i = 0; i < function.getNumArguments(); ++i) {
    if (auto param = function.getArgAttrOfType<tg::ParamAttr>(i, tg::kParam))
      arguments[param.getName()] = i;
    if (auto state = function.getArgAttrOfType<tg::StateAttr>(i, tg::kState))
      arguments[state.getName()] = i;
  }
  for (unsigned result = 0; result < function.getNumResults(); ++result) {
    auto name = function.getResultAttrOfType<StringAttr>(result, tg::kUpdates);
    auto argument = name ? arguments.find(name.getValue()) : arguments.end();
    if (argument == arguments.end())
      continue;
    ShardingAttr old = held[function.getArgument(argument->second)];
    if (old.canonical() != resultSharding(result).canonical())
      return function.emitError() << nameOfResult(function, result) << " has " << resultSharding(result)
                                  << " but " << nameOfArgument(function, argument->second)
                                  << ", which it updates in place, has " << old << "; give both one sharding";
  }
  return success();
}

/// Local types, and of which logical tensor they are a part.  Values that every
/// rank holds whole need not say so.
void Partitioner::updateSignature() {
  FunctionType type = function.getFunctionType();
  SmallVector<Type> inputs, results;
  auto part = [&](Type global, ShardingAttr sharding, auto &&setAttribute) {
    bool isWhole = sharding.isReplicated();
    setAttribute(CommDialect::kSharding, isWhole ? Attribute() : sharding.canonical());
    setAttribute(CommDialect::kGlobal, isWhole ? Attribute() : TypeAttr::get(global));
    return localType(cast<RankedTensorType>(global), sharding, mesh);
  };
  for (auto [index, global] : llvm::enumerate(type.getInputs()))
    inputs.push_back(part(global, function.getArgAttrOfType<ShardingAttr>(index, CommDialect::kSharding),
                          [&, index = index](StringRef name, Attribute value) {
                            value ? function.setArgAttr(index, name, value)
                                  : (void)function.removeArgAttr(index, builder.getStringAttr(name));
                          }));
  for (auto [index, global] : llvm::enumerate(type.getResults()))
    results.push_back(part(global, resultSharding(index), [&, index = index](StringRef name, Attribute value) {
      value ? function.setResultAttr(index, name, value)
            : (void)function.removeResultAttr(index, builder.getStringAttr(name));
    }));
  function.setType(FunctionType::get(function.getContext(), inputs, results));
  function->setAttr(CommDialect::kProgram, ProgramAttr::get(function.getContext(), symbol, StringAttr(), {}));
}

//===----------------------------------------------------------------------===//
// The body
//===----------------------------------------------------------------------===//

LogicalResult Partitioner::buildReshard(ReshardOp op) {
  hold(op.getResult());
  auto type = cast<RankedTensorType>(op.getInput().getType());
  FailureOr<SmallVector<ReshardStep>> steps =
      reshardSteps([&] { return op.emitOpError(); }, type, held[op.getInput()], op.getSharding(), mesh);
  if (failed(steps))
    return failure();
  Value part = parts.lookup(op.getInput());
  for (const ReshardStep &step : *steps) {
    switch (step.kind) {
    case ReshardStep::Kind::AllReduce:
      part = builder.create<AllReduceOp>(op.getLoc(), step.reduction, part, symbol, step.axes)->getResult(0);
      break;
    case ReshardStep::Kind::AllGather:
      part = builder.create<AllGatherOp>(op.getLoc(), part, step.dim, symbol, step.axes, step.result)->getResult(0);
      break;
    case ReshardStep::Kind::Slice:
      part = builder.create<SliceOp>(op.getLoc(), part, step.dim, symbol, step.axes, mesh.sizeOf(step.axes));
      break;
    }
  }
  parts.map(op.getResult(), part);
  return success();
}

/// The elements that flat ranges of an op are cut from: what the dims' axes leave of
/// its tensors, which is the same for all.
static int64_t flatElements(Operation &op, ArrayRef<ShardingAttr> operands, const Mesh &mesh) {
  for (auto [value, sharding] : llvm::zip_equal(op.getOperands(), operands))
    if (sharding.isFlat())
      return localDimsType(cast<RankedTensorType>(value.getType()), sharding, mesh).getNumElements();
  return 0;
}

LogicalResult Partitioner::buildShard(Operation &op) {
  std::optional<ShardingRule> rule = shardingRuleOf(&op);
  if (!rule)
    return op.emitOpError() << "has no sharding rule, so it cannot be partitioned";
  for (Value result : op.getResults())
    if (!hold(result))
      return op.emitOpError() << "has no comm.shardings; run comm-propagate first";
  auto shardingsOf = [&](ValueRange values) {
    return llvm::map_to_vector(values, [&](Value value) { return held[value]; });
  };
  SmallVector<ShardingAttr> operands = shardingsOf(op.getOperands());
  std::string why;
  std::optional<FactorAxes> axes = factorAxesOf(*rule, operands, shardingsOf(op.getResults()), mesh, &why);
  if (!axes)
    return op.emitOpError() << "cannot be partitioned: " << why << "; run comm-insert-reshards first";

  SmallVector<Value> local = llvm::map_to_vector(op.getOperands(), [&](Value value) { return parts.lookup(value); });
  SmallVector<Type> types = llvm::map_to_vector(op.getResults(), [&](Value value) { return localOf(value); });
  SmallVector<int64_t> cuts = llvm::map_to_vector(axes->factors, [&](AxesAttr list) { return mesh.sizeOf(list); });
  auto offset = [&](unsigned factor) {
    return places.offset(op.getLoc(), axes->factors[factor], rule->factors[factor].size / cuts[factor]);
  };
  auto maskPadding = [&](Value range, double fill) {
    return places.maskPadding(op.getLoc(), range, fill, axes->flat, flatElements(op, operands, mesh));
  };
  Shard shard{local, types, cuts, !axes->flat.empty(), offset, maskPadding};
  // What is made on the shard has local results.
  op.removeAttr(CommDialect::kShardings);
  auto shardable = dyn_cast<ShardingRuleOpInterface>(op);
  parts.map(op.getResults(), shardable ? shardable.buildShard(builder, shard) : cloneOnShard(&op, builder, shard));
  return success();
}

LogicalResult Partitioner::build(Operation &op) {
  if (auto reshard = dyn_cast<ReshardOp>(op))
    return buildReshard(reshard);
  if (!op.hasTrait<OpTrait::IsTerminator>())
    return buildShard(op);
  if (failed(checkResults(&op)))
    return failure();
  builder.clone(op, parts);
  return success();
}

LogicalResult Partitioner::run() {
  if (failed(checkArguments()))
    return failure();
  Block *global = &function.getBody().front();
  auto *local = new Block();
  function.getBody().push_back(local);
  builder.setInsertionPointToStart(local);
  for (BlockArgument argument : global->getArguments())
    parts.map(argument, local->addArgument(localOf(argument), argument.getLoc()));
  bool isBuilt = llvm::all_of(*global, [&](Operation &op) { return succeeded(build(op)); });
  if (!isBuilt || failed(checkUpdates())) {
    local->erase();
    return failure();
  }
  updateSignature();
  global->erase();
  return success();
}
