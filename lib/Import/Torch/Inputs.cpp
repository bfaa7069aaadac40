//===- Inputs.cpp - parameters, buffers and inputs of a program -----------===//

#include "lib/Import/InputRoles.h"
#include "lib/Import/Torch/Translation.h"
#include "lib/Import/Torch/Weights.h"
#include "lib/Import/Units.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSet.h"

using namespace llvm;
using namespace mlir;
using namespace braid;
using namespace braid::torch;

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
  auto stored = program.weights.find(input.target);
  if (input.kind != Input::Kind::Parameter && stored != program.weights.end() && !stored->second.hasValues)
    return emitError(loc)
           << "the buffer has no values, because it is on the device meta; before torch.export.save, set "
           << "program.constants['" << input.target << "'] or program.state_dict['" << input.target
           << "'] to a tensor that has them";
  bool isTrained = input.kind == Input::Kind::Parameter && program.typeOf(input.name).requiresGrad;
  if (states.contains(input.name))
    return declareState(input, type, loc), success();
  if (input.kind != Input::Kind::Parameter)
    operand.known = valuesOf(input);
  // Integers, and the few numbers that code can spell out, become constants where they are used.
  if (operand.known && (!isa<FloatType>(type.getElementType()) || type.getNumElements() <= kMaxConstantElements))
    return success();
  auto param = tg::ParamAttr::get(context, builder.getStringAttr(input.target), initialValues(input.target, context),
                                  builder.getStringAttr(unitOf(input.target)), {}, !isTrained, false, -1);
  operand.value = addArgument(type, {builder.getNamedAttr("tg.param", param)});
  return success();
}

/// Returns the tensors that calls or outputs read.
static llvm::StringSet<> tensorsRead(const Program &program) {
  llvm::StringSet<> names;
  for (const Call &call : program.calls)
    for (const auto &[key, argument] : call.arguments) {
      if (const auto *tensor = std::get_if<TensorName>(&argument))
        names.insert(tensor->name);
      if (const auto *tensors = std::get_if<TensorNames>(&argument))
        for (const TensorName &each : *tensors)
          names.insert(each.name);
    }
  for (const Output &output : program.outputs)
    names.insert(output.name);
  return names;
}

LogicalResult Translator::declareInputs() {
  // Parameters with the same elements are one parameter, with the name that comes first.
  StringMap<StringRef> firstByEntry;
  llvm::StringSet<> isRead = tensorsRead(program);
  for (const Input &input : program.inputs) {
    auto stored = program.weights.find(input.target);
    if (input.kind == Input::Kind::Parameter && stored != program.weights.end() && stored->second.hasValues &&
        stored->second.isRowMajor()) {
      auto [first, isNew] = firstByEntry.try_emplace(stored->second.entry, input.name);
      const TypeOfTensor &type = program.typeOf(input.name), &firstType = program.typeOf(first->second);
      if (!isNew && firstType.shape == type.shape && firstType.element == type.element) {
        operands[input.name] = operands[first->second];
        continue;
      }
    }
    // Names of a tied parameter share nothing on the device meta, and calls read one of them.
    if (input.kind == Input::Kind::Parameter && stored != program.weights.end() && !stored->second.hasValues &&
        !isRead.contains(input.name))
      continue;
    if (failed(declareInput(input)))
      return failure();
  }
  return success();
}
