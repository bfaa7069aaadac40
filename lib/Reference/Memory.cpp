//===- Memory.cpp - execution of programs in memory form ------------------===//

#include "lib/Reference/Memory.h"
#include "lib/Reference/Evaluator.h"
#include "lib/Reference/KernelBody.h"
#include "mlir/IR/BuiltinOps.h"

using namespace mlir;
using namespace braid;
using namespace braid::reference;

//===----------------------------------------------------------------------===//
// Buffers and their live ranges
//===----------------------------------------------------------------------===//

/// Returns the symbol that references to a tensor use: its pack, or the tensor itself.
static StringRef nameInReferences(exec::TensorOp tensor) {
  for (auto pack : tensor->getParentOfType<ModuleOp>().getOps<exec::PackOp>())
    if (llvm::is_contained(pack.getTensors(), FlatSymbolRefAttr::get(tensor.getSymNameAttr())))
      return pack.getSymName();
  return tensor.getSymName();
}

/// Returns whether the ranks of a program hold a tensor while it runs. If programs share the ranks, a
/// tensor that the program does not use is on other ranks. Ranks do not hold unused caches, either.
static bool holds(exec::ProgramOp program, exec::TensorOp tensor) {
  auto ranks = program->getAttrOfType<comm::ProgramAttr>(comm::CommDialect::kProgram);
  if (tensor.getCategory() != exec::Category::Caches && (!ranks || !ranks.getAxis()))
    return true;
  StringRef name = nameInReferences(tensor);
  return llvm::any_of(program.getBody().getOps<exec::RefOp>(),
                      [&](exec::RefOp ref) { return ref.getBuffer() == name; });
}

/// Returns the end of tensors, and of the program's buffers, in the host's memory.
static int64_t hostBytesOf(exec::ProgramOp program) {
  int64_t bytes = 0;
  for (Block *block : {program->getBlock(), &program.getBody().front()})
    for (auto range : block->getOps<exec::ArenaRangeOpInterface>())
      if (range.isOnHost())
        bytes = std::max(bytes, range.getBegin() + range.getSize());
  return bytes;
}

Machine::Machine(exec::ProgramOp program, Arithmetic arithmetic, Network *network, int64_t rank)
    : program(program), arithmetic(arithmetic), network(network), rank(rank), hostBegin(program.getArenaBytes()),
      arena(hostBegin + hostBytesOf(program)), next(program.getBody().front().begin()) {
  auto module = program->getParentOfType<ModuleOp>();
  for (auto tensor : module.getOps<exec::TensorOp>())
    if (holds(program, tensor))
      persistent.push_back(tensor);
  for (Block *block : {module.getBody(), &program.getBody().front()})
    for (Operation &op : *block)
      if (auto name = op.getAttrOfType<StringAttr>(SymbolTable::getSymbolAttrName())) {
        symbols[name] = &op;
        numbers[&op] = names.size();
        names.push_back(name);
      }
  for (auto pack : module.getOps<exec::PackOp>())
    for (auto tensor : pack.getTensors().getAsRange<FlatSymbolRefAttr>())
      numbers[symbols.lookup(tensor.getAttr())] = numbers.lookup(pack);
  for (auto buffer : program.getBody().getOps<exec::BufferOp>()) {
    buffers.push_back(buffer);
    changes[buffer.getFirst()].push_back(buffer);
    changes[uint64_t{1} + buffer.getLast()].push_back(buffer);
    if (buffer.getScratch())
      scratch.push_back(buffer);
    if (!buffer.getType())
      continue;
    if (buffer.getIo() == "input")
      inputs.push_back(buffer);
    else if (buffer.getIo() == "result")
      results.push_back(buffer);
  }
}

/// Checks that a tensor or buffer is inside the arena.
template <typename OpT> static LogicalResult checkRange(OpT op, int64_t arenaBytes) {
  int64_t begin = op.getOffset(), end = begin + static_cast<int64_t>(op.getBytes());
  if (begin >= 0 && end >= begin && end <= arenaBytes)
    return success();
  return op.emitError() << "'" << op.getSymName() << "' covers bytes " << begin << " to " << end << " of an arena of "
                        << arenaBytes;
}

