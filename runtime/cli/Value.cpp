//===- Value.cpp - valid texts of an option -------------------------------===//

#include "cli/Value.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <system_error>

using namespace braid::cli;

namespace {

template <class T> bool readAll(std::string_view text, T &value) {
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size();
}

// Reads a finite number: a text may also spell infinity or NaN.
bool readNumber(std::string_view text, double &number) { return readAll(text, number) && std::isfinite(number); }

bool readPair(std::string_view text, double &first, double &second) {
  size_t comma = text.find(',');
  return comma != text.npos && readNumber(text.substr(0, comma), first) && readNumber(text.substr(comma + 1), second);
}

bool isInteger(const Value &value, std::string_view text, int64_t min, uint64_t max) {
  if (text.starts_with('-')) {
    int64_t number = 0;
    return readAll(text, number) && number >= min && static_cast<double>(number) >= value.min;
  }
  uint64_t number = 0;
  return readAll(text, number) && number <= max && static_cast<double>(number) >= value.min &&
         static_cast<double>(number) <= value.max;
}

bool isNumber(const Value &value, std::string_view text) {
  double number = 0;
  return readNumber(text, number) && (value.isAbove ? number > value.min : number >= value.min) && number <= value.max;
}

// Formats without trailing zeros: "100000000", "0.5".
std::string textOf(double number) {
  if (number == std::floor(number) && std::abs(number) < 1e15)
    return std::to_string(static_cast<long long>(number));
  char text[32];
  return std::string(text, std::to_chars(text, text + sizeof text, number).ptr);
}

// Returns a text such as "a number from 0 to 1" or "an integer of at least 1".
std::string rangeText(const Value &value, int64_t min, uint64_t max) {
  const bool isInteger = value.kind == Kind::Integer;
  std::string text = isInteger ? "an integer" : "a number";
  double from = isInteger ? std::max(value.min, static_cast<double>(min)) : value.min;
  // Omits a bound with many digits.
  double to = isInteger ? std::min(value.max, static_cast<double>(max)) : value.max;
  const bool hasMost = to<1e15, hasLeast = from> - 1e15;
  if (value.isAbove)
    return text + " above " + textOf(from) + (hasMost ? " and at most " + textOf(to) : "");
  if (hasMost)
    return text + " from " + textOf(from) + " to " + textOf(to);
  return hasLeast ? text + " of at least " + textOf(from) : text;
}

} // namespace

bool braid::cli::isPair(std::string_view text) {
  double first = 0, second = 0;
  return readPair(text, first, second) && first >= 0 && second > 0;
}

bool braid::cli::isPositivePair(std::string_view text) {
  double first = 0, second = 0;
  return readPair(text, first, second) && first > 0 && second > 0;
}

bool braid::cli::isValid(const Value &value, std::string_view text, int64_t min, uint64_t max) {
  if (value.indexOf(text) >= 0)
    return true;
  switch (value.kind) {
  case Kind::Flag:
  case Kind::Choice:
    return false;
  case Kind::Integer:
    return isInteger(value, text, min, max);
  case Kind::Number:
    return isNumber(value, text);
  case Kind::Text:
  case Kind::List:
    return !value.accepts || value.accepts(text);
  }
  return false;
}

std::string braid::cli::expectedText(const Value &value, int64_t min, uint64_t max) {
  std::string result;
  if (value.kind == Kind::Integer || value.kind == Kind::Number)
    result = rangeText(value, min, max);
  else
    result = value.expected;
  for (size_t i = 0; i < value.numWords; ++i) {
    if (!result.empty())
      result += i + 1 == value.numWords ? " or " : ", ";
    result += value.words[i].text;
  }
  return result;
}

std::string braid::cli::formOf(const Value &value) {
  std::string form(value.form);
  for (const Word &word : value.valid())
    form += (form.empty() ? "" : "|") + std::string(word.text);
  return form;
}
