//===- BufferAssignment.cpp - assigns values to buffers -------------------===//
//
// The values of a prepared program are visited from last to first, so that all uses of
// a value are visited before its definition.  A use that must share memory with another
// value tries to assign the value to that memory (`tryAssign`).  The first use that
// succeeds determines the place of the value; the other uses read a copy. An assignment
// is legal if no later read needs the bytes that the value overwrites.
//
// A place holds one value at a time.  So each result of an action overwrites at most
// one tensor (`overwriting`), and that tensor gets the result's place.
//
// Each attempt walks the reads of a value once. So the running time is linear in the
// number of uses, except for values that many actions could overwrite.
//
//===----------------------------------------------------------------------===//

#include "lib/Memory/BufferAssignment.h"
#include "dialects/TG/Facts.h"
#include "dialects/TG/ProgramSignature.h"
#include "lib/Memory/LeadingDimPadding.h"
#include "lib/Memory/Lifetimes.h"
#include "lib/Memory/Packs.h"
#include "lib/Memory/Persistent.h"
#include "lib/Memory/Preparation.h"
#include "lib/Memory/Reads.h"
#include "lib/Memory/RecordedAssignment.h"
#include "lib/Memory/Storages.h"
#include "llvm/ADT/StringMap.h"

using namespace mlir;
using namespace braid;
using namespace braid::exec;

namespace {

class BufferAssignment {
public:
  BufferAssignment(func::FuncOp program, int64_t rowAlignment)
      : program(program), signature(program), rowAlignment(rowAlignment), block(program.getBody().front()),
        returnOp(cast<func::ReturnOp>(block.getTerminator())), builder(program.getContext()) {}
  FailureOr<Places> run();

private:
  void assignArguments();

  // The walk from last to first over the program.
  LogicalResult visitReturn();
  LogicalResult visitUpdate(OpOperand &returned, StringRef name, SmallVectorImpl<OpOperand *> &late);
  void visitResult(OpOperand &returned);
  void visitConcat(ConcatOp concat);
  void visitAction(ActionOpInterface action);
  void tieAccumulator(ActionOpInterface action, unsigned result);
  void writeInPlace(ActionOpInterface action, OpResult value);
  void writePartsInPlace(ActionOpInterface action, OpResult value);
  bool aliasAccumulator(Value operand, ActionOpInterface action, unsigned number);

  /// Assigns `value` to `place` if that is legal. `overwritten` is the action that
  /// later writes other values there, or null. Places are passed by value because most
  /// are entries of the map that this function changes.
  bool tryAssign(Value value, Place place, Operation *overwritten = nullptr);
  bool tryAssignResult(OpResult value, const Place &place);
  /// Assigns `operand` to the place of `result` of `action`, so that the result overwrites
  /// it. Either both have padded rows or neither has.
  bool tryAssignOperand(Value operand, ActionOpInterface action, unsigned result);
  bool tryAssignConcat(ConcatOp concat, const Place &place, Operation *overwritten);
  /// Assigns a copy of the used value to `place`, and replaces the use by the copy.
  void copyTo(OpOperand &use, Place place, Operation *before);
  Place add(Storage storage, Value value);
  Place newStorage(Value value) { return add(transientStorage(cast<RankedTensorType>(value.getType())), value); }
  Place newTransient(OpResult value);
  void removePadding(unsigned storage);
  void assign(Value value, const Place &place) {
    result.places[value] = place;
    occupants[place.storage].push_back(value);
  }
  bool isPersistent(const Place &place) const {
    return result.storages[place.storage].kind == Storage::Kind::Persistent;
  }
  Value argumentAt(const Place &place) const;
  bool isPadded(unsigned storage) const { return result.storages[storage].paddingBytes > 0; }

