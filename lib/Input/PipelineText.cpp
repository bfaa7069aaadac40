//===- PipelineText.cpp - options of passes as text -----------------------===//

#include "lib/Input/PipelineText.h"

using namespace llvm;

std::string braid::problemOfPairs(StringRef text) {
  constexpr StringLiteral kOpening = "({[", kClosing = ")}]";
  std::string open; // closing brackets that are due, innermost last
  for (size_t at = 0; (at = text.find_first_of("'\"(){}[]", at)) != StringRef::npos; ++at) {
    char found = text[at];
    if (size_t kind = kOpening.find(found); kind != StringRef::npos) {
      open += kClosing[kind];
    } else if (kClosing.contains(found)) {
      if (open.empty() || open.back() != found)
        return std::string("'") + found + "' closes nothing";
      open.pop_back();
    } else if ((at = text.find(found, at + 1)) == StringRef::npos) {
      return std::string("a ") + found + " is not closed; write another at the end of the quoted text";
    }
  }
  return open.empty() ? "" : std::string("a bracket is not closed; write '") + open.back() + "' at its end";
}
