//===- Program.cpp - what can be run, and what it takes and gives ---------===//

#include "lib/Reference/Program.h"
#include "lib/Reference/Bounds.h"
#include "lib/Reference/Evaluator.h"
#include "lib/Reference/Memory.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace braid;
using namespace braid::reference;

//===----------------------------------------------------------------------===//
// Slots
//===----------------------------------------------------------------------===//

static RankedTensorType exchanged(RankedTensorType type, bool transposed) {
  if (!transposed)
    return type;
  return RankedTensorType::get({type.getDimSize(1), type.getDimSize(0)}, type.getElementType());
}

RankedTensorType InputSlot::logicalType() const { return exchanged(type, transposed); }

std::string ResultSlot::name() const {
  if (!updates.empty())
    return "updates " + updates;
  return gradOf.empty() ? role : "grad_of " + gradOf;
}

/// Fills a slot from `#tg.param`, `#tg.state` or an input's name.
static void describe(InputSlot &slot, Attribute value) {
  if (auto param = dyn_cast_or_null<tg::ParamAttr>(value)) {
    slot.kind = InputKind::Param;
    slot.name = param.getName().str();
    slot.init = param.getInit();
    slot.transposed = param.getTransposed();
    slot.frozen = param.getFrozen();
  } else if (auto state = dyn_cast_or_null<tg::StateAttr>(value)) {
    slot.kind = InputKind::State;
    slot.name = state.getName().str();
    slot.init = state.getInit();
    slot.scratch = state.getScratch();
    slot.transposed = state.getTransposed();
  } else if (auto name = dyn_cast_or_null<StringAttr>(value)) {
    slot.name = name.str();
  }
}

/// Numbers the tensors that have initial values.
static void numberStreams(std::vector<InputSlot> &inputs) {
  unsigned stream = 0;
  for (InputSlot &slot : inputs)
    if (slot.kind != InputKind::Input)
      slot.stream = stream++;
}

static std::string textOf(Attribute attribute) {
  auto text = dyn_cast_or_null<StringAttr>(attribute);
  return text ? text.str() : "";
}

FailureOr<Program> Program::ofFunction(func::FuncOp function) {
  Program program;
  program.op = function;
  program.name = function.getName().str();
  for (BlockArgument argument : function.getArguments()) {
    unsigned i = argument.getArgNumber();
    InputSlot slot;
    slot.type = dyn_cast<RankedTensorType>(argument.getType());
    if (!slot.type || !slot.type.hasStaticShape())
      return function.emitError() << "argument #" << i << " is " << argument.getType()
                                  << "; the interpreter takes ranked tensors of static shape";
    for (StringRef name : {tg::kParam, tg::kState, tg::kInput})
      if (Attribute value = function.getArgAttr(i, name))
        describe(slot, value);
    if (slot.name.empty())
      slot.name = "arg" + std::to_string(i);
    slot.role = textOf(function.getArgAttr(i, tg::kRole));
    findBound(argument, slot);
    program.inputs.push_back(slot);
  }
  numberStreams(program.inputs);
  for (unsigned i = 0; i < function.getNumResults(); ++i) {
    ResultSlot slot;
    slot.role = textOf(function.getResultAttr(i, tg::kRole));
    slot.updates = textOf(function.getResultAttr(i, tg::kUpdates));
    slot.gradOf = textOf(function.getResultAttr(i, tg::kGradOf));
    slot.type = dyn_cast<RankedTensorType>(function.getResultTypes()[i]);
    if (!slot.type)
      return function.emitError() << "result #" << i << " is no ranked tensor";
    for (const InputSlot &input : program.inputs)
      if (input.name == (slot.updates.empty() ? slot.gradOf : slot.updates))
        slot.transposed = input.transposed;
    program.results.push_back(slot);
  }
  return program;
}

FailureOr<Program> Program::ofMemory(exec::ProgramOp memory) {
  Program program;
  program.op = memory;
  program.name = memory.getSymName().str();
  Machine machine(memory, Arithmetic::Native);
  std::vector<ResultSlot> updates;
  for (exec::TensorOp tensor : machine.persistent) {
    InputSlot slot;
    slot.type = cast<RankedTensorType>(tensor.getType());
    describe(slot, tensor.getValue());
    ResultSlot update;
    update.updates = slot.name;
    update.type = slot.type;
    update.transposed = slot.transposed;
    program.inputs.push_back(slot);
    updates.push_back(update);
  }
  numberStreams(program.inputs);
  for (exec::BufferOp buffer : machine.inputs) {
    InputSlot slot;
    slot.type = cast<RankedTensorType>(*buffer.getType());
    slot.name = buffer.getName().str();
    slot.role = buffer.getRole().value_or("").str();
    program.inputs.push_back(slot);
  }
  for (exec::BufferOp buffer : machine.results) {
    ResultSlot slot;
    slot.type = cast<RankedTensorType>(*buffer.getType());
    StringRef role = buffer.getRole().value_or("");
    (role.consume_front("grad_of ") ? slot.gradOf : slot.role) = role.str();
    for (const InputSlot &input : program.inputs)
      if (input.name == slot.gradOf)
        slot.transposed = input.transposed;
    program.results.push_back(slot);
  }
  program.results.insert(program.results.end(), updates.begin(), updates.end());
  return program;
}

