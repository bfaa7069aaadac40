//===- Partition.cpp - the program of a rank ------------------------------===//
//
// Every value of the global function says how it is held and every change is a
// comm.reshard, so each op is made on its own: on the rank's parts of its operands,
// with the local types of its results.  What an op does on a part is its own
// knowledge (`buildShard`); what a change of sharding takes is `reshardSteps`.
// `verifyShardings` comes first, so that ops are known to fit their rules.
//
//===----------------------------------------------------------------------===//

#include "dialects/Interfaces/Interfaces.h"
#include "dialects/TG/TGBuilder.h"
#include "lib/Sharding/FactorAxes.h"
#include "lib/Sharding/GlobalFunction.h"
#include "lib/Sharding/Reshard.h"
#include "lib/Sharding/VerifyShardings.h"
#include "mlir/IR/IRMapping.h"
#include "passes/Sharding/Passes.h"
#include "llvm/ADT/StringMap.h"

namespace braid {
#define GEN_PASS_DEF_PARTITIONPASS
#include "passes/Sharding/Passes.h.inc"
} // namespace braid

using namespace mlir;
using namespace braid;
using namespace braid::comm;

//===----------------------------------------------------------------------===//
// Where the part of a rank is
//===----------------------------------------------------------------------===//

namespace {
/// Positional ops ask where the rank's part of a factor starts, and reductions of
/// flat ranges where the padding is.  Both follow from the rank's number in a group,
/// which is made once for each group of a function.
class RankPlaces {
public:
  /// Ops are made where `builder` stands; what is made early dominates what is made
  /// late, because a function is one block, built from front to back.
  RankPlaces(OpBuilder &builder, FlatSymbolRefAttr symbol, const Mesh &mesh)
      : builder(builder), symbol(symbol), mesh(mesh) {}

  /// The rank's number in its group times `size`: tensor<i32>.
  Value offset(Location loc, AxesAttr axes, int64_t size);

  /// `range`, the rank's flat range of a tensor of `elements`, with `fill` in place
  /// of the padding.
  Value maskPadding(Location loc, Value range, double fill, AxesAttr axes, int64_t elements);

private:
  Value number(Location loc, AxesAttr axes);

  OpBuilder &builder;
  FlatSymbolRefAttr symbol;
  const Mesh &mesh;
  llvm::DenseMap<AxesAttr, Value> numbers;
  llvm::DenseMap<std::pair<AxesAttr, int64_t>, Value> offsets;
};
} // namespace

Value RankPlaces::number(Location loc, AxesAttr axes) {
  Value &known = numbers[axes];
  if (!known)
    known = builder.create<AxisIndexOp>(loc, symbol, axes);
  return known;
}

Value RankPlaces::offset(Location loc, AxesAttr axes, int64_t size) {
  Value &known = offsets[{axes, size}];
  if (known)
    return known;
  tg::TensorBuilder t(builder, loc);
  if (mesh.sizeOf(axes) == 1)
    return known = t.zeros(RankedTensorType::get({}, builder.getI32Type()));
  Value index = number(loc, axes);
  return known = size == 1 ? index : t.make<arith::MulIOp>(index, t.like(index, size));
}

/// Element j of rank i's range is number i * range + j of the tensor.  To stay in 32
/// bits for tensors of any size, the bound is computed instead: with elements =
/// q * range + r it is r on rank q, at least the range on ranks before it and at most
/// 0 on those behind it.
Value RankPlaces::maskPadding(Location loc, Value range, double fill, AxesAttr axes, int64_t elements) {
  int64_t size = cast<RankedTensorType>(range.getType()).getDimSize(0);
  if (elements == size * mesh.sizeOf(axes))
    return range;
  tg::TensorBuilder t(builder, loc);
  Value index = number(loc, axes);
  Value last = t.like(index, elements / size), one = t.like(index, 1), minusOne = t.like(index, -1);
  Value ahead = t.make<arith::SubIOp>(last, index);
  ahead = t.make<arith::MaxSIOp>(t.make<arith::MinSIOp>(ahead, one), minusOne);
  Value whole = t.like(index, size), rest = t.like(index, elements % size);
  Value bound = t.make<arith::AddIOp>(t.make<arith::MulIOp>(ahead, whole), rest);
  Value position = t.iota(range, 0, builder.getI32Type());
  Value isElement = t.compare(arith::CmpIPredicate::slt, position, t.fromScalar(bound, position));
  return t.select(isElement, range, t.like(range, fill));
}

