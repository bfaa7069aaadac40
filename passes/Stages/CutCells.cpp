//===- CutCells.cpp - cut a pipeline's cells into functions ---------------===//
//
// The program of one microbatch becomes one function for each stage and each action of its cells, and one for each
// message. Forward values that backward of the same stage reads are saved: forward writes a state in a slot, and
// backward reads it. Values that another stage reads are sent from stage to stage.
//
//===----------------------------------------------------------------------===//

#include "dialects/Comm/MovedValues.h"
#include "dialects/TG/Facts.h"
#include "lib/Schedule/Forward.h"
#include "lib/Schedule/PipelineTable.h"
#include "passes/Base/Signature.h"
#include "passes/Stages/CutProgram.h"
#include <set>

using namespace mlir;
using namespace braid;
using namespace braid::pipeline;

namespace {

/// The parts of a stage's work on a microbatch.
enum class Part { Forward, Input, Weights };

/// Values that cross a boundary between stages, in the order of their definitions.
using Sent = llvm::SetVector<Value>;

class CellCutter {
public:
  CellCutter(func::FuncOp program, const StageMap &map, const StageAxis &axis, const Schedule &schedule,
             const Walk &walk)
      : program(program), map(map), axis(axis), schedule(schedule), walk(walk), numbers(program),
        saved(schedule.numStages()), activations(schedule.numStages()), gradients(schedule.numStages()) {}

  Cells run();

private:
  void findReaders();
  void findSent();
  void findParts();
  void findSaved();
  bool isRead(Value value, unsigned stage, ArrayRef<Part> parts) const;
  SmallVector<Operation *> opsOf(unsigned stage, ArrayRef<Part> parts);
  void makeCell(unsigned stage, Action action);
  void makeMessage(unsigned stage, bool isGradient);
  void bringInputs(StageFunction &function, unsigned stage, Action action, ArrayRef<Operation *> ops);
  void returnOutputs(StageFunction &function, unsigned stage, Action action);
  void returnUpdates(StageFunction &function, ArrayRef<Operation *> ops);
  void returnState(StageFunction &function, Value value, StringRef name, tg::TensorKind kind, StringRef slots);
  std::string slotsOf(unsigned stage, Buffer buffer);
  /// `nameOfSent` and `slotsOfSent` name the state for a value that a cell sends: the next stage's input if that stage
  /// is on the same rank.
  std::string nameOfSent(unsigned stage, bool isGradient, unsigned index);
  std::string slotsOfSent(unsigned stage, bool isGradient);
  bool isSentToOther(unsigned stage, bool isGradient) const;
  StageFunction begin(unsigned stage, StringRef kind);
  void finish(StageFunction &function, comm::CellKind kind, unsigned stage);

  func::FuncOp program;
  const StageMap &map;
  const StageAxis &axis;
  const Schedule &schedule;
  const Walk &walk;
  comm::ValueNumbers numbers;
  DenseMap<Operation *, Part> partOf;
  /// The ops with a stage that read a value.
  DenseMap<Value, SmallVector<Operation *>> readers;
  std::vector<llvm::SetVector<Value>> saved;
  /// Values that each stage sends to the next stage, and to the previous one.
  std::vector<Sent> activations, gradients;
  Cells cells;
};

} // namespace

//===----------------------------------------------------------------------===//
// Flow of values
//===----------------------------------------------------------------------===//

void CellCutter::findReaders() {
  for (Operation &op : program.front().without_terminator())
    if (map.stageOf(&op))
      for (Value read : map.stagedReads(&op))
        readers[read].push_back(&op);
}

/// Marks a value as sent over all boundaries on the route to its last reader.
void CellCutter::findSent() {
  for (Operation &op : program.front().without_terminator()) {
    std::optional<unsigned> stage = map.stageOf(&op);
    if (!stage)
      continue;
    for (Value value : op.getResults()) {
      unsigned first = *stage, last = *stage;
      for (Operation *reader : readers.lookup(value)) {
        first = std::min(first, *map.stageOf(reader));
        last = std::max(last, *map.stageOf(reader));
      }
      for (unsigned from = *stage; from < last; ++from)
        activations[from].insert(value);
      for (unsigned from = *stage; from > first; --from)
        gradients[from].insert(value);
    }
  }
}

