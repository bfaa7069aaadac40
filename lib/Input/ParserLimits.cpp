//===- ParserLimits.cpp - text that parsers do not take -------------------===//

#include "lib/Input/ParserLimits.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/Twine.h"

using namespace llvm;
using namespace braid;

/// The place of the quote that ends the string from the one at `at` on; a line ends it, too.
static size_t endOfString(StringRef text, size_t at) {
  do
    at = text.find_first_of("\"\\\n", at + 1);
  while (at != StringRef::npos && text[at] == '\\' && ++at);
  return at;
}

size_t braid::findDeepNesting(StringRef text) {
  unsigned depth = 0;
  for (size_t at = 0; (at = text.find_first_of("\"/([{<)]}>", at)) < text.size(); ++at) {
    StringRef rest = text.substr(at);
    if (rest.front() == '"') {
      at = endOfString(text, at);
    } else if (rest.front() == '/') {
      at = rest.starts_with("//") ? text.find('\n', at) : at;
    } else if (StringRef("([{<").contains(rest.front())) {
      depth += !rest.starts_with("<=");
    } else {
      bool isArrow = rest.front() == '>' && (text.take_front(at).ends_with("-") || rest.starts_with(">="));
      depth -= depth > 0 && !isArrow;
    }
    if (depth > kMaxNesting || at == StringRef::npos)
      return depth > kMaxNesting ? at : StringRef::npos;
  }
  return StringRef::npos;
}

size_t braid::findLongNumber(StringRef text) {
  for (size_t at = 0; (at = text.find_first_of("\"/0123456789", at)) < text.size(); ++at) {
    StringRef rest = text.substr(at);
    if (rest.front() == '"') {
      at = endOfString(text, at);
    } else if (rest.front() == '/') {
      at = rest.starts_with("//") ? text.find('\n', at) : at;
    } else {
      size_t digits = rest.take_while(llvm::isDigit).size();
      if (digits > kMaxDigits)
        return at;
      at += digits - 1;
    }
    if (at == StringRef::npos)
      break;
  }
  return StringRef::npos;
}

static Error nestingError(StringRef text, StringRef name) {
  size_t at = findDeepNesting(text);
  if (at == StringRef::npos)
    return Error::success();
  return createStringError(inconvertibleErrorCode(), name + Twine(text.take_front(at).count('\n') + 1) +
                                                         ": more than " + Twine(kMaxNesting) +
                                                         " brackets are open; nest it less deeply");
}

Error braid::checkParserLimits(const MemoryBuffer &file) {
  StringRef text = file.getBuffer(), name = file.getBufferIdentifier();
  if (size_t at = findLongNumber(text); at != StringRef::npos)
    return createStringError(inconvertibleErrorCode(), name + ":" + Twine(text.take_front(at).count('\n') + 1) +
                                                           ": a number has more than " + Twine(kMaxDigits) + " digits");
  return nestingError(text, name.str() + ":");
}

Expected<json::Value> braid::parseJson(StringRef text) {
  if (Error error = nestingError(text, ""))
    return error;
  return json::parse(text);
}