//===----------------------------------------------------------------------===//
// A function
//===----------------------------------------------------------------------===//

namespace {
/// Makes one function local.
class Partitioner {
public:
  Partitioner(func::FuncOp function, FlatSymbolRefAttr symbol, const Mesh &mesh)
      : function(function), symbol(symbol), mesh(mesh), builder(function.getContext()), places(builder, symbol, mesh) {}

  LogicalResult run();

private:
  LogicalResult checkArguments();
  LogicalResult checkUpdates();
  LogicalResult build(Operation &op);
  LogicalResult buildReshard(ReshardOp op);
  void buildShard(Operation &op, const ShardingRule &rule);
  void updateSignature();

  ShardingAttr plain(ShardingAttr sharding) { return withoutUnitAxes(sharding.canonical(), mesh); }
  void hold(Value value) {
    if (ShardingAttr sharding = shardingOf(value))
      held[value] = plain(sharding);
  }
  Type localOf(Value value) { return localType(cast<RankedTensorType>(value.getType()), held[value], mesh); }

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
    FailureOr<std::optional<GlobalMesh>> global = meshOfGlobal(function);
    if (failed(global) || !*global)
      return global;
    return Partitioner(function, (*global)->symbol, (*global)->mesh).run();
  }
};
} // namespace

//===----------------------------------------------------------------------===//
// The signature
//===----------------------------------------------------------------------===//

LogicalResult Partitioner::checkArguments() {
  for (BlockArgument argument : function.getArguments()) {
    hold(argument);
    if (!held.contains(argument))
      return function.emitError() << nameOfArgument(function, argument.getArgNumber()) << " of type "
                                  << argument.getType() << " has no comm.sharding; run comm-propagate first";
  }
  return success();
}

/// An argument that is updated in place has the sharding of its new value.
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
    ShardingAttr updated = shardingOfResult(function, result, symbol);
    if (old != plain(updated))
      return function.emitError() << nameOfResult(function, result) << " has " << updated << " but "
                                  << nameOfArgument(function, argument->second) << ", which it updates in place, has "
                                  << old << "; give both one sharding";
  }
  return success();
}

/// Sets the local types, and the logical tensors that they are parts of.  Values that are
/// replicated need no attributes.  (All attributes are set at once: setting one copies
/// the whole list.)
void Partitioner::updateSignature() {
  FunctionType type = function.getFunctionType();
  auto makeLocal = [&](ArrayRef<Type> globals, SmallVectorImpl<DictionaryAttr> &attributes, auto &&shardingOf) {
    SmallVector<Type> locals;
    for (auto [index, global] : llvm::enumerate(globals)) {
      ShardingAttr sharding = shardingOf(index);
      NamedAttrList list(attributes[index]);
      list.erase(CommDialect::kSharding);
      if (!sharding.isReplicated()) {
        list.set(CommDialect::kSharding, sharding.canonical());
        list.set(CommDialect::kGlobal, TypeAttr::get(global));
      }
      attributes[index] = list.getDictionary(global.getContext());
      locals.push_back(localType(cast<RankedTensorType>(global), sharding, mesh));
    }
    return locals;
  };
  SmallVector<DictionaryAttr> ofInputs, ofResults;
  function.getAllArgAttrs(ofInputs);
  function.getAllResultAttrs(ofResults);
  SmallVector<Type> inputs =
      makeLocal(type.getInputs(), ofInputs, [&](unsigned i) { return shardingOfArgument(function, i, symbol); });
  SmallVector<Type> results =
      makeLocal(type.getResults(), ofResults, [&](unsigned i) { return shardingOfResult(function, i, symbol); });
  function.setAllArgAttrs(ofInputs);
  function.setAllResultAttrs(ofResults);
  function.setType(FunctionType::get(function.getContext(), inputs, results));
  function->setAttr(CommDialect::kProgram, ProgramAttr::get(function.getContext(), symbol, StringAttr(), {}));
}

