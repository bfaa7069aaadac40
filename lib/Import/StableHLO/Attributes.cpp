//===- Attributes.cpp - attributes of StableHLO, from their text ----------===//

#include "lib/Import/StableHLO/Attributes.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;
using namespace mlir;
using namespace braid::stablehlo;

/// Upper limit of the integers of an attribute.
static constexpr size_t kMaxIntegers = 64;

/// Returns the text of an attribute of StableHLO, or nothing if it belongs to another dialect.
static std::optional<StringRef> opaqueText(Attribute attribute) {
  auto opaque = dyn_cast_or_null<OpaqueAttr>(attribute);
  if (!opaque || opaque.getDialectNamespace() != "stablehlo")
    return std::nullopt;
  return opaque.getAttrData();
}

StringRef braid::stablehlo::wordOf(Attribute attribute, StringRef enumeration) {
  std::optional<StringRef> text = opaqueText(attribute);
  if (!text || !text->consume_front(enumeration) || !text->consume_front(" "))
    return "";
  return *text;
}

std::optional<StringRef> braid::stablehlo::textOf(Attribute attribute, StringRef name) {
  std::optional<StringRef> text = opaqueText(attribute);
  if (!text || !text->consume_front(name) || !text->consume_front("<") || !text->consume_back(">"))
    return std::nullopt;
  return text;
}

/// Reads an integer at the beginning of `text`.
static bool consumeNumber(StringRef &text, int64_t &number) {
  text = text.ltrim();
  return !text.consumeInteger(10, number);
}

/// Reads [a, b, ...] at the beginning of `text`.
static bool consumeList(StringRef &text, Integers &numbers) {
  if (!text.consume_front("["))
    return false;
  text = text.ltrim();
  while (!text.consume_front("]")) {
    int64_t number = 0;
    if ((!numbers.empty() && !text.consume_front(",")) || !consumeNumber(text, number) ||
        numbers.size() == kMaxIntegers)
      return false;
    numbers.push_back(number);
    text = text.ltrim();
  }
  return true;
}

std::optional<Fields> Fields::parse(Attribute attribute, StringRef name) {
  std::optional<StringRef> given = textOf(attribute, name);
  if (!given)
    return std::nullopt;
  Fields result;
  StringRef text = given->trim();
  while (!text.empty()) {
    StringRef field = text.take_while([](char c) { return isAlnum(c) || c == '_'; });
    text = text.drop_front(field.size()).ltrim();
    if (field.empty() || !text.consume_front("="))
      return std::nullopt;
    text = text.ltrim();
    Integers numbers;
    if (text.starts_with("[")) {
      if (!consumeList(text, numbers))
        return std::nullopt;
    } else if (!consumeNumber(text, numbers.emplace_back())) {
      return std::nullopt;
    }
    result.fields.push_back({field, std::move(numbers)});
    text = text.ltrim();
    if (!text.empty() && !text.consume_front(","))
      return std::nullopt;
    text = text.ltrim();
  }
  return result;
}

Integers Fields::list(StringRef field) const {
  for (const auto &[name, numbers] : fields)
    if (name == field)
      return numbers;
  return {};
}

int64_t Fields::number(StringRef field, int64_t fallback) const {
  Integers numbers = list(field);
  return numbers.size() == 1 ? numbers.front() : fallback;
}

std::optional<Integers> braid::stablehlo::integersOf(Attribute attribute) {
  if (auto array = dyn_cast_or_null<DenseI64ArrayAttr>(attribute))
    return array.size() <= static_cast<int64_t>(kMaxIntegers) ? std::optional(Integers(array.asArrayRef()))
                                                              : std::nullopt;
  auto dense = dyn_cast_or_null<DenseIntElementsAttr>(attribute);
  if (!dense || !dense.getElementType().isInteger(64) || dense.getNumElements() > static_cast<int64_t>(kMaxIntegers))
    return std::nullopt;
  Integers numbers;
  for (int64_t number : dense.getValues<int64_t>())
    numbers.push_back(number);
  return numbers;
}
