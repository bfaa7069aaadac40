//===- Buffers.cpp - constants and states of a program --------------------===//
//
// A buffer that the program overwrites, such as the running mean of a batch norm, is a state that each step updates.
// The values of another one are known.
//
//===----------------------------------------------------------------------===//

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

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

MaybeKnown Translator::valuesOf(const Input &input) {
  auto stored = program.weights.find(input.target);
  const TypeOfTensor &type = program.typeOf(input.name);
  int64_t elements = 1;
  for (int64_t size : type.shape)
    elements *= size;
  if (stored == program.weights.end() || elements > kMaxBufferElements)
    return std::nullopt;
  if (stored->second.type.element != type.element || stored->second.type.shape != type.shape)
    return std::nullopt;
  Expected<std::string> bytes = readTensor(archive, stored->second);
  if (!bytes) {
    consumeError(bytes.takeError());
    return std::nullopt;
  }
  auto read = [&](auto example) {
    using T = decltype(example);
    std::vector<double> numbers(elements);
    for (int64_t i = 0; i < elements; ++i) {
      T value;
      std::memcpy(&value, bytes->data() + i * sizeof(T), sizeof(T));
      numbers[i] = static_cast<double>(value);
    }
    MaybeKnown known = known::dense(type.shape, std::move(numbers));
    return known && std::is_integral_v<T> && type.element != ScalarType::Bool ? known::simplified(*known) : known;
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
    return std::nullopt;
  }
}

//===----------------------------------------------------------------------===//
// States
//===----------------------------------------------------------------------===//

/// Returns the buffer of this name in the graph, or null.
const Input *Translator::bufferOf(StringRef tensor) const {
  auto found = find_if(program.inputs, [&](const Input &input) { return input.name == tensor; });
  return found != program.inputs.end() && found->kind == Input::Kind::Buffer ? &*found : nullptr;
}

/// Notes that a call overwrites a buffer, which becomes a state. Reports an error for another tensor of the model.
LogicalResult Translator::noteOverwrite(const Input &input, StringRef op, Location loc) {
  if (input.kind == Input::Kind::User)
    return success();
  if (input.kind != Input::Kind::Buffer)
    return emitError(loc) << op << " overwrites '" << input.target << "', a "
                          << (input.kind == Input::Kind::Parameter ? "parameter" : "constant")
                          << " of the model; register it as a buffer, which a step can update";
  updated.insert(input.name);
  return success();
}

void Translator::declareState(const Input &input, RankedTensorType type, Location loc) {
  MaybeKnown values = valuesOf(input);
  std::optional<double> number = values ? values->splat() : std::nullopt;
  if (!number)
    emitWarning(loc)
        << "the model updates this buffer, which begins with zeros here, because its elements are not known "
           "to be equal; braid.compile writes them";
  tg::StateAttr state = stateOfProgram(input.target, number.value_or(0.0), builder.getContext());
  Value value = addArgument(type, {builder.getNamedAttr("tg.state", state)});
  // An argument counts as data, whose indices are checked when they are read; a state is computed.
  if (type.getElementType().isInteger(32))
    value = builder.create<arith::AddIOp>(loc, value, tg::TensorBuilder(builder, loc).zeros(type));
  operands[input.name].value = value;
}

LogicalResult Translator::addStates(std::vector<ModelOutput> &outputs) {
  for (const Input &input : program.inputs) {
    if (!states.contains(input.name))
      continue;
    Location loc = NameLoc::get(builder.getStringAttr(input.target));
    if (StringRef op = memory.overwrittenBy(input.name); !op.empty())
      return emitError(loc) << "the buffer shares memory with a tensor that " << op << " has overwritten";
    auto output = find_if(program.outputs, [&](const Output &output) {
      return output.kind == Output::Kind::BufferMutation && output.target == input.target;
    });
    Value value = valueOf(output == program.outputs.end() ? input.name : output->name, loc);
    outputs.push_back({value, input.target, /*isUpdate=*/true});
  }
  return success(!hasFailed);
}

bool CallBuilder::updateBuffer(StringRef name, Value value) {
  StringRef tensor = std::get<TensorName>(*find(name)).name, root = translator.memory.rootOf(tensor);
  const Input *buffer = translator.bufferOf(root);
  if (!buffer || translator.memory.canonical(tensor) != root) {
    fail("'" + tensor + "' is updated, and is no buffer of the model");
    return false;
  }
  translator.updated.insert(root);
  translator.operands[root] = {value, std::nullopt};
  return true;
}
