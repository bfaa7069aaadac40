//===- OptionTypes.h - types of the options of passes -----------*- C++ -*-===//
//
// The type of an option gives its valid values, and no pass checks them. Passes.td states a range once:
// Option<"factor", "factor", "::braid::Integer<1>", ...>. An enum states its words once (cli::words).
//
// A printed pipeline must be the pipeline that ran. A Number is therefore printed with enough digits to read back as
// the same double; LLVM prints seven.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_PASSES_BASE_OPTIONTYPES_H
#define BRAID_PASSES_BASE_OPTIONTYPES_H

#include "runtime/cli/Value.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/raw_ostream.h"
#include <charconv>

namespace braid {

/// Element types of values and gradients.
enum class ElementType { F32, BF16 };
template <> inline constexpr cli::Word cli::words<ElementType>[] = {"f32", "bf16"};

/// Element types in which moments of the optimizer are stored.
enum class MomentType { F32, BF16, Int8 };
template <>
inline constexpr cli::Word cli::words<MomentType>[] = {
    "f32",
    {"bf16", "half the memory of f32, with stochastic rounding"},
    {"int8", "about 26 % of the memory of f32: 8-bit codes, with an f32 scale for each block of up to 128"}};

/// Hook points that one run of tg-attach-hooks handles. Forward leaves names without a point for later.
enum class HookTurn { All, Forward, Backward };
template <> inline constexpr cli::Word cli::words<HookTurn>[] = {"all", "forward", "backward"};

template <int64_t min, int64_t max = std::numeric_limits<int64_t>::max()> struct Integer {
  int64_t value;

  constexpr Integer(int64_t value = min) : value(value) {}
  constexpr operator int64_t() const { return value; }

  static constexpr cli::Value valid() { return cli::integer("N", min, max); }
};

/// A finite number of at least 0.
struct Number {
  double value = 0;

  Number(double value = 0) : value(value) {}
  operator double() const { return value; }

  static constexpr cli::Value valid() { return cli::number("X"); }
};

inline llvm::raw_ostream &operator<<(llvm::raw_ostream &os, const Number &number) {
  char digits[32];
  char *end = std::to_chars(digits, digits + sizeof(digits), number.value).ptr;
  return os << llvm::StringRef(digits, end - digits);
}
template <int64_t min, int64_t max>
llvm::raw_ostream &operator<<(llvm::raw_ostream &os, const Integer<min, max> &integer) {
  return os << integer.value;
}

/// Parses a pass option with the same checks as the options of tools.
template <class T> class OptionParser : public llvm::cl::basic_parser<T> {
public:
  using llvm::cl::basic_parser<T>::basic_parser;

  void printOptionDiff(const llvm::cl::Option &, const T &, const llvm::cl::OptionValue<T> &, size_t) const {}

protected:
  /// Returns true, and reports an error, if the text is not valid.
  static bool isInvalid(const llvm::cl::Option &option, llvm::StringRef text, const cli::Value &valid) {
    constexpr auto min = std::numeric_limits<int64_t>::min();
    constexpr auto max = std::numeric_limits<int64_t>::max();
    if (cli::isValid(valid, text, min, max))
      return false;
    llvm::errs() << "error: option '" << option.ArgStr << "' of pass: '" << text << "' is not valid, expected "
                 << cli::expectedText(valid, min, max) << "\n";
    return true;
  }
};

template <class T> class NumberParser : public OptionParser<T> {
public:
  using OptionParser<T>::OptionParser;

  bool parse(llvm::cl::Option &option, llvm::StringRef, llvm::StringRef text, T &number) {
    if (this->isInvalid(option, text, T::valid()))
      return true;
    std::from_chars(text.begin(), text.end(), number.value);
    return false;
  }
  llvm::StringRef getValueName() const override { return "number"; }
};

template <cli::Choice E> class ChoiceParser : public OptionParser<E> {
public:
  using OptionParser<E>::OptionParser;

  bool parse(llvm::cl::Option &option, llvm::StringRef, llvm::StringRef text, E &chosen) {
    if (this->isInvalid(option, text, cli::choice<E>()))
      return true;
    chosen = *cli::choiceOf<E>(text);
    return false;
  }
  /// Prints a value in a textual pipeline.
  static void print(llvm::raw_ostream &os, E value) { os << cli::wordOf(value); }
  llvm::StringRef getValueName() const override {
    static const std::string words = cli::formOf(cli::choice<E>());
    return words;
  }
};

} // namespace braid

template <braid::cli::Choice E> struct llvm::cl::parser<E> : braid::ChoiceParser<E> {
  using braid::ChoiceParser<E>::ChoiceParser;
};

template <> struct llvm::cl::parser<braid::Number> : braid::NumberParser<braid::Number> {
  using NumberParser::NumberParser;
};
template <int64_t min, int64_t max>
struct llvm::cl::parser<braid::Integer<min, max>> : braid::NumberParser<braid::Integer<min, max>> {
  using braid::NumberParser<braid::Integer<min, max>>::NumberParser;
};

#endif // BRAID_PASSES_BASE_OPTIONTYPES_H
