//===- Program.cpp - what can be run, and what it takes and gives ---------===//

#include "lib/Reference/Program.h"
#include "dialects/Comm/Sharding.h"
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

/// The logical tensor that an argument or result is, or is a part of.
static FailureOr<RankedTensorType> logicalTypeOf(func::FuncOp function, Type type, TypeAttr global,
                                                 comm::ShardingAttr sharding, const Twine &what) {
  auto local = dyn_cast<RankedTensorType>(type);
  if (!local || !local.hasStaticShape())
    return function.emitError() << what << " is " << type << "; the interpreter takes ranked tensors of static shape";
  auto program = function->getAttrOfType<comm::ProgramAttr>(comm::CommDialect::kProgram);
  auto logical = global ? cast<RankedTensorType>(global.getValue()) : local;
  if (!program)
    return logical;
  FailureOr<comm::Mesh> mesh = comm::Mesh::require(function, program.getMesh());
  if (failed(mesh))
    return failure();
  if (sharding ? comm::localType(logical, sharding, *mesh) != local : logical != local)
    return function.emitError() << what << " is " << local << ", which is not the part of " << logical
                                << " that its sharding says";
  return logical;
}

/// The slot of an input, which functions of one program may share.
FailureOr<unsigned> Program::addInput(const InputSlot &slot, func::FuncOp function) {
  for (auto [i, other] : llvm::enumerate(inputs)) {
    if (other.name != slot.name || members.empty())
      continue;
    if (other.type != slot.type)
      return function.emitError() << "input '" << slot.name << "' is " << slot.type << " here and " << other.type
                                  << " in another function of the program";
    if (slot.bound)
      other.bound = other.bound ? std::min(other.bound, slot.bound) : slot.bound;
    return i;
  }
  inputs.push_back(slot);
  return inputs.size() - 1;
}

/// The slot of a result; functions share it if they give the result one name.
FailureOr<unsigned> Program::addResult(const ResultSlot &slot, func::FuncOp function, const Member &member) {
  for (auto [i, other] : llvm::enumerate(results)) {
    if (slot.name().empty() || other.name() != slot.name() || llvm::is_contained(member.results, i))
      continue;
    if (members.empty())
      continue;
    if (other.type != slot.type)
      return function.emitError() << "result '" << slot.name() << "' is " << slot.type << " here and " << other.type
                                  << " in another function of the program";
    return i;
  }
  results.push_back(slot);
  return results.size() - 1;
}

LogicalResult Program::addFunction(func::FuncOp function, bool qualified) {
  Member member{function, {}, {}};
  for (BlockArgument argument : function.getArguments()) {
    unsigned i = argument.getArgNumber();
    InputSlot slot;
    FailureOr<RankedTensorType> type =
        logicalTypeOf(function, argument.getType(), function.getArgAttrOfType<TypeAttr>(i, comm::CommDialect::kGlobal),
                      function.getArgAttrOfType<comm::ShardingAttr>(i, comm::CommDialect::kSharding),
                      "argument #" + Twine(i));
    if (failed(type))
      return failure();
    slot.type = *type;
    for (StringRef name : {tg::kParam, tg::kState, tg::kInput})
      if (Attribute value = function.getArgAttr(i, name))
        describe(slot, value);
    if (slot.name.empty())
      slot.name = (qualified ? function.getName().str() + "." : "") + "arg" + std::to_string(i);
    slot.role = textOf(function.getArgAttr(i, tg::kRole));
    findBound(argument, slot);
    FailureOr<unsigned> number = addInput(slot, function);
    if (failed(number))
      return failure();
    member.inputs.push_back(*number);
  }
  for (auto [i, resultType] : llvm::enumerate(function.getResultTypes())) {
    ResultSlot slot;
    slot.role = textOf(function.getResultAttr(i, tg::kRole));
    slot.updates = textOf(function.getResultAttr(i, tg::kUpdates));
    slot.gradOf = textOf(function.getResultAttr(i, tg::kGradOf));
    FailureOr<RankedTensorType> type =
        logicalTypeOf(function, resultType, function.getResultAttrOfType<TypeAttr>(i, comm::CommDialect::kGlobal),
                      function.getResultAttrOfType<comm::ShardingAttr>(i, comm::CommDialect::kSharding),
                      "result #" + Twine(i));
    if (failed(type))
      return failure();
    slot.type = *type;
    for (const InputSlot &input : inputs)
      if (input.name == (slot.updates.empty() ? slot.gradOf : slot.updates))
        slot.transposed = input.transposed;
    FailureOr<unsigned> number = addResult(slot, function, member);
    if (failed(number))
      return failure();
    member.results.push_back(*number);
  }
  members.push_back(std::move(member));
  return success();
}

FailureOr<Program> Program::ofFunctions(ArrayRef<Operation *> functions) {
  Program program;
  program.name = SymbolTable::getSymbolName(functions.front()).str();
  for (Operation *function : functions)
    if (failed(program.addFunction(cast<func::FuncOp>(function), functions.size() > 1)))
      return failure();
  numberStreams(program.inputs);
  return program;
}

