//===- Translator.cpp - calls of ATen ops become ops of tg ----------------===//

#include "lib/Import/Torch/Translator.h"
#include "dialects/TG/ValueNames.h"
#include "lib/Import/InputRoles.h"
#include "lib/Import/Torch/Weights.h"
#include "lib/Import/Units.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSet.h"
#include <cmath>

using namespace llvm;
using namespace mlir;
using namespace braid;
using namespace braid::torch;

/// Upper limit of a buffer's elements whose values are read.
static constexpr int64_t kMaxBufferElements = 1 << 20;

//===----------------------------------------------------------------------===//
// Element types
//===----------------------------------------------------------------------===//

/// Returns the type that stores a PyTorch type here, or null. Integers have 32 bits.
static Type elementOf(ScalarType type, MLIRContext *context) {
  Builder builder(context);
  switch (type) {
  case ScalarType::F32:
    return builder.getF32Type();
  case ScalarType::F64:
    return builder.getF64Type();
  case ScalarType::BF16:
    return builder.getBF16Type();
  case ScalarType::I32:
  case ScalarType::I64:
    return builder.getI32Type();
  case ScalarType::Bool:
    return builder.getI1Type();
  default:
    return {};
  }
}

namespace braid::torch {
class Translator {
public:
  Translator(const Program &program, const Archive &archive, const ImportOptions &options, MLIRContext &context)
      : program(program), archive(archive), options(options), builder(&context) {}

  Imported run();

private:
  friend class CallBuilder;

  RankedTensorType tensorType(const TypeOfTensor &type, Location loc, const Twine &what);
  Location locationOf(const Call &call);
  LogicalResult declareInputs();
  LogicalResult declareInput(const Input &input);
  void bindBuffer(const Input &input, Operand &operand);
  LogicalResult translate(const Call &call);
  LogicalResult build(const Call &call, const OpRow &row, Location loc);
  const OpRow *findRow(const Call &call, Location loc);
  void noteMemory(const Call &call, const OpRow &row);
  LogicalResult finish();
  BlockArgument addArgument(RankedTensorType type, ArrayRef<NamedAttribute> attributes);
  Value randomKey();

  const Program &program;
  const Archive &archive;
  const ImportOptions &options;
  OpBuilder builder;
  func::FuncOp function;
  StringMap<Operand> operands;
  StringMap<const OpRow *> rows;
  /// Tensors that share memory with another: as a view of it, or because it is a view.
  llvm::StringSet<> shared;
  SmallVector<DictionaryAttr> argumentAttributes;
  Value keyArgument;
  /// Whether an error was reported while a value was built.
  bool hasFailed = false;
  int64_t streams = 0;
};
} // namespace braid::torch

//===----------------------------------------------------------------------===//
// Arguments of a call
//===----------------------------------------------------------------------===//

const Argument *CallBuilder::find(StringRef name) const {
  for (const auto &[key, argument] : call.arguments)
    if (key == name)
      return &argument;
  return nullptr;
}

template <class T> static T argumentOr(const Argument *argument, T fallback) {
  if (const T *value = argument ? std::get_if<T>(argument) : nullptr)
    return *value;
  return fallback;
}

