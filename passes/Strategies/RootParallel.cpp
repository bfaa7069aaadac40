//===- RootParallel.cpp - one rank keeps all tensors ----------------------===//
//
// The classic data parallelism of one process. In each step the root scatters the batch and broadcasts the parameters;
// the workers' results are reduced and gathered to it. The pass starts from a data parallel program, in which all
// ranks keep and update everything. It finds the ops that workers need, those whose results are sent. At the end the
// root sends the results to the workers, because all ranks continue with them.
//
//===----------------------------------------------------------------------===//

#include "dialects/Comm/MovedValues.h"
#include "dialects/Comm/Programs.h"
#include "dialects/Comm/Sharding.h"
#include "dialects/TG/Facts.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/SymbolTable.h"
#include "passes/Base/Signature.h"
#define GEN_PASS_DEF_ROOTPARALLELPASS
#include "passes/Strategies/Passes.h"
#include "llvm/ADT/MapVector.h"

using namespace mlir;
using namespace braid;
using namespace braid::comm;

namespace {
constexpr int64_t kRoot = 0;

/// Builds the functions of the root and of the workers together, with the same collectives in the same order.
class Split {
public:
  Split(func::FuncOp program, const Mesh &mesh)
      : program(program), numbers(program), mesh(mesh),
        symbol(program->getAttrOfType<ProgramAttr>(CommDialect::kProgram).getMesh()),
        axes(AxesAttr::get(program.getContext(), mesh.getNames())) {}

  LogicalResult check();
  /// Returns the root's and the workers' function.
  std::pair<func::FuncOp, func::FuncOp> make();

private:
  struct Side {
    func::FuncOp function;
    OpBuilder builder;
    IRMapping values;
    bool isRoot;
  };

  DictionaryAttr ofArgument(unsigned i) { return emptyIfNull(program.getArgAttrDict(i)); }
  DictionaryAttr ofResult(unsigned i) { return emptyIfNull(program.getResultAttrDict(i)); }
  DictionaryAttr emptyIfNull(DictionaryAttr attributes) {
    return attributes ? attributes : DictionaryAttr::get(program.getContext());
  }
  LogicalResult checkPart(DictionaryAttr attributes, const Twine &what);
  std::optional<int64_t> shardedDim(DictionaryAttr attributes) const;
  bool isPerRank(DictionaryAttr attributes) const;
  bool isReadByAllRanks(DictionaryAttr attributes) const;
  IntegerAttr root() const { return Builder(symbol.getContext()).getI64IntegerAttr(kRoot); }
  template <typename Values> void setMoved(Operation *op, const Values &values) const {
    setMovedValues(op, llvm::map_to_vector(values, [&](Value value) { return numbers.of(value); }));
  }
  void findNeeded();
  Side begin(StringRef name, bool isRoot);
  void sendArguments(Side &side);
  void copyBody(Side &side);
  Location locationOfSent(ArrayRef<BlockArgument> arguments) const;
  tg::FactsAttr factsOfResult(Value value) const;
  Value gather(Side &side, Value part, DictionaryAttr attributes, int64_t dim);
  SmallVector<Value> sendResults(Side &side);
  void finish(Side &side);

  func::FuncOp program;
  ValueNumbers numbers;
  Mesh mesh;
  FlatSymbolRefAttr symbol;
  AxesAttr axes;
  /// Ops that workers run, and collectives whose results they use.
  DenseSet<Operation *> needed, usedByWorkers;
};
} // namespace

//===----------------------------------------------------------------------===//
// Checks of the program
//===----------------------------------------------------------------------===//

/// Returns the dim that is sharded over the ranks, or nothing for a value that all of them hold.
std::optional<int64_t> Split::shardedDim(DictionaryAttr attributes) const {
  auto sharding = attributes.getAs<ShardingAttr>(CommDialect::kSharding);
  if (sharding)
    for (auto [dim, axes] : llvm::enumerate(sharding.getDims()))
      if (!axes.empty())
        return dim;
  return std::nullopt;
}

/// Whether each rank, workers included, has its own term of an argument, such as a request to stop.
bool Split::isPerRank(DictionaryAttr attributes) const {
  auto sharding = attributes.getAs<ShardingAttr>(CommDialect::kSharding);
  return sharding && sharding.isPartial() && tg::ArgumentAttrs(attributes).input;
}

/// Whether all ranks read a result: it is not sharded, and it is not the new value of a tensor that the root keeps.
bool Split::isReadByAllRanks(DictionaryAttr attributes) const {
  tg::ResultAttrs result(attributes);
  return (result.role || result.output) && !shardedDim(attributes);
}