FailureOr<Program> Program::ofMemory(exec::ProgramOp memory) {
  Program program;
  program.members.push_back({memory, {}, {}});
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

/// The mesh whose ranks a function shares with other functions, or null.
static FlatSymbolRefAttr sharedMesh(Operation *op) {
  auto program = op->getAttrOfType<comm::ProgramAttr>(comm::CommDialect::kProgram);
  return program && program.getAxis() ? program.getMesh() : FlatSymbolRefAttr();
}

/// The functions that make one program with `op`.
static SmallVector<Operation *> companionsOf(ModuleOp module, Operation *op) {
  FlatSymbolRefAttr mesh = sharedMesh(op);
  if (!mesh)
    return {op};
  SmallVector<Operation *> companions;
  for (Operation &other : *module.getBody())
    if (other.getName() == op->getName() && sharedMesh(&other) == mesh)
      companions.push_back(&other);
  return companions;
}

/// Checks that functions which share ranks leave none out and give none two
/// programs.
static LogicalResult checkRanks(ArrayRef<Operation *> functions) {
  FlatSymbolRefAttr name = sharedMesh(functions.front());
  if (!name)
    return success();
  FailureOr<comm::Mesh> mesh = comm::Mesh::require(functions.front(), name);
  if (failed(mesh))
    return failure();
  for (int64_t rank = 0; rank < mesh->getNumRanks(); ++rank) {
    Operation *first = nullptr;
    for (Operation *function : functions) {
      if (!mesh->runs(function->getAttrOfType<comm::ProgramAttr>(comm::CommDialect::kProgram), rank))
        continue;
      if (first) {
        InFlightDiagnostic error = function->emitError() << "rank " << rank << " runs this function and another";
        error.attachNote(first->getLoc()) << "the other is here";
        return error;
      }
      first = function;
    }
    if (!first)
      return functions.front()->emitError() << "no function of the program says what rank " << rank << " runs";
  }
  return success();
}

std::vector<std::string> Program::names(ModuleOp module) {
  std::vector<std::string> names;
  for (Operation &op : *module.getBody())
    if (isa<func::FuncOp, exec::ProgramOp>(op) && companionsOf(module, &op).front() == &op)
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
  if (auto program = dyn_cast_or_null<exec::ProgramOp>(found))
    return ofMemory(program);
  if (!isa_and_nonnull<func::FuncOp>(found))
    return module.emitError() << "the module has no function or program '" << name << "'; it has '" << list << "'";
  SmallVector<Operation *> functions = companionsOf(module, found);
  if (failed(checkRanks(functions)))
    return failure();
  return ofFunctions(functions);
}

//===----------------------------------------------------------------------===//
// Running
//===----------------------------------------------------------------------===//

static Tensor exchange(const Tensor &tensor, bool transposed) {
  return transposed ? tensor.transposed({1, 0}) : tensor;
}

Results Program::runInMemory(ArrayRef<Tensor> arguments, Arithmetic arithmetic) const {
  Machine machine(cast<exec::ProgramOp>(op()), arithmetic);
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

Results Program::run(ArrayRef<Tensor> arguments, Arithmetic arithmetic, std::vector<RankResult> *perRank) const {
  SmallVector<Tensor> held;
  for (auto [slot, tensor] : llvm::zip_equal(inputs, arguments)) {
    if (ArrayRef<int64_t>(tensor.shape) != slot.logicalType().getShape())
      return op()->emitError() << "input '" << slot.name << "' is " << slot.logicalType()
                               << " but its value has the shape " << indexText(tensor.shape);
    held.push_back(exchange(tensor, slot.transposed));
  }
  for (const Member &member : members)
    if (auto function = dyn_cast<func::FuncOp>(member.op))
      if (function.isExternal() || !function.getBody().hasOneBlock())
        return function.emitError("the interpreter runs functions of one block");
  Results made = failure();
  if (op()->hasAttr(comm::CommDialect::kProgram))
    made = runOnRanks(held, arithmetic, perRank);
  else
    made = function() ? runFunction(function(), held, arithmetic) : runInMemory(held, arithmetic);
  if (failed(made))
    return failure();
  for (auto [slot, tensor] : llvm::zip_equal(results, *made))
    if (slot.transposed)
      tensor = exchange(tensor, true);
  return made;
}

Results Program::run(const Values &arguments, Arithmetic arithmetic, std::vector<RankResult> *perRank) const {
  SmallVector<Tensor> list;
  for (const InputSlot &slot : inputs) {
    auto found = arguments.find(slot.name);
    assert(found != arguments.end() && "an input without a value");
    list.push_back(found->second);
  }
  return run(list, arithmetic, perRank);
}

LogicalResult Program::emitError(llvm::Error error) const {
  return op()->emitError() << llvm::toString(std::move(error));
}