/// Splits backward of a stage into the ops that the previous stage waits for and the other ops.
void CellCutter::findParts() {
  DenseSet<Value> needed;
  for (const Sent &sent : gradients)
    needed.insert(sent.begin(), sent.end());
  for (Operation &op : llvm::reverse(program.front().without_terminator())) {
    std::optional<unsigned> stage = map.stageOf(&op);
    if (!stage)
      continue;
    if (!map.isBackward(&op)) {
      partOf[&op] = Part::Forward;
      continue;
    }
    bool isNeeded = llvm::any_of(op.getResults(), [&](Value result) { return needed.contains(result); });
    partOf[&op] = isNeeded ? Part::Input : Part::Weights;
    for (Value read : map.stagedReads(&op))
      if (isNeeded && map.stageOf(read) == stage && map.isBackward(read.getDefiningOp()))
        needed.insert(read);
  }
}

bool CellCutter::isRead(Value value, unsigned stage, ArrayRef<Part> parts) const {
  auto found = readers.find(value);
  return found != readers.end() && llvm::any_of(found->second, [&](Operation *reader) {
           return map.stageOf(reader) == stage && llvm::is_contained(parts, partOf.lookup(reader));
         });
}

void CellCutter::findSaved() {
  for (Operation &op : program.front().without_terminator())
    if (std::optional<unsigned> stage = map.stageOf(&op))
      for (Value value : op.getResults()) {
        Part part = partOf.lookup(&op);
        if ((part == Part::Forward && isRead(value, *stage, {Part::Input, Part::Weights})) ||
            (part == Part::Input && isRead(value, *stage, {Part::Weights})))
          saved[*stage].insert(value);
      }
}

SmallVector<Operation *> CellCutter::opsOf(unsigned stage, ArrayRef<Part> parts) {
  SmallVector<Operation *> ops;
  for (Operation &op : program.front().without_terminator())
    if (map.stageOf(&op) == stage && llvm::is_contained(parts, partOf.lookup(&op)))
      ops.push_back(&op);
  return ops;
}

//===----------------------------------------------------------------------===//
// Names
//===----------------------------------------------------------------------===//

static std::string nameOf(unsigned stage, Buffer buffer, unsigned index) {
  return slotsName(stage, buffer) + "." + std::to_string(index);
}

std::string CellCutter::slotsOf(unsigned stage, Buffer buffer) {
  std::string symbol = slotsName(stage, buffer);
  cells.slots[StringAttr::get(program.getContext(), symbol)] = std::max(1u, walk.slots(stage, buffer).count);
  return symbol;
}

bool CellCutter::isSentToOther(unsigned stage, bool isGradient) const {
  return schedule.rankOf(stage) != schedule.rankOf(isGradient ? stage - 1 : stage + 1);
}

std::string CellCutter::nameOfSent(unsigned stage, bool isGradient, unsigned index) {
  if (isSentToOther(stage, isGradient))
    return nameOf(stage, isGradient ? Buffer::GradientOut : Buffer::ActivationOut, index);
  return isGradient ? nameOf(stage - 1, Buffer::GradientIn, index) : nameOf(stage + 1, Buffer::ActivationIn, index);
}

std::string CellCutter::slotsOfSent(unsigned stage, bool isGradient) {
  if (isSentToOther(stage, isGradient))
    return slotsOf(stage, isGradient ? Buffer::GradientOut : Buffer::ActivationOut);
  return isGradient ? slotsOf(stage - 1, Buffer::GradientIn) : slotsOf(stage + 1, Buffer::ActivationIn);
}

//===----------------------------------------------------------------------===//
// Functions
//===----------------------------------------------------------------------===//

StageFunction CellCutter::begin(unsigned stage, StringRef kind) {
  return StageFunction(program, axis, schedule.rankOf(stage), (kind + "_" + Twine(stage)).str());
}

void CellCutter::finish(StageFunction &function, comm::CellKind kind, unsigned stage) {
  function.finish();
  function.get()->setAttr(comm::CommDialect::kCell, comm::CellAttr::get(program.getContext(), kind, stage));
  cells.functions.push_back(function.get());
}

static SmallVector<Part> partsOf(Action action) {
  switch (action) {
  case Action::Forward:
    return {Part::Forward};
  case Action::Backward:
    return {Part::Input, Part::Weights};
  case Action::InputGradient:
    return {Part::Input};
  case Action::WeightGradient:
    return {Part::Weights};
  }
  llvm_unreachable("an action without parts");
}