LogicalResult Machine::check() {
  for (exec::TensorOp tensor : persistent)
    if (!tensor.getHost() && failed(checkRange(tensor, hostBegin)))
      return failure();
  for (exec::BufferOp buffer : buffers)
    if (!buffer.getHost() && failed(checkRange(buffer, hostBegin)))
      return failure();
  return success();
}

/// Updates buffers before action `now`: buffers that died before it or become live with it have no contents.
void Machine::updateLives() {
  if (auto found = changes.find(now); found != changes.end())
    for (exec::BufferOp buffer : found->second)
      arena.poison(beginOf(buffer), buffer.getBytes());
}

/// Poisons the live scratch memory, because a library call may write anything to it.
void Machine::poisonWorkspace() {
  for (exec::BufferOp buffer : scratch) {
    int64_t first = buffer.getFirst(), last = buffer.getLast();
    if (first <= now && now <= last)
      arena.poisonWritten(buffer.getOffset(), buffer.getBytes());
  }
}

//===----------------------------------------------------------------------===//
// References
//===----------------------------------------------------------------------===//

/// Returns the place of a reference, after checking that its buffer is live and contains it.
FailureOr<Place> Machine::placeOf(Operation *user, Value reference) {
  auto ref = reference.getDefiningOp<exec::RefOp>();
  if (!ref)
    return user->emitError("uses a reference that no exec.ref made");
  Operation *target = symbols.lookup(ref.getBufferAttr().getAttr());
  auto range = dyn_cast_or_null<exec::ArenaRangeOpInterface>(target);
  if (!range)
    return ref.emitError() << "refers to '" << ref.getBuffer() << "', which is not a buffer or tensor";
  if (auto buffer = dyn_cast<exec::BufferOp>(target)) {
    int64_t first = buffer.getFirst(), last = buffer.getLast();
    if (now < first || now > last)
      return user->emitError() << "is action " << now << " and uses buffer '" << buffer.getSymName()
                               << "', which is live from " << first << " to " << last;
  }
  int64_t begin = ref.getOffset(), end = begin + ref.getType().getSpanBytes();
  if (begin < 0 || end > range.getSize())
    return ref.emitError() << "covers bytes " << begin << " to " << end << " of '" << ref.getBuffer() << "', which has "
                           << range.getSize();
  return Place{beginOf(range) + begin, ref.getType(), numbers.lookup(target)};
}

/// Describes what happened to bytes with this owner; continues "which was".
std::string Machine::ownerText(int32_t owner) const {
  if (owner == Arena::kNoOwner)
    return "never written";
  if (owner == Arena::kReserved)
    return "given to a collective that is not waited for yet";
  return "overwritten through '" + names[owner].str() + "'";
}

FailureOr<Tensor> Machine::readWhole(Operation *op, const Place &place) {
  std::optional<Arena::ForeignElement> stranger = arena.findForeignElement(place);
  if (!stranger)
    return arena.read(place);
  InFlightDiagnostic error = op->emitError()
                             << "reads element " << indexText(stranger->index) << " of '" << names[place.owner]
                             << "' at byte " << stranger->byte << " of the arena, which was ";
  return error << ownerText(stranger->owner);
}

FailureOr<Tensor> Machine::readOperand(Operation *user, Value reference) {
  FailureOr<Place> place = placeOf(user, reference);
  if (failed(place))
    return failure();
  return readWhole(user, *place);
}

/// Returns the place of a whole tensor or buffer.
template <typename OpT> Place Machine::wholePlace(OpT op, Type type) {
  return {beginOf(op), exec::RefType::contiguous(cast<RankedTensorType>(type)), numbers.lookup(op)};
}