bool CallBuilder::has(StringRef name) const {
  const Argument *argument = find(name);
  return argument && !std::holds_alternative<std::monostate>(*argument);
}
bool CallBuilder::isNumber(StringRef name) const {
  const Argument *argument = find(name);
  return argument && (std::holds_alternative<int64_t>(*argument) || std::holds_alternative<double>(*argument) ||
                      std::holds_alternative<bool>(*argument));
}
int64_t CallBuilder::integer(StringRef name, int64_t fallback) const { return argumentOr(find(name), fallback); }
bool CallBuilder::boolean(StringRef name, bool fallback) const { return argumentOr(find(name), fallback); }
StringRef CallBuilder::string(StringRef name) const {
  const Argument *argument = find(name);
  const std::string *text = argument ? std::get_if<std::string>(argument) : nullptr;
  return text ? StringRef(*text) : StringRef();
}
double CallBuilder::number(StringRef name, double fallback) const {
  const Argument *argument = find(name);
  if (const int64_t *integer = argument ? std::get_if<int64_t>(argument) : nullptr)
    return *integer;
  if (const bool *flag = argument ? std::get_if<bool>(argument) : nullptr)
    return *flag;
  return argumentOr(argument, fallback);
}
Integers CallBuilder::integers(StringRef name) const { return argumentOr(find(name), Integers()); }
std::optional<ScalarType> CallBuilder::element(StringRef name) const {
  const Argument *argument = find(name);
  const ScalarType *type = argument ? std::get_if<ScalarType>(argument) : nullptr;
  return type ? std::optional(*type) : std::nullopt;
}
const TensorNames &CallBuilder::tensors(StringRef name) const { return std::get<TensorNames>(*find(name)); }
const TypeOfTensor &CallBuilder::typeOfArgument(StringRef name) const {
  return translator.program.typeOf(std::get<TensorName>(*find(name)).name);
}
Value CallBuilder::tensor(StringRef name) { return tensorNamed(std::get<TensorName>(*find(name)).name); }
const MaybeKnown &CallBuilder::known(StringRef name) { return knownNamed(std::get<TensorName>(*find(name)).name); }
const MaybeKnown &CallBuilder::knownNamed(StringRef tensor) { return translator.operands[tensor].known; }
Value CallBuilder::tensorNamed(StringRef tensor) {
  Operand &operand = translator.operands[tensor];
  RankedTensorType type = translator.tensorType(translator.program.typeOf(tensor), loc, tensor);
  return materialize(operand, type, builder, loc, translator.hasFailed);
}

int64_t CallBuilder::dim(StringRef name, int64_t rank, int64_t fallback) {
  int64_t given = integer(name, fallback), dim = given < 0 ? given + rank : given;
  if (dim >= 0 && dim < rank)
    return dim;
  fail("dim " + Twine(given) + " is none of a tensor with " + Twine(rank) + " dims");
  return -1;
}

const TypeOfTensor &CallBuilder::resultType(unsigned number) const {
  return translator.program.typeOf(call.results[number]);
}
RankedTensorType CallBuilder::resultTensor(unsigned number) const {
  return translator.tensorType(resultType(number), loc, call.results[number]);
}
Value CallBuilder::key() { return translator.randomKey(); }
int64_t CallBuilder::nextStream() { return translator.streams++; }

Value CallBuilder::fail(const Twine &message) {
  emitError(loc) << call.op << ": " << message;
  return {};
}

Value CallBuilder::expand(Value a, ArrayRef<int64_t> shape) {
  RankedTensorType type = tg::typeOf(a);
  if (type.getShape() == shape)
    return a;
  int64_t lead = static_cast<int64_t>(shape.size()) - type.getRank();
  for (int64_t dim = 0; dim < type.getRank(); ++dim)
    if (lead < 0 || (type.getDimSize(dim) != 1 && type.getDimSize(dim) != shape[lead + dim]))
      return fail("shapes do not broadcast");
  // A reshape that only added dims of size 1 is part of the broadcast.
  SmallVector<int64_t> dims = tg::dimRange(lead, shape.size());
  if (auto reshape = a.getDefiningOp<tg::ReshapeOp>()) {
    SmallVector<int64_t> kept, sizes;
    for (int64_t dim = 0; dim < type.getRank(); ++dim)
      if (type.getDimSize(dim) != 1) {
        kept.push_back(lead + dim);
        sizes.push_back(type.getDimSize(dim));
      }
    if (tg::typeOf(reshape.getInput()).getShape() == ArrayRef(sizes))
      return broadcast(reshape.getInput(), tg::withShape(type, shape), kept);
  }
  return broadcast(a, tg::withShape(type, shape), dims);
}