/// Adds the inputs of a function in this order: arguments that the ops read, values sent to the stage, and values that
/// it saved.
void CellCutter::bringInputs(StageFunction &function, unsigned stage, Action action, ArrayRef<Operation *> ops) {
  SmallVector<Value> read;
  for (Operation *op : ops)
    llvm::append_range(read, valuesReadBy(op));
  llvm::SetVector<BlockArgument> arguments;
  // The rows of a microbatch are read together, on all ranks, even if a rank's stages need only some inputs.
  SmallVector<BlockArgument> batch = batchInputs(program), direct = map.argumentsReadBy(read);
  auto isOfBatch = [&](BlockArgument argument) { return llvm::is_contained(batch, argument); };
  if (action == Action::Forward || llvm::any_of(direct, isOfBatch))
    arguments.insert(batch.begin(), batch.end());
  // An accumulator belongs to a parameter of the same function.
  llvm::StringMap<BlockArgument> owners = parametersByOwner(program);
  for (BlockArgument argument : direct) {
    if (tg::StateAttr state = stateOf(argument); state && state.getOf())
      arguments.insert(owners.lookup(state.getOf()));
    arguments.insert(argument);
  }
  for (BlockArgument argument : arguments)
    function.addArgument(argument);
  SmallVector<Value> staged = map.stagedAmong(read);
  DenseSet<Value> isRead(staged.begin(), staged.end());
  // Values that are passed on to the next stage also count as read.
  if (action == Action::Forward)
    isRead.insert(activations[stage].begin(), activations[stage].end());
  else if (makesGradient(action))
    isRead.insert(gradients[stage].begin(), gradients[stage].end());
  auto bring = [&](ArrayRef<Value> values, Buffer buffer, tg::TensorKind kind) {
    for (auto [index, value] : llvm::enumerate(values))
      if (isRead.contains(value) && !function.lookup(value))
        function.map(value, function.addArgument(value.getType(),
                                                 stateAttributes(program.getContext(), nameOf(stage, buffer, index),
                                                                 kind, slotsOf(stage, buffer)),
                                                 value.getLoc()));
  };
  if (stage > 0)
    bring(activations[stage - 1].getArrayRef(), Buffer::ActivationIn, tg::TensorKind::Message);
  if (stage + 1 < schedule.numStages() && action != Action::Forward)
    bring(gradients[stage + 1].getArrayRef(), Buffer::GradientIn, tg::TensorKind::Message);
  DenseSet<Value> made;
  for (Operation *op : ops)
    made.insert(op->result_begin(), op->result_end());
  if (action == Action::Forward)
    return;
  for (auto [index, value] : llvm::enumerate(saved[stage]))
    if (isRead.contains(value) && !made.contains(value) && !function.lookup(value))
      function.map(value,
                   function.addArgument(value.getType(),
                                        stateAttributes(program.getContext(), nameOf(stage, Buffer::Saved, index),
                                                        tg::TensorKind::Saved, slotsOf(stage, Buffer::Saved)),
                                        value.getLoc()));
}

/// Adds the state that a value is written to.
void CellCutter::returnState(StageFunction &function, Value value, StringRef name, tg::TensorKind kind,
                             StringRef slots) {
  function.addArgument(value.getType(), stateAttributes(program.getContext(), name, kind, slots), value.getLoc());
  function.addResult(function.lookup(value), updateAttributes(program.getContext(), name));
}

void CellCutter::returnOutputs(StageFunction &function, unsigned stage, Action action) {
  SmallVector<Part> parts = partsOf(action);
  bool isGradient = action != Action::Forward;
  const Sent &sent = isGradient ? gradients[stage] : activations[stage];
  if (action != Action::WeightGradient)
    for (auto [index, value] : llvm::enumerate(sent))
      returnState(function, value, nameOfSent(stage, isGradient, index), tg::TensorKind::Message,
                  slotsOfSent(stage, isGradient));
  if (action != Action::Forward && action != Action::InputGradient)
    return;
  for (auto [index, value] : llvm::enumerate(saved[stage]))
    if (partOf.lookup(value.getDefiningOp()) == parts.front())
      returnState(function, value, nameOf(stage, Buffer::Saved, index), tg::TensorKind::Saved,
                  slotsOf(stage, Buffer::Saved));
}

/// Adds the new values of accumulators and of other states that the ops define.
void CellCutter::returnUpdates(StageFunction &function, ArrayRef<Operation *> ops) {
  DenseSet<Operation *> own(ops.begin(), ops.end());
  for (OpOperand &operand : returnOf(program)->getOpOperands())
    if (Operation *op = operand.get().getDefiningOp(); op && own.contains(op))
      function.addResult(function.lookup(operand.get()), program.getResultAttrDict(operand.getOperandNumber()));
}