LogicalResult Split::checkPart(DictionaryAttr attributes, const Twine &what) {
  auto sharding = attributes.getAs<ShardingAttr>(CommDialect::kSharding);
  if (sharding && (sharding.isFlat() || sharding.isPartial()) && !isPerRank(attributes))
    return program.emitError()
           << "comm-root-parallel: " << what << " is " << sharding
           << ", but the root must keep every tensor that lives across steps; use zero=0 and no microbatches";
  return success();
}

LogicalResult Split::check() {
  if (mesh.getNames().size() != 1)
    return program.emitError() << "comm-root-parallel: the mesh " << mesh.str()
                               << " has several axes, but the root serves the ranks of one axis";
  if (mesh.getNumRanks() == 1)
    return program.emitError() << "comm-root-parallel: the mesh " << mesh.str()
                               << " has one rank, so the root has no workers";
  for (unsigned i = 0; i < program.getNumArguments(); ++i)
    if (failed(checkPart(ofArgument(i), "argument #" + Twine(i))))
      return failure();
  for (unsigned i = 0; i < program.getNumResults(); ++i)
    if (failed(checkPart(ofResult(i), "result #" + Twine(i))))
      return failure();
  for (auto op : program.getOps<CollectiveOpInterface>())
    if (!isa<AllReduceOp>(op))
      return op->emitOpError()
             << "is not an all_reduce; comm-root-parallel expects a program of plain data parallelism";
  return success();
}

/// Marks the predecessors of sent values: gradients, and parts of results.
void Split::findNeeded() {
  Operation *ret = returnOf(program);
  auto need = [&](Value value) {
    if (Operation *op = value.getDefiningOp())
      needed.insert(op);
  };
  for (OpOperand &operand : ret->getOpOperands())
    if (shardedDim(ofResult(operand.getOperandNumber())))
      need(operand.get());
  for (Operation &op : llvm::reverse(program.getBody().front().without_terminator())) {
    if (isa<AllReduceOp>(op) && needed.contains(&op))
      usedByWorkers.insert(&op);
    if (isa<AllReduceOp>(op))
      needed.insert(&op);
    if (needed.contains(&op))
      llvm::for_each(op.getOperands(), need);
  }
}

//===----------------------------------------------------------------------===//
// The two functions
//===----------------------------------------------------------------------===//

Split::Side Split::begin(StringRef name, bool isRoot) {
  MLIRContext *context = program.getContext();
  auto function = func::FuncOp::create(program.getLoc(), name, FunctionType::get(context, {}, {}));
  SmallVector<int64_t> ranks = llvm::to_vector(llvm::seq<int64_t>(0, mesh.getNumRanks()));
  llvm::erase_if(ranks, [&](int64_t rank) { return (rank == kRoot) != isRoot; });
  function->setAttr(CommDialect::kProgram, ProgramAttr::get(context, symbol, mesh.getNames().front(), ranks));
  function->setAttr(kEntry, program.getSymNameAttr());
  Block *body = function.addEntryBlock();
  return {function, OpBuilder::atBlockEnd(body), {}, isRoot};
}

/// Returns attributes without those of a rank's part, because the root holds the whole tensor.
static DictionaryAttr withoutShardAttributes(DictionaryAttr attributes) {
  NamedAttrList list(attributes);
  list.erase(CommDialect::kSharding);
  list.erase(CommDialect::kGlobal);
  return list.getDictionary(attributes.getContext());
}

static Type wholeType(DictionaryAttr attributes, Type part) {
  auto global = attributes.getAs<TypeAttr>(CommDialect::kGlobal);
  return global ? global.getValue() : part;
}

/// Parameters and the batch are sent for the forward pass.
Location Split::locationOfSent(ArrayRef<BlockArgument> arguments) const {
  auto ofEach = llvm::map_to_vector(arguments, [&](BlockArgument argument) {
    tg::ParamAttr parameter = parameterOf(argument);
    return parameter ? factsOfParameter(parameter, tg::Phase::Forward)
                     : tg::getFacts(symbol.getContext(), tg::Phase::Forward);
  });
  return tg::withFacts(program->getLoc(), ofEach);
}