  func::FuncOp program;
  tg::ProgramSignature signature;
  int64_t rowAlignment;
  Block &block;
  func::ReturnOp returnOp;
  OpBuilder builder;
  Places result;
  /// Values that are assigned to each storage, without their views.
  std::vector<SmallVector<Value, 2>> occupants;
  /// Arguments in each persistent storage, in order.
  DenseMap<unsigned, SmallVector<BlockArgument, 1>> argumentsIn;
  /// For each concat that a later action overwrites, that action.
  DenseMap<Operation *, Operation *> overwrittenBy;
  /// Results that overwrite a tensor that their actions read; no other tensor may be in their places then.
  DenseSet<Value> overwriting;
};

} // namespace

static ArrayRef<int64_t> shapeOf(Value value) { return cast<RankedTensorType>(value.getType()).getShape(); }

//===----------------------------------------------------------------------===//
// Storages
//===----------------------------------------------------------------------===//

Place BufferAssignment::add(Storage storage, Value value) {
  result.storages.push_back(std::move(storage));
  occupants.emplace_back();
  return {static_cast<unsigned>(result.storages.size() - 1), Layout::contiguous(shapeOf(value))};
}

/// Creates a storage for a result that no use has assigned.
Place BufferAssignment::newTransient(OpResult value) {
  Place place = newStorage(value);
  auto type = cast<RankedTensorType>(value.getType());
  std::optional<Layout> padded = paddedLayout(type, rowAlignment);
  if (!padded || !acceptsPaddedRows(value, *padded))
    return place;
  Storage &storage = result.storages[place.storage];
  storage.paddingBytes = paddingBytes(type, *padded);
  storage.bytes += storage.paddingBytes;
  return {place.storage, *padded};
}

void BufferAssignment::removePadding(unsigned number) {
  Storage &storage = result.storages[number];
  storage.bytes -= storage.paddingBytes;
  storage.paddingBytes = 0;
  for (Value value : occupants[number])
    result.places[value].layout = Layout::contiguous(shapeOf(value));
}

void BufferAssignment::assignArguments() {
  addArguments(program, result);
  occupants.resize(result.storages.size());
  for (BlockArgument argument : block.getArguments()) {
    unsigned storage = result.places[argument].storage;
    occupants[storage].push_back(argument);
    if (result.storages[storage].kind != Storage::Kind::Persistent)
      continue;
    argumentsIn[storage].push_back(argument);
  }
}

/// Returns the argument that owns the memory of a place in a persistent storage.
Value BufferAssignment::argumentAt(const Place &place) const {
  auto nextArgument = llvm::partition_point(argumentsIn.at(place.storage), [&](BlockArgument argument) {
    return result.places.at(argument).layout.offset <= place.layout.offset;
  });
  return *std::prev(nextArgument);
}

//===----------------------------------------------------------------------===//
// Assignment
//===----------------------------------------------------------------------===//

bool BufferAssignment::tryAssign(Value value, Place place, Operation *overwritten) {
  bool contiguous = place.layout.isContiguous(shapeOf(value)), padded = !contiguous && isPadded(place.storage);
  // All other readers expect a contiguous operand.
  if (!contiguous && !padded && !value.hasOneUse())
    return false;
  if (auto view = value.getDefiningOp<ViewOp>()) {
    auto source = invertView(shapeOf(view.getSource()), shapeOf(view.getResult()), view.getOffset(), view.getStrides(),
                             place.layout);
    return source && tryAssign(view.getSource(), {place.storage, *source}, overwritten);
  }
  if (isa<BlockArgument>(value) || result.places.contains(value))
    return false;
  if (auto concat = value.getDefiningOp<ConcatOp>())
    return !padded && tryAssignConcat(concat, place, overwritten);
  auto made = cast<OpResult>(value);
  return (!padded || acceptsPaddedRows(made, place.layout)) && tryAssignResult(made, place);
}

bool BufferAssignment::tryAssignResult(OpResult value, const Place &place) {
  auto action = cast<ActionOpInterface>(cast<ActionOpInterface>(value.getOwner()).getActionBegin());
  unsigned number = value.getResultNumber();
  bool contiguous = place.layout.isContiguous(shapeOf(value));
  if (!contiguous && !action.mayWriteStrided(number, place.layout.strides))
    return false;
  if (isPersistent(place)) {
    Value old = argumentAt(place);
    // If the accumulator is not the old value itself, the accumulator is written over it first.
    int64_t tied = action.getTiedIn(number);
    bool replacesAll = tied >= 0 && action->getOperand(tied) != old;
    if (!(contiguous && !replacesAll ? mayOverwrite(old, action, number) : readsEndBefore(old, action)))
      return false;
  }
  assign(value, place);
  return true;
}

