//===- Emit.cpp - a planned program in memory form ------------------------===//

#include "lib/Memory/Emit.h"
#include "dialects/Comm/Timing.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;
using namespace braid;
using namespace braid::exec;

llvm::StringMap<std::string> braid::emitTensors(OpBuilder &builder, ModuleOp module, const PersistentTensors &tensors) {
  llvm::StringSet<> taken;
  for (auto symbol : module.getOps<SymbolOpInterface>())
    taken.insert(symbol.getName());
  auto newSymbol = [&](StringRef name) {
    std::string symbol = name.str();
    while (!taken.insert(symbol).second)
      symbol += "_";
    return symbol;
  };
  llvm::StringMap<std::string> symbols;
  llvm::MapVector<StringAttr, SmallVector<TensorOp>> packs;
  for (const PersistentTensor &tensor : tensors.tensors) {
    std::string symbol = newSymbol(tensor.name);
    auto op = builder.create<TensorOp>(tensor.argument.getLoc(), symbol, tensor.offset, tensor.bytes, tensor.category,
                                       tensor.type, tensor.value);
    op.setHost(tensor.isOnHost);
    if (tensor.slots)
      op.setSlotsAttr(FlatSymbolRefAttr::get(tensor.slots));
    if (tensor.part)
      op->setDiscardableAttrs(tensor.part);
    if (tensor.holders)
      op->setAttr(comm::CommDialect::kProgram, tensor.holders);
    symbols[tensor.name] = symbol;
    if (tensor.pack)
      packs[tensor.pack].push_back(op);
  }
  for (auto op : module.getOps<SlotsOp>()) {
    const SlotRange &range = tensors.slots.find(op.getSymNameAttr())->second;
    op.setOffsetAttr(builder.getI64IntegerAttr(range.offset));
    op.setBytesAttr(builder.getI64IntegerAttr(range.bytes));
  }
  for (auto &[name, members] : packs) {
    SmallVector<Attribute> references;
    for (TensorOp member : members)
      references.push_back(FlatSymbolRefAttr::get(member.getSymNameAttr()));
    int64_t begin = members.front().getBegin(), end = members.back().getBegin() + members.back().getSize();
    symbols[name] = newSymbol(name);
    builder.create<PackOp>(members.front().getLoc(), symbols[name], begin, end - begin,
                           builder.getArrayAttr(references));
  }
  return symbols;
}

namespace {

class Emitter {
public:
  Emitter(OpBuilder &builder, const PlannedProgram &plan, const llvm::StringMap<std::string> &tensorSymbols)
      : builder(builder), plan(plan), tensorSymbols(tensorSymbols) {}
  ProgramOp emit(func::FuncOp program);

private:
  void emitBuffers(Location loc);
  void emitAction(ActionOpInterface action);
  void emitInMemory(ActionOpInterface action, ValueRange results);
  void emitStart(comm::StartOp start);
  /// Returns the reference to a value's place; equal references are one op.
  Value reference(Value value);

  OpBuilder &builder;
  const PlannedProgram &plan;
  const llvm::StringMap<std::string> &tensorSymbols;
  DenseMap<std::pair<std::pair<unsigned, int64_t>, Type>, Value> references;
  /// Tickets in memory form, by the tickets of starts on values.
  DenseMap<Value, Value> tickets;
};

} // namespace

void Emitter::emitBuffers(Location loc) {
  std::vector<const Storage *> storageOf(plan.buffers.size());
  for (auto [index, storage] : llvm::enumerate(plan.places.storages))
    if (plan.bufferOf[index] >= 0)
      storageOf[plan.bufferOf[index]] = &storage;
  for (auto [buffer, storage] : llvm::zip(plan.buffers, storageOf)) {
    StringAttr io, role;
    TypeAttr type;
    if (storage && storage->kind != Storage::Kind::Transient) {
      io = builder.getStringAttr(storage->kind == Storage::Kind::Input ? "input" : "result");
      role = builder.getStringAttr(storage->role);
      type = TypeAttr::get(storage->type);
    }
    auto op = builder.create<BufferOp>(
        loc, builder.getStringAttr(buffer.symbol), builder.getI64IntegerAttr(buffer.offset),
        builder.getI64IntegerAttr(buffer.bytes), buffer.isOnHost ? builder.getUnitAttr() : UnitAttr(),
        builder.getI64IntegerAttr(buffer.first), builder.getI64IntegerAttr(buffer.last),
        CategoryAttr::get(builder.getContext(), buffer.category), builder.getStringAttr(buffer.name), io, role, type,
        buffer.paddingBytes ? builder.getI64IntegerAttr(buffer.paddingBytes) : IntegerAttr(),
        buffer.isScratch ? builder.getUnitAttr() : UnitAttr());
    if (storage && storage->part)
      op->setDiscardableAttrs(storage->part);
  }
}

