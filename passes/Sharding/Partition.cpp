//===- Partition.cpp - the program of a rank ------------------------------===//
//
// Every value of the global function has a sharding, and every change of sharding is a comm.reshard. So each op is
// built independently: on the rank's parts of its operands, with the local types of its results. An op knows how to
// run on a part (`buildShard`), and `reshardSteps` lists the steps of a reshard. `verifyShardings` runs first, so ops
// are known to fit their rules.
//
//===----------------------------------------------------------------------===//

#include "dialects/TG/Facts.h"
#include "dialects/TG/ProgramSignature.h"
#include "dialects/TG/TG.h"
#include "lib/Sharding/FactorAxes.h"
#include "lib/Sharding/GlobalFunction.h"
#include "lib/Sharding/VerifyShardings.h"
#include "mlir/IR/IRMapping.h"
#define GEN_PASS_DEF_PARTITIONPASS
#include "passes/Sharding/Passes.h"
#include "passes/Sharding/RankPlaces.h"
#include "passes/Sharding/ZigzagDims.h"

using namespace mlir;
using namespace braid;
using namespace braid::comm;

//===----------------------------------------------------------------------===//
// Functions
//===----------------------------------------------------------------------===//

namespace {
/// Makes one function local.
class Partitioner {
public:
  Partitioner(func::FuncOp function, FlatSymbolRefAttr symbol, const Mesh &mesh, const ZigzagDims &zigzag)
      : function(function), symbol(symbol), mesh(mesh), zigzag(zigzag), builder(function.getContext()),
        places(builder, symbol, mesh) {}

