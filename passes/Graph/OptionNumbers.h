//===- OptionNumbers.h - numbers as options of passes -----------*- C++ -*-===//
//
// A pipeline that is printed must be the one that was run: a double is printed with the
// digits that read back as the same double, where LLVM prints seven.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_PASSES_GRAPH_OPTIONNUMBERS_H
#define BRAID_PASSES_GRAPH_OPTIONNUMBERS_H

#include "llvm/Support/CommandLine.h"
#include "llvm/Support/raw_ostream.h"
#include <charconv>

namespace braid {
struct ExactDouble {
  double value = 0;

  ExactDouble(double value = 0) : value(value) {}
  operator double() const { return value; }
};

inline llvm::raw_ostream &operator<<(llvm::raw_ostream &os, const ExactDouble &number) {
  char digits[32];
  char *end = std::to_chars(digits, digits + sizeof(digits), number.value).ptr;
  return os << llvm::StringRef(digits, end - digits);
}
} // namespace braid

template <> struct llvm::cl::parser<braid::ExactDouble> : llvm::cl::basic_parser<braid::ExactDouble> {
  using basic_parser::basic_parser;
  bool parse(Option &option, StringRef name, StringRef text, braid::ExactDouble &number) {
    return text.getAsDouble(number.value) && option.error("'" + text + "' is not a number");
  }
  StringRef getValueName() const override { return "number"; }
  void printOptionDiff(const Option &, const braid::ExactDouble &, const OptVal &, size_t) const {}
};

#endif // BRAID_PASSES_GRAPH_OPTIONNUMBERS_H
