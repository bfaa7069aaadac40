//===- StageMap.cpp - the stage of each op --------------------------------===//

#include "passes/Stages/StageMap.h"
#include "dialects/Interfaces/Interfaces.h"
#include "dialects/TG/Facts.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "passes/Base/Signature.h"

using namespace mlir;
using namespace braid;

Dependence::Dependence(func::FuncOp program) {
  DenseSet<Value> ofWeights, ofInputs;
  for (BlockArgument argument : program.getArguments()) {
    // States, such as sums over microbatches, belong to this rank and this microbatch.
    if (parameterOf(argument) || stateOf(argument))
      ofWeights.insert(argument);
    if (!parameterOf(argument))
      ofInputs.insert(argument);
  }
  for (Operation &op : program.front().without_terminator()) {
    SmallVector<Value> read = valuesReadBy(&op);
    bool readsWeights = llvm::any_of(read, [&](Value value) { return ofWeights.contains(value); });
    bool readsInputs = llvm::any_of(read, [&](Value value) { return ofInputs.contains(value); });
    if (readsWeights)
      ofWeights.insert(op.result_begin(), op.result_end());
    if (readsInputs)
      ofInputs.insert(op.result_begin(), op.result_end());
    if (readsWeights && readsInputs)
      ofStages.insert(&op);
  }
}

std::optional<unsigned> StageMap::stageOf(Operation *op) const {
  auto found = stages.find(op);
  return found == stages.end() ? std::nullopt : std::optional(found->second);
}

std::optional<unsigned> StageMap::stageOf(Value value) const {
  Operation *op = value.getDefiningOp();
  return op ? stageOf(op) : std::nullopt;
}

bool StageMap::isBackward(Operation *op) const { return tg::phaseOf(op) == tg::Phase::Backward; }

/// Forward: the last stage of the operands. Backward: the first stage of the gradient operands, else the last stage of
/// the forward operands.
unsigned StageMap::stageWithoutUnit(Operation *op) const {
  std::optional<unsigned> ofForward, ofBackward;
  for (Value read : stagedReads(op))
    if (std::optional<unsigned> stage = stageOf(read)) {
      if (isBackward(read.getDefiningOp()))
        ofBackward = std::min(ofBackward.value_or(*stage), *stage);
      else
        ofForward = std::max(ofForward.value_or(*stage), *stage);
    }
  if (isBackward(op))
    return ofBackward.value_or(ofForward.value_or(units.last()));
  return ofForward.value_or(0);
}

/// Whether an op reads a sum of the loss or of its divisor. Such ops are in the stage of the loss.
static bool readsSumOfLoss(Operation *op) {
  return llvm::any_of(op->getOperands(), [](Value operand) {
    auto argument = dyn_cast<BlockArgument>(operand);
    tg::StateAttr state = argument ? stateOf(argument) : tg::StateAttr();
    return state && state.isOfLoss();
  });
}

static unsigned bitsOf(Value value) { return getElementTypeOrSelf(value).getIntOrFloatBitWidth(); }

static bool changesType(Operation *op) {
  return numericKindOf(op) == NumericKind::Conversion && op->getNumOperands() == 1 && op->getNumResults() == 1;
}

/// Whether an op computes a new value of a state. Such an op needs a stage even if it depends on little else.
static bool makesUpdate(Operation *op) {
  return llvm::any_of(op->getUses(), [](OpOperand &use) { return bool(tg::updatedTensorName(use)); });
}

/// Whether an op converts to a wider type for its readers. Only the narrow value is sent or kept.
static bool isWider(Operation *op) {
  bool isReturned = llvm::any_of(op->getUsers(), [](Operation *user) { return isa<func::ReturnOp>(user); });
  return !isReturned && changesType(op) && bitsOf(op->getResult(0)) > bitsOf(op->getOperand(0));
}

/// Returns the stage in which gradients from later stages are added or narrowed. Doing this before sending reduces
/// traffic.
std::optional<unsigned> StageMap::stageOfSums(Operation *op) const {
  bool isNarrower = changesType(op) && bitsOf(op->getResult(0)) < bitsOf(op->getOperand(0));
  if ((op->getNumOperands() < 2 && !isNarrower) || op->getNumResults() != 1 || tg::isGradient(tg::factsOf(op)))
    return std::nullopt;
  auto shapeOf = [](Value value) { return cast<RankedTensorType>(value.getType()).getShape(); };
  std::optional<unsigned> first;
  for (Value operand : op->getOperands()) {
    SmallVector<Value> staged = stagedAmong(operand);
    if (staged.empty() || shapeOf(operand) != shapeOf(op->getResult(0)))
      return std::nullopt;
    for (Value value : staged)
      first = std::min(first.value_or(*stageOf(value)), *stageOf(value));
  }
  return first;
}

/// Returns the first stage that reads the results of an op.
std::optional<unsigned> StageMap::firstReader(Operation *op) const {
  std::optional<unsigned> first;
  for (Operation *reader : op->getUsers())
    if (std::optional<unsigned> stage = stageOf(reader) ? stageOf(reader) : firstReader(reader))
      first = std::min(first.value_or(*stage), *stage);
  return first;
}

/// Places ops without a unit whose operands have no stage: in the stage of their first reader.
void StageMap::placeSources(func::FuncOp program, const Dependence &dependence) {
  for (Operation &op : llvm::reverse(program.front().without_terminator())) {
    if ((!dependence.isOfStage(&op) && !makesUpdate(&op)) || stageOf(&op) || isWider(&op))
      continue;
    stages[&op] = firstReader(&op).value_or(0);
  }
}

