//===- Places.cpp - which values of a program share memory ----------------===//
//
// Values of a prepared program are visited from the last to the first.  Whoever
// uses a value has then said where it wants it (`demand`), and the first to ask
// gets its way; the others read a copy.  Every demand is checked against the reads
// of the bytes that the value would overwrite.
//
// Reads of a value are walked once for each demand, so the whole is linear in
// uses but for values that many actions might overwrite.
//
//===----------------------------------------------------------------------===//

#include "lib/Memory/Places.h"
#include "dialects/TG/TG.h"
#include "lib/Memory/Copies.h"
#include "lib/Memory/Lifetimes.h"
#include "lib/Memory/Persistent.h"
#include "lib/Memory/Preparation.h"
#include "lib/Memory/Reads.h"
#include "lib/Memory/RowPitch.h"
#include "llvm/ADT/StringMap.h"

using namespace mlir;
using namespace braid;
using namespace braid::exec;

namespace {

class Placer {
public:
  Placer(func::FuncOp program, int64_t rowAlignment)
      : program(program), rowAlignment(rowAlignment), block(program.getBody().front()),
        ret(cast<func::ReturnOp>(block.getTerminator())), builder(program.getContext()) {}
  FailureOr<Places> run();

private:
  void placeArguments();

  // The visit.
  LogicalResult visitReturn();
  LogicalResult visitUpdate(OpOperand &returned, StringRef name, SmallVectorImpl<OpOperand *> &late);
  void visitResult(OpOperand &returned);
  void visitConcat(ConcatOp concat);
  void visitAction(ActionOpInterface action);
  void tieAccumulator(ActionOpInterface action, unsigned result);
  void writeInPlace(ActionOpInterface action, OpResult value);
  bool takeOver(Value operand, ActionOpInterface action, unsigned number);

  /// After the visit.
  void placeViews();

  /// Puts `value` at `place` if that is legal.  `overwritten` is the action that
  /// later writes other values there, or null.  Places come by value, as most are
  /// entries of the map that this changes.
  bool demand(Value value, Place place, Operation *overwritten = nullptr);
  bool demandResult(OpResult value, const Place &place);
  /// Lets `result` of `action` be written over `operand`: both with gaps between their
  /// rows, or both without.
  bool demandUnder(Value operand, ActionOpInterface action, unsigned result);
  bool demandConcat(ConcatOp concat, const Place &place, Operation *overwritten);
  /// Puts a copy of what `use` reads at `place` and makes it read that.
  void copyTo(OpOperand &use, Place place, Operation *before);
  Place newStorage(Storage::Kind kind, Value value, StringRef name, StringRef role = "");
  Place newTransient(OpResult value);
  void closeGaps(unsigned storage);
  void put(Value value, const Place &place) {
    result.places[value] = place;
    occupants[place.storage].push_back(value);
  }
  bool isPersistent(const Place &place) const {
    return result.storages[place.storage].kind == Storage::Kind::Persistent;
  }
  bool hasGaps(unsigned storage) const { return result.storages[storage].gapBytes > 0; }

  func::FuncOp program;
  int64_t rowAlignment;
  Block &block;
  func::ReturnOp ret;
  OpBuilder builder;
  Places result;
  /// The values in each storage, but for views of them.
  std::vector<SmallVector<Value, 2>> occupants;
  /// The argument in each persistent storage, by its number and by its name.
  DenseMap<unsigned, Value> argumentIn;
  llvm::StringMap<BlockArgument> persistent;
  /// Of concats that a later action overwrites.
  DenseMap<Operation *, Operation *> overwrittenBy;
};

} // namespace

static ArrayRef<int64_t> shapeOf(Value value) { return cast<RankedTensorType>(value.getType()).getShape(); }

//===----------------------------------------------------------------------===//
// Storages
//===----------------------------------------------------------------------===//

Place Placer::newStorage(Storage::Kind kind, Value value, StringRef name, StringRef role) {
  auto type = cast<RankedTensorType>(value.getType());
  int64_t bytes = type.getNumElements() * elementBytes(type.getElementType());
  result.storages.push_back({kind, bytes, type, name.str(), role.str(), {}, 0, -1});
  occupants.emplace_back();
  return {static_cast<unsigned>(result.storages.size() - 1), Layout::contiguous(type.getShape())};
}