/// Writes zeros after the values of a persistent tensor, up to the end of its bytes.
void Machine::writeZerosBehind(exec::TensorOp tensor) {
  auto type = cast<RankedTensorType>(tensor.getType());
  Place place = wholePlace(tensor, type);
  int64_t values = place.type.getSpanBytes();
  int64_t zeros = (static_cast<int64_t>(tensor.getBytes()) - values) / elementBytes(type.getElementType());
  if (zeros <= 0)
    return;
  place.offset += values;
  place.type = exec::RefType::contiguous(type.clone({zeros}));
  arena.write(place, Tensor({zeros}, type.getElementType()));
}

void Machine::write(ArrayRef<Tensor> values) {
  for (exec::TensorOp tensor : persistent) {
    arena.write(wholePlace(tensor, tensor.getType()), values.front());
    writeZerosBehind(tensor);
    values = values.drop_front();
  }
  for (auto [input, value] : llvm::zip_equal(inputs, values))
    arena.write(wholePlace(input, *input.getType()), value);
}

Results Machine::returned() {
  SmallVector<Tensor> tensors;
  auto read = [&](Operation *op, const Place &place) -> LogicalResult {
    FailureOr<Tensor> tensor = readWhole(op, place);
    if (succeeded(tensor))
      tensors.push_back(std::move(*tensor));
    return tensor;
  };
  for (exec::BufferOp buffer : results)
    if (failed(read(buffer, wholePlace(buffer, *buffer.getType()))))
      return failure();
  for (exec::TensorOp tensor : persistent)
    if (failed(read(tensor, wholePlace(tensor, tensor.getType()))))
      return failure();
  return tensors;
}

//===----------------------------------------------------------------------===//
// Actions
//===----------------------------------------------------------------------===//

/// Checks that an out is an operand only if it is the same reference, in the same tuple
/// of a launch. The action then reads each element before it writes it.
LogicalResult Machine::checkAliases(Operation *op) {
  auto action = cast<exec::ActionOpInterface>(op);
  SmallVector<Place> ins, outs;
  for (Value in : action.getActionIns())
    ins.push_back(*placeOf(op, in));
  for (Value out : action.getActionOuts())
    outs.push_back(*placeOf(op, out));
  auto launch = dyn_cast<exec::LaunchOp>(op);
  int64_t tuples = launch ? launch.getBatch() : 1;
  int64_t insOfTuple = ins.size() / tuples, outsOfTuple = outs.size() / tuples;
  for (size_t j = 0; j < outs.size(); ++j) {
    for (size_t k = 0; k < ins.size(); ++k) {
      bool sameTuple =
          static_cast<int64_t>(k) / std::max<int64_t>(insOfTuple, 1) == static_cast<int64_t>(j) / outsOfTuple;
      bool inPlace = sameTuple && ins[k] == outs[j] &&
                     (action.getTiedIn(j) == static_cast<int64_t>(k) || action.mayWriteInPlace(j, k));
      if (!inPlace && overlap(ins[k], outs[j]))
        return op->emitError() << "writes out " << j << " over operand " << k << ", which it still reads";
    }
    for (size_t k = 0; k < j; ++k)
      if (overlap(outs[k], outs[j]))
        return op->emitError() << "writes outs " << k << " and " << j << " to the same bytes";
  }
  return success();
}

/// Returns the shape of operand `index` of a flat kernel; its dim 0 stands for any length.
static ArrayRef<int64_t> shapeOfOne(exec::KernelDefOp kernel, unsigned index) {
  return cast<exec::RefType>(cast<TypeAttr>(kernel.getLayouts()[index]).getValue()).getShape();
}

/// Returns the elements of a flat operand as one vector, or as rows; scalars are unchanged.
static Tensor flattened(const Tensor &tensor, ArrayRef<int64_t> one) {
  if (one.empty())
    return tensor;
  Index shape(one);
  shape[0] = tensor.size() / elementCount(one);
  return tensor.reshaped(shape);
}