bool BufferAssignment::tryAssignOperand(Value operand, ActionOpInterface action, unsigned number) {
  Value value = action.getActionResults()[number];
  Place place = result.places[value];
  if (tryAssign(operand, place, action))
    return overwriting.insert(value).second;
  if (!isPadded(place.storage) || !tryAssign(operand, {place.storage, Layout::contiguous(shapeOf(operand))}, action))
    return false;
  removePadding(place.storage);
  return overwriting.insert(value).second;
}

bool BufferAssignment::tryAssignConcat(ConcatOp concat, const Place &place, Operation *overwritten) {
  // A copy of an operand must be able to write into the slice, and must not overwrite its own source.
  if (!place.layout.isContiguous(shapeOf(concat.getResult())) && place.layout.strides.back() != 1)
    return false;
  if (isPersistent(place) && !readsEndBefore(argumentAt(place), concat))
    return false;
  assign(concat.getResult(), place);
  if (overwritten)
    overwrittenBy[concat] = overwritten;
  return true;
}

/// Returns the location of a copy: the parameters and kind of its value, and the phase of the op that reads it.
static Location locationOfCopy(Operation *reader, Value value) {
  tg::FactsAttr facts = tg::factsOfTensor(rootOf(value));
  std::optional<tg::Phase> phase = tg::phaseOf(reader);
  if (!facts)
    return tg::withPhase(reader->getLoc(), phase.value_or(tg::Phase::Update));
  return tg::withFacts(reader->getLoc(), tg::getFacts(reader->getContext(), phase.value_or(facts.getPhase()),
                                                      tg::unitOf(facts), facts.getOf(), tg::kindOf(facts)));
}

void BufferAssignment::copyTo(OpOperand &use, Place place, Operation *before) {
  builder.setInsertionPoint(before);
  Value copy = buildCopy(builder, locationOfCopy(before, use.get()), use.get());
  assign(copy, place);
  use.set(copy);
}

//===----------------------------------------------------------------------===//
// Reverse walk
//===----------------------------------------------------------------------===//

