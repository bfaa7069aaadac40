//===- ReadArguments.cpp - types of tensors and arguments of calls --------===//

#include "lib/Import/Torch/ProgramReader.h"
#include "llvm/ADT/STLExtras.h"
#include <cmath>

using namespace llvm;
using namespace braid;
using namespace braid::torch;

/// Upper limit of a tensor's dims, and of its elements.
static constexpr size_t kMaxRank = 16;
static constexpr int64_t kMaxElements = int64_t(1) << 48;
TypeOfTensor Reader::readType(const json::Object &meta, StringRef name) {
  TypeOfTensor type{ScalarType::F32, {}, meta.getBoolean("requires_grad").value_or(false)};
  int64_t element = meta.getInteger("dtype").value_or(0);
  if (element < 1 || element > static_cast<int64_t>(ScalarType::BF16))
    fail("tensor '" + name + "' has element type " + Twine(element) + ", which is not known");
  else
    type.element = static_cast<ScalarType>(element);
  int64_t elements = 1;
  for (const json::Value &size : array(meta.get("sizes"), "'sizes' of '" + name.str() + "'")) {
    const json::Object &dim = object(&size, "a size of '" + name.str() + "'");
    std::optional<int64_t> fixed = dim.getInteger("as_int");
    if (!fixed && dim.get("as_expr")) {
      fail("tensor '" + name + "' has a dynamic size; shapes are static here: export without dynamic_shapes=");
      return type;
    }
    if (fixed == 0) {
      fail("tensor '" + name + "' has no elements: a dim has the size 0");
      return type;
    }
    if (!fixed || *fixed < 0 || elements > kMaxElements / *fixed || type.shape.size() == kMaxRank) {
      fail("tensor '" + name + "' has a size that is not a number of elements, or too many of them");
      return type;
    }
    type.shape.push_back(*fixed);
    elements *= *fixed;
  }
  return type;
}

/// Numbers are JSON numbers, or the texts of values that JSON lacks.
static std::optional<double> numberOf(const json::Value &value) {
  if (std::optional<StringRef> text = value.getAsString()) {
    if (*text == "Infinity")
      return HUGE_VAL;
    if (*text == "-Infinity")
      return -HUGE_VAL;
    if (*text == "NaN")
      return std::nan("");
  }
  return value.getAsNumber();
}

Argument Reader::readArgument(const json::Object &argument) {
  if (argument.size() != 1) {
    fail("an argument has " + Twine(argument.size()) + " values instead of one");
    return {};
  }
  StringRef kind = argument.begin()->first;
  const json::Value &value = argument.begin()->second;
  auto tensor = [&](const json::Value &of) -> TensorName {
    const json::Object &holder = object(&of, "a tensor");
    if (holder.get("as_none"))
      return {};
    const json::Object &inner = holder.get("as_tensor") ? object(holder.get("as_tensor"), "a tensor") : holder;
    return {use(text(inner, "name"))};
  };
  if (kind == "as_none")
    return {};
  if (kind == "as_tensor")
    return tensor(value);
  if (kind == "as_tensors" || kind == "as_optional_tensors") {
    TensorNames names;
    for (const json::Value &each : array(&value, kind))
      names.push_back(tensor(each));
    return names;
  }
  if (kind == "as_int")
    return integer(value, kind);
  if (kind == "as_float")
    if (std::optional<double> number = numberOf(value))
      return *number;
  if (kind == "as_bool")
    if (std::optional<bool> flag = value.getAsBoolean())
      return *flag;
  if (kind == "as_string")
    if (std::optional<StringRef> text = value.getAsString())
      return text->str();
  if (kind == "as_ints") {
    Integers integers;
    for (const json::Value &each : array(&value, kind))
      integers.push_back(integer(each, kind));
    return integers;
  }
  if (kind == "as_floats") {
    Numbers numbers;
    for (const json::Value &each : array(&value, kind))
      numbers.push_back(numberOf(each).value_or(0));
    return numbers;
  }
  if (kind == "as_scalar_type") {
    int64_t type = integer(value, kind);
    if (type >= 1 && type <= static_cast<int64_t>(ScalarType::BF16))
      return static_cast<ScalarType>(type);
  }
  if (kind == "as_device" || kind == "as_layout" || kind == "as_memory_format")
    return WithoutEffect{};
  if (kind.starts_with("as_sym"))
    fail("an argument depends on a dynamic size; shapes are static here: export without dynamic_shapes=");
  fail("an argument '" + kind + "' is not known");
  return {};
}

std::string Reader::use(StringRef name) {
  auto found = renamed.find(name);
  if (found != renamed.end())
    return found->second;
  if (!prefix.empty() || !defined.contains(name))
    fail("tensor '" + name + "' is used before a call defines it");
  return name.str();
}