  LogicalResult run();

private:
  LogicalResult checkArguments();
  LogicalResult checkUpdates();
  LogicalResult buildArgument(Block &local, BlockArgument argument);
  LogicalResult build(Operation &op);
  LogicalResult buildReturn(Operation &op);
  FailureOr<Value> reshard(function_ref<InFlightDiagnostic()> emitError, Location loc, Value value, Value part,
                           ShardingAttr from, ShardingAttr to);
  Value extractPart(const ReshardStep &step, Location loc, Value part);
  LogicalResult buildShard(Operation &op, const ShardingRule &rule);
  ShardingAttr shardingOfInput(unsigned argument);
  ShardingAttr shardingOfOutput(unsigned result);
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
  const ZigzagDims &zigzag;
  OpBuilder builder;
  RankPlaces places;
  /// Shardings of global values, and the rank's parts of them.
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
    FailureOr<ZigzagDims> zigzag = ZigzagDims::of(function, (*global)->mesh);
    if (failed(zigzag))
      return failure();
    return Partitioner(function, (*global)->symbol, (*global)->mesh, *zigzag).run();
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

/// Checks that an argument that is updated in place has the sharding of its new value.
LogicalResult Partitioner::checkUpdates() {
  tg::ProgramSignature signature(function);
  for (unsigned result = 0; result < function.getNumResults(); ++result) {
    BlockArgument argument = signature.updatedArgument(result);
    if (!argument)
      continue;
    ShardingAttr old = held[argument];
    ShardingAttr updated = shardingOfResult(function, result, symbol);
    if (old != plain(updated))
      return function.emitError() << nameOfResult(function, result) << " has " << updated << ", but "
                                  << nameOfArgument(function, argument.getArgNumber())
                                  << ", which it updates in place, has " << old << "; give both one sharding";
  }
  return success();
}

ShardingAttr Partitioner::shardingOfInput(unsigned argument) {
  return zigzag.atBoundary(function.getArgument(argument), shardingOfArgument(function, argument, symbol));
}

ShardingAttr Partitioner::shardingOfOutput(unsigned result) {
  Value returned = function.front().getTerminator()->getOperand(result);
  return zigzag.atBoundary(returned, shardingOfResult(function, result, symbol));
}

/// Sets the local types, and the logical tensors that they are parts of. Replicated values need no attributes. All
/// attributes are set at once, because setting one copies the whole list.
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
  SmallVector<Type> inputs = makeLocal(type.getInputs(), ofInputs, [&](unsigned i) { return shardingOfInput(i); });
  SmallVector<Type> results = makeLocal(type.getResults(), ofResults, [&](unsigned i) { return shardingOfOutput(i); });
  function.setAllArgAttrs(ofInputs);
  function.setAllResultAttrs(ofResults);
  function.setType(FunctionType::get(function.getContext(), inputs, results));
  function->setAttr(CommDialect::kProgram, ProgramAttr::get(function.getContext(), symbol, StringAttr(), {}));
}

//===----------------------------------------------------------------------===//
// The body
//===----------------------------------------------------------------------===//

/// Whether a slice commutes with the preceding communication step.
static bool joins(const ReshardStep &step, const ReshardStep &slice) {
  bool isFlat = step.dim == kFlat || slice.dim == kFlat;
  return slice.kind == ReshardStep::Kind::Slice && step.kind != ReshardStep::Kind::Slice &&
         (step.kind == ReshardStep::Kind::AllReduce || (!isFlat && step.dim != slice.dim));
}

Value Partitioner::extractPart(const ReshardStep &step, Location loc, Value part) {
  switch (step.kind) {
  case ReshardStep::Kind::AllReduce:
    return builder.create<AllReduceOp>(loc, step.reduction, part, symbol, step.axes)->getResult(0);
  case ReshardStep::Kind::AllGather:
    return builder.create<AllGatherOp>(loc, part, step.dim, symbol, step.axes, step.result)->getResult(0);
  case ReshardStep::Kind::Slice:
    return builder.create<SliceOp>(loc, part, step.dim, symbol, step.axes, mesh.sizeOf(step.axes));
  }
  llvm_unreachable("all kinds are named");
}

/// Builds the steps of a reshard. Blocks in zigzag are put in order behind their gather, and out of order before a
/// rank slices its own. This happens outside of two steps that comm-simplify joins.
FailureOr<Value> Partitioner::reshard(function_ref<InFlightDiagnostic()> emitError, Location loc, Value value,
                                      Value part, ShardingAttr from, ShardingAttr to) {
  auto type = cast<RankedTensorType>(value.getType());
  FailureOr<SmallVector<ReshardStep>> steps = reshardSteps(emitError, type, from, to, mesh);
  if (failed(steps) || failed(zigzag.verify(emitError, value, from, mesh)) ||
      failed(zigzag.verify(emitError, value, to, mesh)))
    return failure();
  auto reorder = [&](const ReshardStep &step) {
    SmallVector<int64_t> order = zigzag.orderOf(value, step, mesh);
    if (!order.empty())
      part = builder.create<tg::ReorderOp>(loc, part, step.dim, order);
  };
  for (size_t next = 0; next < steps->size();) {
    const ReshardStep &step = (*steps)[next++];
    bool isSlice = step.kind == ReshardStep::Kind::Slice;
    const ReshardStep *slice = isSlice ? &step : nullptr;
    if (next < steps->size() && joins(step, (*steps)[next]))
      slice = &(*steps)[next++];
    if (slice)
      reorder(*slice);
    part = extractPart(step, loc, part);
    if (slice && !isSlice)
      part = extractPart(*slice, loc, part);
    if (!isSlice)
      reorder(step);
  }
  return part;
}

/// Returns the number of elements that flat ranges of an op divide: the local elements of its flat tensors, which is
/// equal for all of them.
static int64_t flatElements(Operation &op, ArrayRef<ShardingAttr> operands, const Mesh &mesh) {
  for (auto [value, sharding] : llvm::zip_equal(op.getOperands(), operands))
    if (sharding.isFlat())
      return localDimsType(cast<RankedTensorType>(value.getType()), sharding, mesh).getNumElements();
  return 0;
}

LogicalResult Partitioner::buildShard(Operation &op, const ShardingRule &rule) {
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
  std::optional<unsigned> inZigzag = zigzag.factorOf(&op, rule, *axes);
  ArrayRef<Value> starts;
  if (inZigzag) {
    AxesAttr list = axes->factors[*inZigzag];
    int64_t size = rule.factors[*inZigzag].size;
    if (std::string problem = zigzag.order().problemOf(size, list, mesh); !problem.empty())
      return op.emitOpError() << "cannot be sharded in zigzag: " << problem << "; " << kInOrderAdvice;
    if (rule.factors[*inZigzag].positional)
      starts = places.starts(op.getLoc(), zigzag.order(), list, size);
  }
  auto offset = [&](unsigned factor) -> Value {
    if (factor == inZigzag)
      return starts.front();
    return places.offset(op.getLoc(), axes->factors[factor], rule.factors[factor].size / shardCounts[factor]);
  };
  auto maskPadding = [&](Value range, double fill) {
    return places.maskPadding(op.getLoc(), range, fill, axes->flat, flatElements(op, operands, mesh));
  };
  Shard shard{local, types, shardCounts, !axes->flat.empty(), offset, maskPadding};
  // Ops built on the shard have local results.
  op.removeAttr(CommDialect::kShardings);
  parts.map(op.getResults(), starts.size() == 2
                                 ? buildZigzagShard(op, builder, FactorDims::along(rule, *inZigzag), starts, shard)
                                 : buildOnShard(&op, builder, shard));
  return success();
}

LogicalResult Partitioner::build(Operation &op) {
  for (Value result : op.getResults())
    hold(result);
  if (auto change = dyn_cast<ReshardOp>(op)) {
    Value input = change.getInput();
    auto emitError = [&] { return op.emitOpError(); };
    FailureOr<Value> part =
        reshard(emitError, op.getLoc(), input, parts.lookup(input), held[input], held[change.getResult()]);
    if (succeeded(part))
      parts.map(change.getResult(), *part);
    return part;
  }
  // The preceding reshards have already done what the op requests.
  if (auto constrain = dyn_cast<ConstrainOp>(op)) {
    parts.map(constrain.getResult(), parts.lookup(constrain.getInput()));
    return success();
  }
  if (op.hasTrait<OpTrait::IsTerminator>())
    return buildReturn(op);
  if (std::optional<ShardingRule> rule = shardingRuleOf(&op))
    return buildShard(op, *rule);
  // Every rank computes the same on whole tensors.
  builder.clone(op, parts)->removeAttr(CommDialect::kShardings);
  return success();
}

LogicalResult Partitioner::buildReturn(Operation &op) {
  Operation *local = builder.clone(op, parts);
  builder.setInsertionPoint(local);
  for (OpOperand &operand : op.getOpOperands()) {
    Value value = operand.get();
    ShardingAttr from = held[value], to = zigzag.atBoundary(value, from);
    auto emitError = [&] { return function.emitError() << nameOfResult(function, operand.getOperandNumber()) << ": "; };
    FailureOr<Value> part = reshard(emitError, tg::locationOf(value), value, parts.lookup(value), from, to);
    if (failed(part))
      return failure();
    local->setOperand(operand.getOperandNumber(), *part);
  }
  return success();
}

/// Returns the location of ops on an argument, which belong to its first reader.
static Location locationForReader(BlockArgument argument) {
  Operation *first = nullptr;
  for (Operation *user : argument.getUsers())
    if (!first || user->isBeforeInBlock(first))
      first = user;
  Location loc = argument.getLoc();
  tg::FactsAttr facts = first ? tg::factsOf(first) : tg::FactsAttr();
  return facts ? tg::withFacts(loc, tg::getFacts(loc.getContext(), facts.getPhase(), tg::unitOf(facts))) : loc;
}

/// Builds an argument. It arrives in the sharding that callers use, and becomes the rank's part for its readers.
LogicalResult Partitioner::buildArgument(Block &local, BlockArgument argument) {
  ShardingAttr from = zigzag.atBoundary(argument, held[argument]);
  auto type = cast<RankedTensorType>(argument.getType());
  Value given = local.addArgument(localType(type, from, mesh), argument.getLoc());
  auto emitError = [&] { return function.emitError() << nameOfArgument(function, argument.getArgNumber()) << ": "; };
  FailureOr<Value> part = reshard(emitError, locationForReader(argument), argument, given, from, held[argument]);
  if (succeeded(part))
    parts.map(argument, *part);
  return part;
}

LogicalResult Partitioner::run() {
  if (failed(checkArguments()) || failed(verifyShardings(function, symbol, mesh)) || failed(checkUpdates()))
    return failure();
  Block *global = &function.getBody().front();
  auto *local = new Block();
  function.getBody().push_back(local);
  builder.setInsertionPointToStart(local);
  auto isBuilt = [&](BlockArgument argument) { return succeeded(buildArgument(*local, argument)); };
  if (!llvm::all_of(global->getArguments(), isBuilt) ||
      !llvm::all_of(*global, [&](Operation &op) { return succeeded(build(op)); })) {
    local->erase();
    return failure();
  }
  updateSignature();
  global->erase();
  return success();
}
