//===- Inputs.cpp - parameters, buffers and inputs of a program -----------===//

#include "lib/Import/InputRoles.h"
#include "lib/Import/Torch/Translation.h"
#include "lib/Import/Torch/Weights.h"
#include "lib/Import/Units.h"
#include "llvm/ADT/STLExtras.h"

using namespace llvm;
using namespace mlir;
using namespace braid;
using namespace braid::torch;

/// Upper limit of a buffer's elements whose values are read.
static constexpr int64_t kMaxBufferElements = 1 << 20;

Type braid::torch::elementOf(ScalarType type, MLIRContext *context) {
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
    if (std::is_integral_v<T> && type.element != ScalarType::Bool)
      operand.known = known::simplified(*operand.known);
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