Value Emitter::reference(Value value) {
  const Place &place = plan.places.places.at(value);
  const Storage &storage = plan.places.storages[place.storage];
  auto type = cast<RankedTensorType>(value.getType());
  auto ref = RefType::strided(type, place.layout.strides);
  int64_t offset = place.layout.offset * elementBytes(type.getElementType());
  Value &known = references[{{place.storage, offset}, ref}];
  if (!known) {
    std::string name = storage.kind == Storage::Kind::Persistent ? tensorSymbols.lookup(storage.name)
                                                                 : plan.buffers[plan.bufferOf[place.storage]].symbol;
    known = builder.create<RefOp>(value.getLoc(), ref, name, offset);
  }
  return known;
}

/// Writes the action with references instead of values. Its last operands, `outs`, are the places of `results`.
void Emitter::emitInMemory(ActionOpInterface action, ValueRange results) {
  OperationState state(action->getLoc(), action->getName());
  for (Value operand : action.getActionIns())
    state.operands.push_back(reference(operand));
  for (Value value : results)
    state.operands.push_back(reference(value));
  NamedAttrList attributes(action->getAttrDictionary());
  // Ops with one variadic operand have no segment sizes.
  StringRef segmentsName = OpTrait::AttrSizedOperandSegments<void>::getOperandSegmentSizeAttr();
  if (auto sizes = dyn_cast_or_null<DenseI32ArrayAttr>(attributes.get(segmentsName))) {
    SmallVector<int32_t> segments(sizes.asArrayRef());
    segments.back() = results.size();
    attributes.set(segmentsName, builder.getDenseI32ArrayAttr(segments));
  }
  state.addAttributes(attributes);
  for (Region &region : action->getRegions())
    state.addRegion()->takeBody(region);
  builder.create(state);
}

/// Writes the started action inside; the wait has its results.
void Emitter::emitStart(comm::StartOp start) {
  auto ticket = comm::TicketType::get(start.getContext(), {});
  auto inMemory = builder.create<comm::StartOp>(start.getLoc(), ticket);
  inMemory->setDiscardableAttrs(start->getDiscardableAttrDictionary()); // such as its timing
  tickets[start.getTicket()] = inMemory.getTicket();
  OpBuilder::InsertionGuard guard(builder);
  builder.createBlock(&inMemory.getBody());
  emitInMemory(cast<ActionOpInterface>(start.getWork().getOperation()), start.getActionResults());
}

void Emitter::emitAction(ActionOpInterface action) {
  if (auto start = dyn_cast<comm::StartOp>(action.getOperation()))
    emitStart(start);
  else if (auto wait = dyn_cast<comm::WaitOp>(action.getOperation()))
    builder.create<comm::WaitOp>(wait.getLoc(), TypeRange(), tickets.lookup(wait.getTicket()));
  else
    emitInMemory(action, action.getActionResults());
}

ProgramOp Emitter::emit(func::FuncOp program) {
  auto result = builder.create<ProgramOp>(program.getLoc(), program.getSymName(), plan.arenaBytes);
  for (StringRef name :
       {StringRef(comm::CommDialect::kProgram), StringRef(comm::kEntry), StringRef(comm::CommDialect::kCell),
        StringRef(comm::kTiming), StringRef(comm::kTimingWithoutLimit)})
    if (Attribute attribute = program->getAttr(name))
      result->setAttr(name, attribute);
  OpBuilder::InsertionGuard guard(builder);
  builder.createBlock(&result.getBody());
  emitBuffers(program.getLoc());
  // All references come before the actions.
  for (ActionOpInterface action : plan.places.actions) {
    for (Value operand : action.getActionIns())
      reference(operand);
    for (Value value : action.getActionResults())
      reference(value);
  }
  for (ActionOpInterface action : plan.places.actions)
    emitAction(action);
  return result;
}

ProgramOp braid::emitProgram(OpBuilder &builder, func::FuncOp program, const PlannedProgram &plan,
                             const llvm::StringMap<std::string> &tensorSymbols) {
  return Emitter(builder, plan, tensorSymbols).emit(program);
}