//===----------------------------------------------------------------------===//
// The body
//===----------------------------------------------------------------------===//

LogicalResult Partitioner::buildReshard(ReshardOp op) {
  auto type = cast<RankedTensorType>(op.getInput().getType());
  FailureOr<SmallVector<ReshardStep>> steps =
      reshardSteps([&] { return op.emitOpError(); }, type, held[op.getInput()], held[op.getResult()], mesh);
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

/// The number of elements that the flat ranges of an op divide: those that the axes of
/// the dims leave of its tensors, which are as many for all.
static int64_t flatElements(Operation &op, ArrayRef<ShardingAttr> operands, const Mesh &mesh) {
  for (auto [value, sharding] : llvm::zip_equal(op.getOperands(), operands))
    if (sharding.isFlat())
      return localDimsType(cast<RankedTensorType>(value.getType()), sharding, mesh).getNumElements();
  return 0;
}

void Partitioner::buildShard(Operation &op, const ShardingRule &rule) {
  auto shardingsOf = [&](ValueRange values) {
    return llvm::map_to_vector(values, [&](Value value) { return held[value]; });
  };
  SmallVector<ShardingAttr> operands = shardingsOf(op.getOperands());
  std::optional<FactorAxes> axes = factorAxesOf(rule, operands, shardingsOf(op.getResults()), mesh);
  assert(axes && "the op fits its rule");

  SmallVector<Value> local = llvm::map_to_vector(op.getOperands(), [&](Value value) { return parts.lookup(value); });
  SmallVector<Type> types = llvm::map_to_vector(op.getResults(), [&](Value value) { return localOf(value); });
  SmallVector<int64_t> shardCounts =
      llvm::map_to_vector(axes->factors, [&](AxesAttr list) { return mesh.sizeOf(list); });
  auto offset = [&](unsigned factor) {
    return places.offset(op.getLoc(), axes->factors[factor], rule.factors[factor].size / shardCounts[factor]);
  };
  auto maskPadding = [&](Value range, double fill) {
    return places.maskPadding(op.getLoc(), range, fill, axes->flat, flatElements(op, operands, mesh));
  };
  Shard shard{local, types, shardCounts, !axes->flat.empty(), offset, maskPadding};
  // Ops made on the shard have local results.
  op.removeAttr(CommDialect::kShardings);
  auto shardable = dyn_cast<ShardingRuleOpInterface>(op);
  parts.map(op.getResults(), shardable ? shardable.buildShard(builder, shard) : cloneOnShard(&op, builder, shard));
}

LogicalResult Partitioner::build(Operation &op) {
  for (Value result : op.getResults())
    hold(result);
  if (auto reshard = dyn_cast<ReshardOp>(op))
    return buildReshard(reshard);
  // What it asks for, the reshards before it have done.
  if (auto constrain = dyn_cast<ConstrainOp>(op)) {
    parts.map(constrain.getResult(), parts.lookup(constrain.getInput()));
    return success();
  }
  if (std::optional<ShardingRule> rule = shardingRuleOf(&op))
    buildShard(op, *rule);
  else // Every rank does the same on whole tensors, or returns its parts.
    builder.clone(op, parts)->removeAttr(CommDialect::kShardings);
  return success();
}

LogicalResult Partitioner::run() {
  if (failed(checkArguments()) || failed(verifyShardings(function, symbol, mesh)) || failed(checkUpdates()))
    return failure();
  Block *global = &function.getBody().front();
  auto *local = new Block();
  function.getBody().push_back(local);
  builder.setInsertionPointToStart(local);
  for (BlockArgument argument : global->getArguments())
    parts.map(argument, local->addArgument(localOf(argument), argument.getLoc()));
  if (!llvm::all_of(*global, [&](Operation &op) { return succeeded(build(op)); })) {
    local->erase();
    return failure();
  }
  updateSignature();
  global->erase();
  return success();
}
