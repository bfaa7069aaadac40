//===- Value.h - valid values of an option --------------------------------===//
//
// A Value defines the valid texts, in a form that the help, the checks and the reference page share:
//
//   flag()                          --resume
//   integer("N", 1, 1024)           --threads=N
//   number("SHARE", 0, 1)           --holdout=SHARE
//   choice({"full", "none"})        --overlap=full|none
//   choice<Overlap>()               the same, with the words of an enum
//   text("FILE"), list("NAMES")
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_CLI_VALUE_H
#define BRAID_CLI_VALUE_H

#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>

namespace braid::cli {

// A valid word. `help` describes it, if the help of the option does not.
struct Word {
  std::string_view text, help;
  constexpr Word(const char *text = "", const char *help = "") : text(text), help(help) {}
};

// The words of an enum, in the order of its values: template <> inline constexpr cli::Word cli::words<E>[] = {...};
template <class E> inline constexpr int words = 0;

// An enum with words.
template <class E>
concept Choice = std::is_enum_v<E> && std::is_array_v<std::remove_reference_t<decltype((words<E>))>>;

template <Choice E> constexpr std::string_view wordOf(E value) { return words<E>[static_cast<size_t>(value)].text; }

// Returns the value with this word, or none.
template <Choice E> constexpr std::optional<E> choiceOf(std::string_view word) {
  for (const Word &known : words<E>)
    if (known.text == word)
      return static_cast<E>(&known - words<E>);
  return std::nullopt;
}

enum class Kind { Flag, Integer, Number, Choice, Text, List };

struct Value {
  Kind kind = Kind::Flag;
  std::string_view form = {}; // placeholder for the value in the help; empty: the words
  // Range of integers and numbers; `min` itself is invalid if `isAbove`.
  double min = 0, max = 0;
  bool isAbove = false;
  // All valid words of a choice, or words that are valid in addition to numbers.
  std::array<Word, 9> words{};
  size_t numWords = 0;
  // For texts: whether a text is valid, and a description of valid texts.
  bool (*accepts)(std::string_view) = nullptr;
  std::string_view expected = {};
  // Whether the option may stand alone; it then means `implied`.
  bool mayBeAlone = false;
  std::string_view implied = {};

  constexpr std::span<const Word> valid() const { return {words.data(), numWords}; }
  // Returns -1 if the text is none of the words.
  constexpr int indexOf(std::string_view text) const {
    for (size_t i = 0; i < numWords; ++i)
      if (words[i].text == text)
        return static_cast<int>(i);
    return -1;
  }

  constexpr Value orOneOf(std::initializer_list<Word> more) const {
    Value value = *this;
    for (const Word &word : more)
      value.words[value.numWords++] = word;
    return value;
  }
  constexpr Value alone(std::string_view meaning) const {
    Value value = *this;
    value.mayBeAlone = true;
    value.implied = meaning;
    return value;
  }
};

inline constexpr double kUnbounded = std::numeric_limits<double>::max();

// A flag: whether the option was given; --name=true and --name=false are valid, too.
constexpr Value flag() { return Value{}.orOneOf({"false", "true"}).alone("true"); }
// The field's type also limits the range.
constexpr Value integer(std::string_view form, double min = 0, double max = kUnbounded) {
  return {.kind = Kind::Integer, .form = form, .min = min, .max = max};
}
constexpr Value number(std::string_view form, double min = 0, double max = kUnbounded) {
  return {.kind = Kind::Number, .form = form, .min = min, .max = max};
}
constexpr Value numberAbove(std::string_view form, double min, double max = kUnbounded) {
  return {.kind = Kind::Number, .form = form, .min = min, .max = max, .isAbove = true};
}
constexpr Value choice(std::initializer_list<Word> words) { return Value{.kind = Kind::Choice}.orOneOf(words); }
template <Choice E> constexpr Value choice() {
  Value value{.kind = Kind::Choice};
  for (const Word &word : words<E>)
    value.words[value.numWords++] = word;
  return value;
}
constexpr Value text(std::string_view form, bool (*accepts)(std::string_view) = nullptr,
                     std::string_view expected = "") {
  return {.kind = Kind::Text, .form = form, .accepts = accepts, .expected = expected};
}
// Comma-separated texts, or one text each time that the option is given.
constexpr Value list(std::string_view form, bool (*accepts)(std::string_view) = nullptr,
                     std::string_view expected = "") {
  return {.kind = Kind::List, .form = form, .accepts = accepts, .expected = expected};
}

// Whether the text is two numbers, as in "latency_us,GBps"; the first may be zero.
bool isPair(std::string_view text);
// Same as isPair, but neither number may be zero.
bool isPositivePair(std::string_view text);

// Whether the text is valid for a field whose type holds integers from `min` to `max`.
bool isValid(const Value &value, std::string_view text, int64_t min, uint64_t max);
// Returns a text such as "an integer from 0 to 3" or "full or none".
std::string expectedText(const Value &value, int64_t min, uint64_t max);
// Returns a text such as "N" or "full|none".
std::string formOf(const Value &value);

} // namespace braid::cli
#endif // BRAID_CLI_VALUE_H