//===----------------------------------------------------------------------===//
// Finding
//===----------------------------------------------------------------------===//

bool Program::exists(ModuleOp module, StringRef name) {
  return isa_and_nonnull<func::FuncOp, exec::ProgramOp>(SymbolTable::lookupSymbolIn(module, name));
}

std::vector<std::string> Program::names(ModuleOp module) {
  std::vector<std::string> names;
  for (Operation &op : *module.getBody())
    if (isa<func::FuncOp, exec::ProgramOp>(op))
      names.push_back(SymbolTable::getSymbolName(&op).str());
  return names;
}

FailureOr<Program> Program::find(ModuleOp module, StringRef name) {
  std::vector<std::string> all = names(module);
  std::string list = llvm::join(all, "', '");
  if (all.empty())
    return module.emitError("the module has no function and no program");
  if (name.empty() && all.size() > 1)
    return module.emitError() << "the module has several functions, '" << list << "'; name one with --function";
  Operation *found = SymbolTable::lookupSymbolIn(module, name.empty() ? StringRef(all[0]) : name);
  if (auto function = dyn_cast_or_null<func::FuncOp>(found))
    return ofFunction(function);
  if (auto program = dyn_cast_or_null<exec::ProgramOp>(found))
    return ofMemory(program);
  return module.emitError() << "the module has no function or program '" << name << "'; it has '" << list << "'";
}

//===----------------------------------------------------------------------===//
// Running
//===----------------------------------------------------------------------===//

static Tensor exchange(const Tensor &tensor, bool transposed) {
  return transposed ? tensor.transposed({1, 0}) : tensor;
}

Results Program::runInMemory(ArrayRef<Tensor> arguments, Arithmetic arithmetic) const {
  Machine machine(cast<exec::ProgramOp>(op), arithmetic);
  if (failed(machine.check()))
    return failure();
  size_t persistent = machine.persistent.size();
  for (size_t i = 0; i < arguments.size(); ++i)
    i < persistent ? machine.write(machine.persistent[i], arguments[i])
                   : machine.write(machine.inputs[i - persistent], arguments[i]);
  if (failed(machine.run()))
    return failure();
  SmallVector<Tensor> made;
  for (exec::BufferOp buffer : machine.results) {
    FailureOr<Tensor> tensor = machine.read(buffer);
    if (failed(tensor))
      return failure();
    made.push_back(std::move(*tensor));
  }
  for (exec::TensorOp persistent : machine.persistent) {
    FailureOr<Tensor> tensor = machine.read(persistent);
    if (failed(tensor))
      return failure();
    made.push_back(std::move(*tensor));
  }
  return made;
}

Results Program::run(ArrayRef<Tensor> arguments, Arithmetic arithmetic) const {
  SmallVector<Tensor> held;
  for (auto [slot, tensor] : llvm::zip_equal(inputs, arguments)) {
    if (ArrayRef<int64_t>(tensor.shape) != slot.logicalType().getShape())
      return op->emitError() << "input '" << slot.name << "' is " << slot.logicalType()
                             << " but its value has the shape " << indexText(tensor.shape);
    held.push_back(exchange(tensor, slot.transposed));
  }
  Results made =
      isa<func::FuncOp>(op) ? runFunction(cast<func::FuncOp>(op), held, arithmetic) : runInMemory(held, arithmetic);
  if (failed(made))
    return failure();
  for (auto [slot, tensor] : llvm::zip_equal(results, *made))
    if (slot.transposed)
      tensor = exchange(tensor, true);
  return made;
}

Results Program::run(const Values &arguments, Arithmetic arithmetic) const {
  SmallVector<Tensor> list;
  for (const InputSlot &slot : inputs) {
    auto found = arguments.find(slot.name);
    assert(found != arguments.end() && "an input without a value");
    list.push_back(found->second);
  }
  return run(list, arithmetic);
}

LogicalResult Program::emitError(llvm::Error error) const {
  return op->emitError() << llvm::toString(std::move(error));
}