/// Assigns results to storages that the caller reads, and new values of persistent
/// tensors to the storages of the old ones.
LogicalResult BufferAssignment::visitReturn() {
  // Copies into persistent tensors, which come after all reads of these tensors.
  SmallVector<OpOperand *> late;
  llvm::StringMap<unsigned> updated;
  for (OpOperand &returned : returnOp->getOpOperands()) {
    unsigned index = returned.getOperandNumber();
    StringAttr name = signature.result(index).updates;
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
  // A late copy may read an argument that another late copy overwrites. So all of them
  // are first copied to transient storages.
  for (OpOperand *returned : late)
    if (isa<BlockArgument>(rootOf(returned->get())))
      copyTo(*returned, newStorage(returned->get()), returnOp);
  for (OpOperand *returned : late)
    copyTo(*returned, result.places[signature.updatedArgument(returned->getOperandNumber())], returnOp);
  return success();
}

LogicalResult BufferAssignment::visitUpdate(OpOperand &returned, StringRef name, SmallVectorImpl<OpOperand *> &late) {
  BlockArgument old = signature.updatedArgument(returned.getOperandNumber());
  if (!old)
    return program.emitOpError() << "updates '" << name << "' with result " << returned.getOperandNumber()
                                 << ", but no argument is a parameter or state of that name";
  if (old.getType() != returned.get().getType())
    return program.emitOpError() << "updates '" << name << "', a " << old.getType() << ", with a "
                                 << returned.get().getType();
  if (returned.get() != old && !tryAssign(returned.get(), result.places[old]))
    late.push_back(&returned);
  return success();
}

void BufferAssignment::visitResult(OpOperand &returned) {
  Place place = add(resultStorage(program, returned.getOperandNumber()), returned.get());
  if (!tryAssign(returned.get(), place))
    copyTo(returned, place, returnOp);
}

void BufferAssignment::visitConcat(ConcatOp concat) {
  if (packOf(concat))
    return;
  if (!result.places.contains(concat.getResult()))
    assign(concat.getResult(), newStorage(concat.getResult()));
  Place place = result.places[concat.getResult()];
  Operation *overwritten = overwrittenBy.lookup(concat);
  int64_t dim = concat.getDim(), start = 0;
  for (OpOperand &operand : concat->getOpOperands()) {
    Place slice = place;
    slice.layout.offset += start * place.layout.strides[dim];
    start += shapeOf(operand.get())[dim];
    bool readLater = overwritten && !readsEndBefore(rootOf(operand.get()), overwritten, concat);
    if (readLater || !tryAssign(operand.get(), slice, overwritten))
      copyTo(operand, slice, concat);
  }
}

void BufferAssignment::visitAction(ActionOpInterface action) {
  for (OpResult value : action.getActionResults()) {
    if (!result.places.contains(value))
      assign(value, newTransient(value));
    if (action.getTiedIn(value.getResultNumber()) >= 0)
      tieAccumulator(action, value.getResultNumber());
    else if (!overwriting.contains(value))
      writeInPlace(action, value);
  }
}

void BufferAssignment::tieAccumulator(ActionOpInterface action, unsigned number) {
  OpOperand &operand = action->getOpOperand(action.getTiedIn(number));
  Place place = result.places[action->getResult(number)];
  // If the accumulator is the persistent tensor itself, tryAssignResult has checked this.
  if (isPersistent(place) && operand.get() == argumentAt(place))
    return;
  if (aliasAccumulator(operand.get(), action, number) ||
      (mayOverwrite(rootOf(operand.get()), action, number) && tryAssignOperand(operand.get(), action, number)))
    return;
  if (isPadded(place.storage))
    removePadding(place.storage);
  copyTo(operand, result.places[action->getResult(number)], action);
}

/// Aliases the sum over microbatches with the accumulator that it reads, up to the action
/// that writes the accumulator's new value. All values in the storage of the result move
/// to the storage of the operand.
bool BufferAssignment::aliasAccumulator(Value operand, ActionOpInterface action, unsigned number) {
  auto old = dyn_cast<BlockArgument>(operand);
  tg::StateAttr state = tg::stateOf(old);
  OpResult value = action.getActionResults()[number];
  unsigned from = result.places[value].storage;
  if (!state || !state.isAccumulator() || old.getType() != value.getType() ||
      result.storages[from].kind != Storage::Kind::Transient || !mayOverwrite(old, action, number))
    return false;
  unsigned to = result.places[old].storage;
  // The result's storage is first written here, so its values conflict only with later
  // writers of the accumulator's storage.
  auto endsBefore = [&](Value moved, Operation *writer) {
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
    if (!llvm::all_of(occupants[from], [&](Value moved) { return endsBefore(moved, writer); }))
      return false;
  }
  bool areWhole = llvm::all_of(occupants[from], [&](Value moved) {
    return moved.getType() == old.getType() &&
           (isPadded(from) || result.places[moved].layout.isContiguous(shapeOf(moved)));
  });
  if (!isWritten || !areWhole)
    return false;
  for (Value moved : occupants[from])
    assign(moved, result.places[old]);
  occupants[from].clear();
  return true;
}

/// Lets the result overwrite an operand whose last use is this action.
void BufferAssignment::writeInPlace(ActionOpInterface action, OpResult value) {
  Place place = result.places[value];
  if (isPersistent(place))
    return;
  if (!place.layout.isContiguous(shapeOf(value)) && !isPadded(place.storage))
    return writePartsInPlace(action, value);
  for (Value operand : action.getActionIns())
    if (aliasAccumulator(operand, action, value.getResultNumber()))
      return;
  for (Value operand : action.getActionIns()) {
    Value root = rootOf(operand);
    if (operand.getType() == value.getType() && !isa<BlockArgument>(root) &&
        mayOverwrite(root, action, value.getResultNumber()) &&
        tryAssignOperand(operand, action, value.getResultNumber()))
      return;
  }
}

/// Returns the layout of `value`, a view of a view of its root, for a contiguous root.
static std::optional<Layout> layoutInRoot(Value value) {
  auto view = value.getDefiningOp<ViewOp>();
  if (!view)
    return Layout::contiguous(shapeOf(value));
  std::optional<Layout> source = layoutInRoot(view.getSource());
  return source ? composeView(shapeOf(view.getSource()), *source, shapeOf(view.getResult()), view.getOffset(),
                              view.getStrides())
                : std::nullopt;
}

/// Lets results that form one tensor together overwrite the tensor from which their operands are
/// sliced. An example is the rotation of both halves of each row. `value` is one of the results.
void BufferAssignment::writePartsInPlace(ActionOpInterface action, OpResult value) {
  const Place place = result.places.at(value);
  for (Value operand : action.getActionIns()) {
    Value root = rootOf(operand);
    std::optional<Layout> read = layoutInRoot(operand);
    if (operand.getType() != value.getType() || isa<BlockArgument>(root) || !read ||
        read->strides != place.layout.strides)
      continue;
    Layout whole = Layout::contiguous(shapeOf(root));
    whole.offset = place.layout.offset - read->offset;
    // Returns the result that is written exactly over this part of the root, and overwrites nothing else.
    SmallVector<Value> parts;
    auto resultAt = [&](Value part) -> std::optional<unsigned> {
      std::optional<Layout> layout = layoutInRoot(part);
      for (OpResult other : action.getActionResults()) {
        auto found = result.places.find(other); // results get their places one after the other
        bool isFree = !overwriting.contains(other) && action.getTiedIn(other.getResultNumber()) < 0;
        if (isFree && layout && found != result.places.end() && found->second.storage == place.storage &&
            found->second.layout.strides == layout->strides &&
            found->second.layout.offset == layout->offset + whole.offset)
          return parts.push_back(other), other.getResultNumber();
      }
      return std::nullopt;
    };
    if (mayOverwriteParts(root, action, resultAt) && tryAssign(root, {place.storage, whole}, action))
      return overwriting.insert(parts.begin(), parts.end());
  }
}

//===----------------------------------------------------------------------===//
// Whole program
//===----------------------------------------------------------------------===//

/// Assigns views. A view of a strided source has no place if no strides describe its
/// elements. Its only reader is then the tie that gave the source these strides.
void braid::assignViews(Block &block, Places &places) {
  for (auto view : block.getOps<ViewOp>()) {
    const Place &source = places.places.at(view.getSource());
    auto layout = composeView(shapeOf(view.getSource()), source.layout, shapeOf(view.getResult()), view.getOffset(),
                              view.getStrides());
    if (layout)
      places.places[view.getResult()] = {source.storage, *layout};
  }
}

FailureOr<Places> BufferAssignment::run() {
  assignArguments();
  if (failed(visitReturn()))
    return failure();
  // Copies are inserted before the op that needs them, so the walk visits them too.
  for (Operation *op = returnOp->getPrevNode(); op; op = op->getPrevNode()) {
    if (auto concat = dyn_cast<ConcatOp>(op))
      visitConcat(concat);
    else if (auto action = dyn_cast<ActionOpInterface>(op))
      visitAction(action);
  }
  assignViews(block, result);
  findLifetimes(block, result);
  return std::move(result);
}

FailureOr<Places> braid::assignBuffers(func::FuncOp program, int64_t rowAlignment) {
  bool isRecorded = program->hasAttr(kAssignment);
  if (failed(checkSignature(program)) || (!isRecorded && failed(prepareForBufferAssignment(program))))
    return failure();
  FailureOr<Places> places = isRecorded ? readAssignment(program) : BufferAssignment(program, rowAlignment).run();
  if (failed(places) || failed(checkSum(program, places->storages)))
    return failure();
  return places;
}