/// For a result that nobody has asked for.
Place Placer::newTransient(OpResult value) {
  Place place = newStorage(Storage::Kind::Transient, value, "");
  auto type = cast<RankedTensorType>(value.getType());
  std::optional<Layout> apart = layoutWithPitch(type, rowAlignment);
  if (!apart || !takesPitch(value, *apart))
    return place;
  Storage &storage = result.storages[place.storage];
  storage.gapBytes = gapBytes(type, *apart);
  storage.bytes += storage.gapBytes;
  return {place.storage, *apart};
}

void Placer::closeGaps(unsigned number) {
  Storage &storage = result.storages[number];
  storage.bytes -= storage.gapBytes;
  storage.gapBytes = 0;
  for (Value value : occupants[number])
    result.places[value].layout = Layout::contiguous(shapeOf(value));
}

void Placer::placeArguments() {
  for (BlockArgument argument : block.getArguments()) {
    unsigned index = argument.getArgNumber();
    auto param = program.getArgAttrOfType<tg::ParamAttr>(index, tg::kParam);
    auto state = program.getArgAttrOfType<tg::StateAttr>(index, tg::kState);
    if (param || state) {
      StringRef name = param ? param.getName() : state.getName();
      Place place = newStorage(Storage::Kind::Persistent, argument, name);
      argumentIn[place.storage] = argument;
      persistent[name] = argument;
      put(argument, place);
      continue;
    }
    std::string name = "arg" + std::to_string(index);
    if (auto input = program.getArgAttrOfType<StringAttr>(index, tg::kInput))
      name = input.str();
    auto role = program.getArgAttrOfType<StringAttr>(index, tg::kRole);
    put(argument, newStorage(Storage::Kind::Input, argument, name, role ? role.strref() : ""));
    result.storages.back().part = partIn(program.getArgAttrDict(index));
  }
}

//===----------------------------------------------------------------------===//
// Demands
//===----------------------------------------------------------------------===//

bool Placer::demand(Value value, Place place, Operation *overwritten) {
  bool contiguous = place.layout.isContiguous(shapeOf(value)), apart = !contiguous && hasGaps(place.storage);
  // Other readers were chosen for a contiguous operand.
  if (!contiguous && !apart && !value.hasOneUse())
    return false;
  if (auto view = value.getDefiningOp<ViewOp>()) {
    auto source = invertView(shapeOf(view.getSource()), shapeOf(view.getResult()), view.getOffset(), view.getStrides(),
                             place.layout);
    return source && demand(view.getSource(), {place.storage, *source}, overwritten);
  }
  if (isa<BlockArgument>(value) || result.places.contains(value))
    return false;
  if (auto concat = value.getDefiningOp<ConcatOp>())
    return !apart && demandConcat(concat, place, overwritten);
  auto made = cast<OpResult>(value);
  return (!apart || takesPitch(made, place.layout)) && demandResult(made, place);
}

bool Placer::demandResult(OpResult value, const Place &place) {
  auto action = cast<ActionOpInterface>(cast<ActionOpInterface>(value.getOwner()).getActionBegin());
  unsigned number = value.getResultNumber();
  bool contiguous = place.layout.isContiguous(shapeOf(value));
  if (!contiguous && !action.mayWriteStrided(number, place.layout.strides))
    return false;
  if (isPersistent(place)) {
    Value old = argumentIn.lookup(place.storage);
    // An accumulator that is not the old value itself is written there first.
    int64_t tied = action.getTiedIn(number);
    bool replacesAll = tied >= 0 && action->getOperand(tied) != old;
    if (!(contiguous && !replacesAll ? mayOverwrite(old, action, number) : readsEndBefore(old, action)))
      return false;
  }
  put(value, place);
  return true;
}

bool Placer::demandUnder(Value operand, ActionOpInterface action, unsigned number) {
  Place place = result.places[action.getActionResults()[number]];
  if (demand(operand, place, action))
    return true;
  if (!hasGaps(place.storage) || !demand(operand, {place.storage, Layout::contiguous(shapeOf(operand))}, action))
    return false;
  closeGaps(place.storage);
  return true;
}

bool Placer::demandConcat(ConcatOp concat, const Place &place, Operation *overwritten) {
  // A copy into it must be able to write it, and must not find its own source
  // overwritten.
  if (!place.layout.isContiguous(shapeOf(concat.getResult())) && place.layout.strides.back() != 1)
    return false;
  if (isPersistent(place) && !readsEndBefore(argumentIn.lookup(place.storage), concat))
    return false;
  put(concat.getResult(), place);
  if (overwritten)
    overwrittenBy[concat] = overwritten;
  return true;
}