/// Sends the arguments that workers need: parts of the batch, and all other arguments whole. Each message holds
/// tensors of one element type.
void Split::sendArguments(Side &side) {
  Block &body = side.function.getBody().front();
  /// Arguments by element type and by whether they are sharded.
  llvm::MapVector<std::pair<Type, unsigned>, SmallVector<BlockArgument>> sent;
  for (BlockArgument argument : program.getArguments()) {
    DictionaryAttr attributes = ofArgument(argument.getArgNumber());
    bool isOwn = isPerRank(attributes);
    if (side.isRoot || isOwn)
      side.values.map(argument, body.addArgument(wholeType(attributes, argument.getType()), argument.getLoc()));
    if (isOwn)
      continue;
    std::optional<int64_t> dim = shardedDim(attributes);
    bool isUsed = llvm::any_of(argument.getUsers(), [&](Operation *user) { return needed.contains(user); });
    if (isUsed || dim)
      sent[{cast<RankedTensorType>(argument.getType()).getElementType(), unsigned(dim.has_value())}].push_back(
          argument);
  }
  for (auto &[group, arguments] : sent) {
    SmallVector<Value> ins;
    SmallVector<Type> types;
    SmallVector<int64_t> dims;
    for (BlockArgument argument : arguments) {
      if (side.isRoot)
        ins.push_back(side.values.lookup(argument));
      types.push_back(argument.getType());
      dims.push_back(shardedDim(ofArgument(argument.getArgNumber())).value_or(0));
    }
    bool isSharded = group.second;
    Location loc = locationOfSent(arguments);
    Operation *op;
    if (isSharded)
      op = side.builder.create<ScatterOp>(loc, types, ins, ValueRange(), side.builder.getDenseI64ArrayAttr(dims),
                                          root(), symbol, axes);
    else
      op = side.builder.create<BroadcastOp>(loc, side.isRoot ? TypeRange() : TypeRange(types), ins, ValueRange(),
                                            root(), symbol, axes);
    setMoved(op, arguments);
    // The root computes with its own parameters.
    if (isSharded || !side.isRoot)
      for (auto [argument, result] : llvm::zip_equal(arguments, op->getResults()))
        side.values.map(argument, result);
  }
}

/// Copies the body. The root runs all ops; a sum that workers do not use is reduced to the root only.
void Split::copyBody(Side &side) {
  for (Operation &op : program.getBody().front().without_terminator()) {
    auto reduce = dyn_cast<AllReduceOp>(op);
    if (!reduce || usedByWorkers.contains(&op)) {
      if (!side.isRoot && !needed.contains(&op))
        continue;
      Operation *copy = side.builder.clone(op, side.values);
      if (reduce)
        setMoved(copy, reduce.getResults());
      continue;
    }
    auto ins = llvm::map_to_vector(reduce.getIns(), [&](Value value) { return side.values.lookup(value); });
    auto results = side.isRoot ? TypeRange(reduce->getResultTypes()) : TypeRange();
    auto kind = ReductionAttr::get(op.getContext(), reduce.getKind());
    auto rooted = side.builder.create<ReduceOp>(op.getLoc(), results, kind, ins, ValueRange(), root(), symbol, axes);
    setMoved(rooted, reduce.getResults());
    if (side.isRoot)
      side.values.map(reduce.getResults(), rooted.getResults());
  }
}

/// Returns the facts of a result for its message.
tg::FactsAttr Split::factsOfResult(Value value) const {
  tg::FactsAttr facts = tg::factsOfTensor(value);
  return facts ? facts : tg::getFacts(symbol.getContext(), tg::Phase::Update);
}

/// Gathers a result from its parts; returns null on workers.
Value Split::gather(Side &side, Value part, DictionaryAttr attributes, int64_t dim) {
  Type whole = wholeType(attributes, part.getType());
  auto gather = side.builder.create<GatherOp>(
      tg::withFacts(program->getLoc(), factsOfResult(part)), side.isRoot ? TypeRange(whole) : TypeRange(),
      side.values.lookup(part), ValueRange(), side.builder.getDenseI64ArrayAttr(dim), root(), symbol, axes);
  setMoved(gather, ValueRange(part));
  return side.isRoot ? gather.getResult(0) : Value();
}