/// Runs each tuple of a launch.
LogicalResult Machine::runLaunch(exec::LaunchOp launch, ArrayRef<Tensor> ins, SmallVector<Tensor> &made) {
  auto kernel = dyn_cast_or_null<exec::KernelDefOp>(symbols.lookup(launch.getKernelAttr().getAttr()));
  if (!kernel)
    return launch.emitError() << "of '" << launch.getKernel() << "', which is not an exec.kernel_def";
  int64_t batch = launch.getBatch();
  size_t insOfTuple = ins.size() / batch, outsOfTuple = launch.getOuts().size() / batch;
  for (int64_t tuple = 0; tuple < batch; ++tuple) {
    ArrayRef<Tensor> own = ins.slice(tuple * insOfTuple, insOfTuple);
    auto outs = TypeRange(launch.getOuts()).drop_front(tuple * outsOfTuple).take_front(outsOfTuple);
    SmallVector<Tensor> arguments(own);
    int64_t flatLength = 0;
    if (kernel.getFlat()) {
      for (auto [index, argument] : llvm::enumerate(arguments))
        argument = flattened(argument, shapeOfOne(kernel, index));
      flatLength = elementCount(cast<exec::RefType>(outs.front()).getShape()) /
                   elementCount(shapeOfOne(kernel, arguments.size()));
    }
    SmallVector<const Tensor *> pointers;
    for (Tensor &argument : arguments)
      pointers.push_back(&argument);
    Results results = runKernelBody(kernel.getBody().front(), pointers, flatLength, arithmetic);
    if (failed(results))
      return failure();
    made.append(std::make_move_iterator(results->begin()), std::make_move_iterator(results->end()));
  }
  return success();
}

LogicalResult Machine::runAction(Operation *op) {
  auto action = cast<exec::ActionOpInterface>(op);
  OperandRange outs = action.getActionOuts();
  SmallVector<Tensor> ins, made;
  for (Value in : action.getActionIns()) {
    FailureOr<Tensor> tensor = readOperand(op, in);
    if (failed(tensor))
      return failure();
    ins.push_back(std::move(*tensor));
  }
  for (Value out : outs)
    if (failed(placeOf(op, out)))
      return failure();
  if (failed(checkAliases(op)) || failed(checkFlights(op)))
    return failure();
  if (auto launch = dyn_cast<exec::LaunchOp>(op)) {
    if (failed(runLaunch(launch, ins, made)))
      return failure();
  } else {
    SmallVector<const Tensor *> operands;
    for (const Tensor &in : ins)
      operands.push_back(&in);
    Results results = evaluateOnRank(op, operands, arithmetic, network, rank);
    if (failed(results))
      return failure();
    made = std::move(*results);
  }
  for (auto [out, tensor] : llvm::zip_equal(outs, made)) {
    Place place = *placeOf(op, out);
    if (tensor.size() != elementCount(place.type.getShape()))
      return op->emitError() << "made " << tensor.size() << " elements for an out of type " << place.type;
    arena.write(place, tensor);
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Steps
//===----------------------------------------------------------------------===//

/// Runs one action; returns false if it must wait for other ranks.
FailureOr<bool> Machine::runStep(Operation *op) {
  if (isa<comm::StartOp, comm::WaitOp, comm::QueuedOpInterface>(op))
    return runCollective(op);
  // Poisons before and after the call, because neither operands nor results may be in scratch memory.
  bool scratch = cast<exec::ActionOpInterface>(op).getWorkspaceBytes(exec::kConservativeWorkspace) > 0;
  if (scratch)
    poisonWorkspace();
  if (failed(runAction(op)))
    return failure();
  if (scratch)
    poisonWorkspace();
  return true;
}

FailureOr<bool> Machine::advance() {
  if (now < 0) {
    now = 0;
    updateLives();
  }
  for (Block::iterator end = program.getBody().front().end(); next != end; ++next) {
    if (isa<exec::BufferOp, exec::RefOp>(*next))
      continue;
    if (!isa<exec::ActionOpInterface>(*next))
      return next->emitError() << "the interpreter does not know '" << next->getName() << "' in a program";
    FailureOr<bool> finished = runStep(&*next);
    if (failed(finished) || !*finished)
      return finished;
    ++now;
    updateLives();
  }
  return true;
}