void Placer::copyTo(OpOperand &use, Place place, Operation *before) {
  builder.setInsertionPoint(before);
  Value copy = buildCopy(builder, before->getLoc(), use.get());
  put(copy, place);
  use.set(copy);
}

//===----------------------------------------------------------------------===//
// The visit
//===----------------------------------------------------------------------===//

/// Results are written where the caller finds them, new values of persistent
/// tensors over the old ones.
LogicalResult Placer::visitReturn() {
  // Copies into persistent tensors come after everything that reads them.
  SmallVector<OpOperand *> late;
  llvm::StringMap<unsigned> updated;
  for (OpOperand &returned : ret->getOpOperands()) {
    unsigned index = returned.getOperandNumber();
    auto name = program.getResultAttrOfType<StringAttr>(index, tg::kUpdates);
    if (!name) {
      visitResult(returned);
      continue;
    }
    if (auto [before, inserted] = updated.try_emplace(name, index); !inserted)
      return program.emitOpError() << "updates '" << name.strref() << "' with result " << before->second
                                   << " and again with result " << index;
    if (failed(visitUpdate(returned, name, late)))
      return failure();
  }
  // A late copy may read what another one overwrites: all are read first.
  for (OpOperand *returned : late)
    if (isa<BlockArgument>(rootOf(returned->get())))
      copyTo(*returned, newStorage(Storage::Kind::Transient, returned->get(), ""), ret);
  for (OpOperand *returned : late) {
    auto name = program.getResultAttrOfType<StringAttr>(returned->getOperandNumber(), tg::kUpdates);
    copyTo(*returned, result.places[persistent[name]], ret);
  }
  return success();
}

LogicalResult Placer::visitUpdate(OpOperand &returned, StringRef name, SmallVectorImpl<OpOperand *> &late) {
  auto argument = persistent.find(name);
  if (argument == persistent.end())
    return program.emitOpError() << "updates '" << name << "' with result " << returned.getOperandNumber()
                                 << ", but no argument is a parameter or state of that name";
  BlockArgument old = argument->second;
  if (old.getType() != returned.get().getType())
    return program.emitOpError() << "updates '" << name << "', a " << old.getType() << ", with a "
                                 << returned.get().getType();
  if (returned.get() != old && !demand(returned.get(), result.places[old]))
    late.push_back(&returned);
  return success();
}

void Placer::visitResult(OpOperand &returned) {
  unsigned index = returned.getOperandNumber();
  std::string role;
  if (auto attr = program.getResultAttrOfType<StringAttr>(index, tg::kRole))
    role = attr.str();
  else if (auto attr = program.getResultAttrOfType<StringAttr>(index, tg::kGradOf))
    role = "grad_of " + attr.str();
  std::string name = role.empty() ? "result" + std::to_string(index) : role;
  Place place = newStorage(Storage::Kind::Result, returned.get(), name, role);
  result.storages.back().part = partIn(program.getResultAttrDict(index));
  if (!demand(returned.get(), place))
    copyTo(returned, place, ret);
}

void Placer::visitConcat(ConcatOp concat) {
  if (!result.places.contains(concat.getResult()))
    put(concat.getResult(), newStorage(Storage::Kind::Transient, concat.getResult(), ""));
  Place place = result.places[concat.getResult()];
  Operation *overwritten = overwrittenBy.lookup(concat);
  int64_t dim = concat.getDim(), start = 0;
  for (OpOperand &operand : concat->getOpOperands()) {
    Place slice = place;
    slice.layout.offset += start * place.layout.strides[dim];
    start += shapeOf(operand.get())[dim];
    bool readLater = overwritten && !readsEndBefore(rootOf(operand.get()), overwritten, concat);
    if (readLater || !demand(operand.get(), slice, overwritten))
      copyTo(operand, slice, concat);
  }
}

void Placer::visitAction(ActionOpInterface action) {
  for (OpResult value : action.getActionResults()) {
    if (!result.places.contains(value))
      put(value, newTransient(value));
    if (action.getTiedIn(value.getResultNumber()) >= 0)
      tieAccumulator(action, value.getResultNumber());
    else
      writeInPlace(action, value);
  }
}