Value CallBuilder::filled(RankedTensorType type, double number) {
  bool fits = isa<FloatType>(type.getElementType()) || (number == std::floor(number) && std::abs(number) <= INT32_MAX);
  return fits ? constant(type, number) : fail(std::to_string(number) + " is no integer of 32 bits");
}

Value CallBuilder::operand(StringRef name, Type element) {
  RankedTensorType type = RankedTensorType::get(resultType().shape, element);
  if (isNumber(name))
    return filled(type, number(name));
  if (Value value = expand(convert(tensor(name), element), type.getShape()))
    return value;
  translator.hasFailed = true;
  return zeros(type);
}

//===----------------------------------------------------------------------===//
// Inputs
//===----------------------------------------------------------------------===//

RankedTensorType Translator::tensorType(const TypeOfTensor &type, Location loc, const Twine &what) {
  Type element = elementOf(type.element, builder.getContext());
  if (!element) {
    emitError(loc) << "'" << what << "' has element type " << nameOf(type.element)
                   << "; float32, float64, bfloat16, int32, int64 and bool are supported";
    element = builder.getF32Type();
  }
  return RankedTensorType::get(type.shape, element);
}

Location Translator::locationOf(const Call &call) {
  Location place = UnknownLoc::get(builder.getContext());
  if (!call.file.empty())
    place = FileLineColLoc::get(builder.getStringAttr(call.file), call.line, 0);
  return call.module.empty() ? place : NameLoc::get(builder.getStringAttr(call.module), place);
}

BlockArgument Translator::addArgument(RankedTensorType type, ArrayRef<NamedAttribute> attributes) {
  argumentAttributes.push_back(builder.getDictionaryAttr(attributes));
  return function.getBody().front().addArgument(type, function.getLoc());
}

Value Translator::randomKey() {
  if (!keyArgument)
    keyArgument =
        addArgument(RankedTensorType::get({4}, builder.getI32Type()),
                    {builder.getNamedAttr("tg.input", builder.getStringAttr("key")),
                     builder.getNamedAttr("tg.role", tg::RoleAttr::get(builder.getContext(), tg::Role::Key))});
  return keyArgument;
}

/// Reads the elements of a small buffer.
void Translator::bindBuffer(const Input &input, Operand &operand) {
  auto stored = program.weights.find(input.target);
  const TypeOfTensor &type = program.typeOf(input.name);
  int64_t elements = 1;
  for (int64_t size : type.shape)
    elements *= size;
  if (stored == program.weights.end() || elements > kMaxBufferElements)
    return;
  if (stored->second.type.element != type.element || stored->second.type.shape != type.shape)
    return;
  Expected<std::string> bytes = readTensor(archive, stored->second);
  if (!bytes) {
    consumeError(bytes.takeError());
    return;
  }
  std::vector<double> numbers(elements);
  auto read = [&](auto example) {
    using T = decltype(example);
    for (int64_t i = 0; i < elements; ++i) {
      T value;
      std::memcpy(&value, bytes->data() + i * sizeof(T), sizeof(T));
      numbers[i] = static_cast<double>(value);
    }
    operand.known = known::dense(type.shape, std::move(numbers));
  };
  switch (type.element) {
  case ScalarType::F32:
    return read(float());
  case ScalarType::F64:
    return read(double());
  case ScalarType::I64:
    return read(int64_t());
  case ScalarType::I32:
    return read(int32_t());
  case ScalarType::Bool:
    return read(int8_t());
  default:
    return;
  }
}