/// Sends the results that all ranks read, grouped by element type. Returns the values that workers receive, with null
/// for other results.
SmallVector<Value> Split::sendResults(Side &side) {
  llvm::MapVector<Type, SmallVector<OpOperand *>> readByAll;
  for (OpOperand &operand : returnOf(program)->getOpOperands())
    if (isReadByAllRanks(ofResult(operand.getOperandNumber())))
      readByAll[getElementTypeOrSelf(operand.get())].push_back(&operand);
  SmallVector<Value> received(program.getNumResults());
  for (auto &[element, operands] : readByAll) {
    SmallVector<Value> sent;
    SmallVector<Type> types;
    SmallVector<tg::FactsAttr> facts;
    for (OpOperand *operand : operands) {
      facts.push_back(factsOfResult(operand->get()));
      if (side.isRoot)
        sent.push_back(side.values.lookup(operand->get()));
      else
        types.push_back(operand->get().getType());
    }
    auto broadcast = side.builder.create<BroadcastOp>(tg::withFacts(program->getLoc(), facts), types, sent,
                                                      ValueRange(), root(), symbol, axes);
    setMoved(broadcast, llvm::map_range(operands, [](OpOperand *operand) { return operand->get(); }));
    for (auto [operand, value] : llvm::zip(operands, broadcast.getResults()))
      received[operand->getOperandNumber()] = value;
  }
  return received;
}

/// The root returns everything, with sharded values gathered; workers return the values that the root sends.
void Split::finish(Side &side) {
  SmallVector<Value> returned(program.getNumResults());
  for (OpOperand &operand : returnOf(program)->getOpOperands()) {
    unsigned index = operand.getOperandNumber();
    if (std::optional<int64_t> dim = shardedDim(ofResult(index)))
      returned[index] = gather(side, operand.get(), ofResult(index), *dim);
    else if (side.isRoot)
      returned[index] = side.values.lookup(operand.get());
  }
  SmallVector<Value> received = sendResults(side);
  if (!side.isRoot)
    returned = std::move(received);

  SmallVector<DictionaryAttr> arguments, results;
  for (unsigned i = 0; i < program.getNumArguments(); ++i)
    if (bool isOwn = isPerRank(ofArgument(i)); isOwn || side.isRoot)
      arguments.push_back(isOwn ? ofArgument(i) : withoutShardAttributes(ofArgument(i)));
  for (auto [index, value] : llvm::enumerate(returned))
    if (value)
      results.push_back(withoutShardAttributes(ofResult(index)));
  llvm::erase(returned, Value());
  side.builder.create<func::ReturnOp>(program.getLoc(), returned);
  updateType(side.function);
  side.function.setAllArgAttrs(arguments);
  side.function.setAllResultAttrs(results);
}

std::pair<func::FuncOp, func::FuncOp> Split::make() {
  findNeeded();
  Side root = begin(program.getName(), /*isRoot=*/true);
  Side workers = begin((program.getName() + "_workers").str(), /*isRoot=*/false);
  for (Side *side : {&root, &workers}) {
    sendArguments(*side);
    copyBody(*side);
    finish(*side);
  }
  return {root.function, workers.function};
}

namespace {
struct RootParallel final : braid::impl::RootParallelPassBase<RootParallel> {
  using RootParallelPassBase::RootParallelPassBase;

  void runOnOperation() final {
    SymbolTable symbols(getOperation());
    SmallVector<func::FuncOp> programs;
    if (function.empty())
      llvm::copy_if(getOperation().getOps<func::FuncOp>(), std::back_inserter(programs), isOfAllRanks);
    else
      programs.push_back(symbols.lookup<func::FuncOp>(function));
    for (func::FuncOp program : programs)
      if (failed(split(program, symbols)))
        return signalPassFailure();
  }

private:
  static bool isOfAllRanks(func::FuncOp program) {
    auto ranks = program->getAttrOfType<ProgramAttr>(CommDialect::kProgram);
    return ranks && !ranks.getAxis() && !program.isExternal();
  }
  LogicalResult split(func::FuncOp program, SymbolTable &symbols);
};
} // namespace

LogicalResult RootParallel::split(func::FuncOp program, SymbolTable &symbols) {
  if (!program || !isOfAllRanks(program))
    return getOperation().emitError()
           << "comm-root-parallel needs a program that all ranks run, such as comm-shard makes; '" << function
           << (program ? "' is not run by all ranks" : "' is not in the module");
  FailureOr<Mesh> mesh = Mesh::require(program, program->getAttrOfType<ProgramAttr>(CommDialect::kProgram).getMesh());
  if (failed(mesh))
    return failure();
  Split split(program, *mesh);
  if (failed(split.check()))
    return failure();
  auto [root, workers] = split.make();
  Block::iterator place(program);
  symbols.insert(workers, std::next(place));
  symbols.erase(program);
  symbols.insert(root, Block::iterator(workers));
  return success();
}