void Placer::tieAccumulator(ActionOpInterface action, unsigned number) {
  OpOperand &operand = action->getOpOperand(action.getTiedIn(number));
  Place place = result.places[action->getResult(number)];
  // An update of the very tensor was checked when it was demanded.
  if (isPersistent(place) && operand.get() == argumentIn.lookup(place.storage))
    return;
  if (takeOver(operand.get(), action, number) ||
      (mayOverwrite(rootOf(operand.get()), action, number) && demandUnder(operand.get(), action, number)))
    return;
  if (hasGaps(place.storage))
    closeGaps(place.storage);
  copyTo(operand, result.places[action->getResult(number)], action);
}

/// Lets a sum over microbatches stay where it was added up, for as long as the new
/// value of the accumulator is still to be written: what is in the storage of the
/// result moves to that of the operand.
bool Placer::takeOver(Value operand, ActionOpInterface action, unsigned number) {
  auto old = dyn_cast<BlockArgument>(operand);
  auto state = old ? program.getArgAttrOfType<tg::StateAttr>(old.getArgNumber(), tg::kState) : nullptr;
  OpResult value = action.getActionResults()[number];
  unsigned from = result.places[value].storage;
  if (!state || !state.getScratch() || old.getType() != value.getType() ||
      result.storages[from].kind != Storage::Kind::Transient || !mayOverwrite(old, action, number))
    return false;
  unsigned to = result.places[old].storage;
  // The old values of others in the storage of the result do not matter: it begins here.
  auto isOverBefore = [&](Value moved, Operation *writer) {
    return moved.getDefiningOp()->isBeforeInBlock(writer) && readsEndBefore(moved, writer);
  };
  bool isWritten = false;
  for (Value next : occupants[to]) {
    if (next == old)
      continue;
    isWritten = true;
    Operation *writer = next.getDefiningOp();
    if (auto write = dyn_cast<ActionOpInterface>(writer))
      writer = write.getActionBegin();
    if (!llvm::all_of(occupants[from], [&](Value moved) { return isOverBefore(moved, writer); }))
      return false;
  }
  bool areWhole = llvm::all_of(occupants[from], [&](Value moved) {
    return moved.getType() == old.getType() &&
           (hasGaps(from) || result.places[moved].layout.isContiguous(shapeOf(moved)));
  });
  if (!isWritten || !areWhole)
    return false;
  for (Value moved : occupants[from])
    put(moved, result.places[old]);
  occupants[from].clear();
  return true;
}

/// Lets the result overwrite an operand that dies here.
void Placer::writeInPlace(ActionOpInterface action, OpResult value) {
  Place place = result.places[value];
  if (isPersistent(place) || !(place.layout.isContiguous(shapeOf(value)) || hasGaps(place.storage)))
    return;
  for (Value operand : action.getActionIns())
    if (takeOver(operand, action, value.getResultNumber()))
      return;
  for (Value operand : action.getActionIns()) {
    Value root = rootOf(operand);
    if (operand.getType() == value.getType() && !isa<BlockArgument>(root) &&
        mayOverwrite(root, action, value.getResultNumber()) && demandUnder(operand, action, value.getResultNumber()))
      return;
  }
}

//===----------------------------------------------------------------------===//
// All together
//===----------------------------------------------------------------------===//

/// A view over a strided source has no place where no strides reach its
/// elements; nobody reads such a view but the tie that made the source so.
void Placer::placeViews() {
  for (auto view : block.getOps<ViewOp>()) {
    const Place &source = result.places.at(view.getSource());
    auto layout = composeView(shapeOf(view.getSource()), source.layout, shapeOf(view.getResult()), view.getOffset(),
                              view.getStrides());
    if (layout)
      result.places[view.getResult()] = {source.storage, *layout};
  }
}

FailureOr<Places> Placer::run() {
  placeArguments();
  if (failed(visitReturn()))
    return failure();
  // Copies made on the way lie before the op that asked for them, so that the
  // walk meets them too.
  for (Operation *op = ret->getPrevNode(); op; op = op->getPrevNode()) {
    if (auto concat = dyn_cast<ConcatOp>(op))
      visitConcat(concat);
    else if (auto action = dyn_cast<ActionOpInterface>(op))
      visitAction(action);
  }
  placeViews();
  findLifetimes(block, result);
  return std::move(result);
}

FailureOr<Places> braid::placeValues(func::FuncOp program, int64_t rowAlignment) {
  if (failed(prepareForPlacing(program)))
    return failure();
  return Placer(program, rowAlignment).run();
}