LogicalResult Translator::declareInput(const Input &input) {
  Location loc = NameLoc::get(builder.getStringAttr(input.target));
  RankedTensorType type = tensorType(program.typeOf(input.name), loc, input.target);
  if (!elementOf(program.typeOf(input.name).element, builder.getContext()))
    return failure();
  Operand &operand = operands[input.name];
  MLIRContext *context = builder.getContext();
  if (input.kind == Input::Kind::User) {
    FailureOr<tg::Role> role =
        roleOf(input.target, type.getElementType(), nameOf(program.typeOf(input.name).element), options, loc);
    if (failed(role))
      return failure();
    operand.value = addArgument(type, {builder.getNamedAttr("tg.input", builder.getStringAttr(input.target)),
                                       builder.getNamedAttr("tg.role", tg::RoleAttr::get(context, *role))});
    return success();
  }
  bool isTrained = input.kind == Input::Kind::Parameter && program.typeOf(input.name).requiresGrad;
  if (input.kind != Input::Kind::Parameter)
    bindBuffer(input, operand);
  // Integers, and the few numbers that code can spell out, become constants where they are used.
  if (operand.known && (!isa<FloatType>(type.getElementType()) || type.getNumElements() <= kMaxConstantElements))
    return success();
  auto param = tg::ParamAttr::get(context, builder.getStringAttr(input.target), initialValues(input.target, context),
                                  builder.getStringAttr(unitOf(input.target)), {}, !isTrained, false, -1);
  operand.value = addArgument(type, {builder.getNamedAttr("tg.param", param)});
  return success();
}