void CellCutter::makeCell(unsigned stage, Action action) {
  StageFunction function = begin(stage, comm::stringifyCellKind(cellKindOf(action)));
  SmallVector<Operation *> ops = opsOf(stage, partsOf(action));
  bringInputs(function, stage, action, ops);
  for (Operation *op : ops)
    function.clone(op, map);
  returnUpdates(function, ops);
  returnOutputs(function, stage, action);
  finish(function, cellKindOf(action), stage);
}

/// Builds the message of one stage to a stage on another rank, with one tensor list per element type.
void CellCutter::makeMessage(unsigned stage, bool isGradient) {
  unsigned target = isGradient ? stage - 1 : stage + 1;
  const Sent &sent = isGradient ? gradients[stage] : activations[stage];
  llvm::MapVector<Type, SmallVector<unsigned>> byType;
  for (auto [index, value] : llvm::enumerate(sent))
    byType[getElementTypeOrSelf(value)].push_back(index);
  MLIRContext *context = program.getContext();
  comm::CellKind sends = isGradient ? comm::CellKind::SendGradient : comm::CellKind::SendActivation;
  comm::CellKind receives = isGradient ? comm::CellKind::ReceiveGradient : comm::CellKind::ReceiveActivation;
  StageFunction sender = begin(stage, comm::stringifyCellKind(sends)),
                receiver = begin(target, comm::stringifyCellKind(receives));
  Buffer in = isGradient ? Buffer::GradientIn : Buffer::ActivationIn;
  for (auto &[element, indices] : byType) {
    SmallVector<Value> values;
    SmallVector<Type> types;
    SmallVector<tg::FactsAttr> facts;
    SmallVector<Attribute> moved;
    for (unsigned index : indices) {
      Value value = sent[index];
      moved.push_back(numbers.of(value));
      values.push_back(sender.addArgument(value.getType(),
                                          stateAttributes(context, nameOfSent(stage, isGradient, index),
                                                          tg::TensorKind::Message, slotsOfSent(stage, isGradient)),
                                          value.getLoc()));
      types.push_back(value.getType());
      facts.push_back(tg::factsOfTensor(value));
    }
    Location loc = tg::withFacts(program.getLoc(), facts);
    auto peer = [&](unsigned other) { return sender.getBuilder().getI64IntegerAttr(schedule.rankOf(other)); };
    auto send = sender.getBuilder().create<comm::SendOp>(loc, TypeRange(), values, ValueRange(), peer(target),
                                                         axis.mesh, axis.group());
    auto recv = receiver.getBuilder().create<comm::RecvOp>(loc, types, ValueRange(), ValueRange(), peer(stage),
                                                           axis.mesh, axis.group());
    for (Operation *side : {send.getOperation(), recv.getOperation()})
      comm::setMovedValues(side, moved);
    for (auto [index, received] : llvm::zip(indices, recv->getResults())) {
      std::string name = nameOf(target, in, index);
      receiver.addArgument(received.getType(),
                           stateAttributes(context, name, tg::TensorKind::Message, slotsOf(target, in)),
                           received.getLoc());
      receiver.addResult(received, updateAttributes(context, name));
    }
  }
  finish(sender, sends, stage);
  finish(receiver, receives, target);
}

Cells CellCutter::run() {
  findReaders();
  findSent();
  findParts();
  findSaved();
  std::vector<std::set<Action>> actions(schedule.numStages());
  for (const Table::Row &row : schedule.getTable().rows)
    for (const Cell &cell : row)
      actions[cell.stage].insert(cell.action);
  for (unsigned stage = 0; stage < schedule.numStages(); ++stage) {
    for (Action action : {Action::Forward, Action::Backward, Action::InputGradient, Action::WeightGradient})
      if (actions[stage].count(action))
        makeCell(stage, action);
    if (stage + 1 < schedule.numStages() && isSentToOther(stage, /*isGradient=*/false))
      makeMessage(stage, /*isGradient=*/false);
    if (stage > 0 && isSentToOther(stage, /*isGradient=*/true))
      makeMessage(stage, /*isGradient=*/true);
  }
  return std::move(cells);
}

Cells braid::cutCells(func::FuncOp program, const StageMap &map, const StageAxis &axis, const Schedule &schedule,
                      const Walk &walk) {
  return CellCutter(program, map, axis, schedule, walk).run();
}
