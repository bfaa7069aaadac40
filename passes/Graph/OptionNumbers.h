//===- OptionNumbers.h - numeric options of passes --------------*- C++ -*-===//
//
// The type of an option gives its valid range. Passes.td states a range once, and no pass checks it: Option<"factor",
// "factor", "::braid::Integer<1>", ...>.
//
// A printed pipeline must be the pipeline that ran. A Number is therefore printed with enough digits to read back as
// the same double; LLVM prints seven.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_PASSES_GRAPH_OPTIONNUMBERS_H
#define BRAID_PASSES_GRAPH_OPTIONNUMBERS_H

#include "runtime/cli/Value.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/raw_ostream.h"
#include <charconv>

namespace braid {

template <int64_t least, int64_t most = std::numeric_limits<int64_t>::max()> struct Integer {
  int64_t value;

  constexpr Integer(int64_t value = least) : value(value) {}
  constexpr operator int64_t() const { return value; }

  static cli::Value valid() { return cli::integer("N", least, most); }
};

/// A finite number of at least 0.
struct Number {
  double value = 0;

  Number(double value = 0) : value(value) {}
  operator double() const { return value; }

  static cli::Value valid() { return cli::number("X"); }
};

inline llvm::raw_ostream &operator<<(llvm::raw_ostream &os, const Number &number) {
  char digits[32];
  char *end = std::to_chars(digits, digits + sizeof(digits), number.value).ptr;
  return os << llvm::StringRef(digits, end - digits);
}
template <int64_t least, int64_t most>
llvm::raw_ostream &operator<<(llvm::raw_ostream &os, const Integer<least, most> &integer) {
  return os << integer.value;
}

/// Parses a pass option with the same checks as the options of tools.
template <class T> class NumberParser : public llvm::cl::basic_parser<T> {
public:
  using llvm::cl::basic_parser<T>::basic_parser;

  bool parse(llvm::cl::Option &option, llvm::StringRef, llvm::StringRef text, T &number) {
    constexpr auto least = std::numeric_limits<int64_t>::min();
    constexpr auto most = std::numeric_limits<int64_t>::max();
    if (!cli::isValid(T::valid(), text, least, most)) {
      llvm::errs() << "error: option '" << option.ArgStr << "' of pass: '" << text << "' is not valid, expected "
                   << cli::expectedText(T::valid(), least, most) << "\n";
      return true;
    }
    std::from_chars(text.begin(), text.end(), number.value);
    return false;
  }
  llvm::StringRef getValueName() const override { return "number"; }
  void printOptionDiff(const llvm::cl::Option &, const T &, const llvm::cl::OptionValue<T> &, size_t) const {}
};

} // namespace braid

template <> struct llvm::cl::parser<braid::Number> : braid::NumberParser<braid::Number> {
  using NumberParser::NumberParser;
};
template <int64_t least, int64_t most>
struct llvm::cl::parser<braid::Integer<least, most>> : braid::NumberParser<braid::Integer<least, most>> {
  using braid::NumberParser<braid::Integer<least, most>>::NumberParser;
};

#endif // BRAID_PASSES_GRAPH_OPTIONNUMBERS_H