LogicalResult Translator::declareInputs() {
  // Parameters with the same elements are one parameter, with the name that comes first.
  StringMap<StringRef> firstByEntry;
  for (const Input &input : program.inputs) {
    auto stored = program.weights.find(input.target);
    if (input.kind == Input::Kind::Parameter && stored != program.weights.end() && stored->second.isRowMajor()) {
      auto [first, isNew] = firstByEntry.try_emplace(stored->second.entry, input.name);
      const TypeOfTensor &type = program.typeOf(input.name), &firstType = program.typeOf(first->second);
      if (!isNew && firstType.shape == type.shape && firstType.element == type.element) {
        operands[input.name] = operands[first->second];
        continue;
      }
    }
    if (failed(declareInput(input)))
      return failure();
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Calls
//===----------------------------------------------------------------------===//

/// Name of the tensor that a call overwrites, as aten.div_.Tensor does; empty if it overwrites none.
static StringRef overwritten(const Call &call) {
  StringRef name = StringRef(call.op).split('.').second.split('.').first;
  if (!name.ends_with("_") || name.starts_with("_") || call.arguments.empty())
    return "";
  const auto *tensor = std::get_if<TensorName>(&call.arguments.front().second);
  return tensor ? StringRef(tensor->name) : StringRef();
}

/// Returns the row of a call. An op that overwrites its operand has the row of the op that does not; it is refused if
/// another tensor shares the operand's memory, because that one would change, too.
const OpRow *Translator::findRow(const Call &call, Location loc) {
  std::string name = call.op;
  if (StringRef target = overwritten(call); !target.empty() && !rows.contains(name)) {
    name.erase(name.find("_."), 1);
    if (rows.contains(name) && shared.contains(target)) {
      emitError(loc) << call.op << " overwrites a tensor that shares memory with a view; use the op without '_'";
      return nullptr;
    }
  }
  const OpRow *row = rows.lookup(name);
  if (!row)
    emitError(loc) << call.op << " is not supported; docs/Importing.md lists the ops that are";
  return row;
}

/// Notes which tensors share memory, and that a tensor has been overwritten.
void Translator::noteMemory(const Call &call, const OpRow &row) {
  if (StringRef target = overwritten(call); !target.empty() && call.results.size() == 1)
    operands[target] = operands[call.results[0]];
  const auto *first = call.arguments.empty() ? nullptr : std::get_if<TensorName>(&call.arguments.front().second);
  if (!row.isView || !first)
    return;
  shared.insert(first->name);
  for (const std::string &result : call.results)
    shared.insert(result);
}

LogicalResult Translator::translate(const Call &call) {
  Location loc = locationOf(call);
  const OpRow *row = findRow(call, loc);
  if (!row || failed(checkArguments(call, *row, loc)))
    return failure();
  if (failed(build(call, *row, loc)))
    return failure();
  noteMemory(call, *row);
  return success();
}

LogicalResult Translator::build(const Call &call, const OpRow &row, Location loc) {
  if (row.build && call.results.empty())
    return emitError(loc) << call.op << ": the call has no result";
  CallBuilder calls(*this, call, builder, loc);
  for (unsigned i = 0; i < call.results.size(); ++i)
    if (!elementOf(calls.resultType(i).element, builder.getContext()))
      return tensorType(calls.resultType(i), loc, call.results[i]), failure();
  MaybeKnown known = row.evaluate && call.results.size() == 1 ? row.evaluate(calls) : std::nullopt;
  if (known && known->shape == ArrayRef<int64_t>(calls.resultType().shape)) {
    Operand &result = operands[call.results[0]];
    result.known = known;
    // Integers and booleans are built when a call needs them; a table of numbers is built now, beside what is known.
    if (!isa<FloatType>(calls.resultTensor().getElementType()) || !row.build)
      return success();
  }
  if (!row.build)
    return call.results.empty()
               ? success()
               : LogicalResult(emitError(loc)
                               << call.op
                               << ": is supported only of values that do not depend on inputs or parameters");
  SmallVector<Value> results = row.build(calls);
  if (hasFailed || results.size() != call.results.size() || is_contained(results, Value()))
    return failure();
  for (auto [number, value] : enumerate(results)) {
    if (Operation *op = value.getDefiningOp(); op && op->getLoc() == loc)
      tg::named(call.results[number], value);
    if (value.getType() != calls.resultTensor(number))
      return emitError(loc) << call.op << ": the result is " << value.getType() << " here, and "
                            << calls.resultTensor(number) << " in the program";
    operands[call.results[number]].value = value;
  }
  return success();
}

//===----------------------------------------------------------------------===//
// The function
//===----------------------------------------------------------------------===//

LogicalResult Translator::finish() {
  std::vector<ModelOutput> outputs;
  for (auto [number, output] : enumerate(program.outputs)) {
    Location loc = NameLoc::get(builder.getStringAttr(output.name));
    if (output.kind == Output::Kind::BufferMutation)
      return emitError(loc) << "the model updates its buffer '" << output.target
                            << "'; running statistics are not supported yet";
    RankedTensorType type = tensorType(program.typeOf(output.name), loc, output.name);
    Value value = materialize(operands[output.name], type, builder, loc, hasFailed);
    outputs.push_back({value, ("output" + Twine(number)).str()});
  }
  return finishModel(function, argumentAttributes, outputs, "return the loss from forward");
}

Imported Translator::run() {
  OwningOpRef<ModuleOp> module = ModuleOp::create(builder.getUnknownLoc());
  builder.setInsertionPointToEnd(module->getBody());
  function = builder.create<func::FuncOp>(module->getLoc(), "model", builder.getFunctionType({}, {}));
  builder.setInsertionPointToEnd(function.addEntryBlock());
  for (const OpRow *row : allRows())
    rows[row->name] = row;
  if (failed(declareInputs()))
    return {};
  for (const Call &call : program.calls)
    if (failed(translate(call)))
      return {};
  if (failed(finish()))
    return {};
  KnownValues known;
  for (const auto &entry : operands)
    if (entry.second.value && entry.second.known)
      known.try_emplace(entry.second.value, *entry.second.known);
  Recognized recognized = recognize(function, known);
  return {std::move(module), std::move(recognized)};
}

Imported braid::torch::translate(const Program &program, const Archive &archive, const ImportOptions &options,
                                 MLIRContext &context) {
  return Translator(program, archive, options, context).run();
}