/// Whether an op reads a gradient accumulator, directly or through ops without a stage. Such an op is in the stage of
/// the values that it adds.
bool StageMap::readsAccumulator(Operation *op) const {
  return llvm::any_of(argumentsReadBy(valuesReadBy(op)), [](BlockArgument argument) {
    tg::StateAttr state = stateOf(argument);
    return state && state.isAccumulator();
  });
}

/// Whether an earlier stage can recompute a forward value of a later stage, because it does not depend on that stage.
bool StageMap::isRepeatable(Value value, unsigned stage) const {
  Operation *producer = value.getDefiningOp();
  auto isThere = [&](Value read) { return *stageOf(read) <= stage || isRepeatable(read, stage); };
  auto isKept = [](BlockArgument argument) { return parameterOf(argument) || stateOf(argument); };
  return !isBackward(producer) && isMemoryEffectFree(producer) && !isa<comm::CollectiveOpInterface>(producer) &&
         llvm::none_of(argumentsReadBy(valuesReadBy(producer)), isKept) && llvm::all_of(stagedReads(producer), isThere);
}

/// Clones such a value, and its predecessors in later stages, for its reader. An example is a mask that a later loss
/// and the gradient of this stage share.
Value StageMap::repeat(Value value, Operation *reader, unsigned stage) {
  Operation *producer = value.getDefiningOp();
  IRMapping mapping;
  for (Value read : producer->getOperands())
    if (std::optional<unsigned> from = stageOf(read); from && *from > stage)
      mapping.map(read, repeat(read, reader, stage));
  OpBuilder builder(reader);
  Operation *copy = builder.clone(*producer, mapping);
  copy->setLoc(tg::withoutTensor(reader->getLoc()));
  set(copy, stage);
  return copy->getResult(cast<OpResult>(value).getResultNumber());
}

LogicalResult StageMap::place(Operation *op) {
  auto unit = units.ofUnit.find(tg::unitOf(tg::factsOf(op)));
  if (isWider(op))
    return success();
  bool readsStage = !stagedReads(op).empty();
  bool isSource = !readsStage && !readsSumOfLoss(op) && (!isBackward(op) || readsAccumulator(op));
  if (unit == units.ofUnit.end() && isSource)
    return success();
  unsigned stage = unit != units.ofUnit.end() ? unit->second : readsSumOfLoss(op) ? units.last() : stageWithoutUnit(op);
  if (std::optional<unsigned> later = stageOfSums(op); later && isBackward(op))
    stage = std::max(stage, *later);
  for (Value read : stagedReads(op)) {
    std::optional<unsigned> from = stageOf(read);
    if (*from == stage)
      continue;
    bool wasBackward = isBackward(read.getDefiningOp()), flowsBack = *from > stage;
    if (wasBackward == flowsBack)
      continue;
    if (flowsBack && isRepeatable(read, stage) && llvm::is_contained(op->getOperands(), read)) {
      op->replaceUsesOfWith(read, repeat(read, op, stage));
      continue;
    }
    InFlightDiagnostic error = op->emitOpError()
                               << "is in stage " << stage << " of the pipeline, but reads a value that "
                               << (wasBackward ? "backward" : "forward") << " makes in stage " << *from
                               << (wasBackward ? "; backward sends values only to earlier stages"
                                               : "; forward sends values only to later stages")
                               << ": cut the model into other stages";
    error.attachNote(read.getLoc()) << "'" << read.getDefiningOp()->getName() << "' makes the value here";
    return error;
  }
  stages[op] = stage;
  return success();
}

/// Moves a gather for a single other stage to that stage, so that less is sent.
void StageMap::placeGathers(func::FuncOp program) {
  DenseMap<Operation *, llvm::SmallSetVector<unsigned, 2>> readers;
  for (Operation &op : program.front().without_terminator())
    if (std::optional<unsigned> stage = stageOf(&op))
      for (Value read : stagedReads(&op))
        readers[read.getDefiningOp()].insert(*stage);
  for (Operation &op : llvm::reverse(program.front().without_terminator())) {
    auto found = readers.find(&op);
    bool isGather =
        isa<comm::CollectiveOpInterface>(op) && bytesOf(op.getResultTypes()) > bytesOf(op.getOperandTypes());
    if (isGather && stageOf(&op) && found != readers.end() && found->second.size() == 1)
      stages[&op] = found->second.front();
  }
}

FailureOr<StageMap> StageMap::of(func::FuncOp program, const UnitStages &units) {
  StageMap map(units);
  Dependence dependence(program);
  for (Operation &op : program.front().without_terminator())
    if ((dependence.isOfStage(&op) || makesUpdate(&op)) && failed(map.place(&op)))
      return failure();
  map.placeSources(program, dependence);
  map.placeGathers(program);
  return map;
}

SmallVector<Value> StageMap::stagedAmong(ArrayRef<Value> values) const {
  llvm::SetVector<Value> all(values.begin(), values.end());
  SmallVector<Value> staged;
  for (unsigned next = 0; next < all.size(); ++next) {
    Operation *op = all[next].getDefiningOp();
    if (stageOf(all[next]))
      staged.push_back(all[next]);
    else if (op)
      for (Value read : valuesReadBy(op))
        all.insert(read);
  }
  return staged;
}

SmallVector<BlockArgument> StageMap::argumentsReadBy(ArrayRef<Value> values) const {
  llvm::SetVector<Value> all(values.begin(), values.end());
  SmallVector<BlockArgument> arguments;
  for (unsigned next = 0; next < all.size(); ++next) {
    if (auto argument = dyn_cast<BlockArgument>(all[next]))
      arguments.push_back(argument);
    else if (!stageOf(all[next]))
      for (Value read : valuesReadBy(all[next].getDefiningOp()))
        all.insert(read);
  }
  llvm::sort(arguments, [](BlockArgument a, BlockArgument b) { return a.getArgNumber() < b.getArgNumber(); });
  return arguments;
}
