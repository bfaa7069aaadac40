//===- ParserLimits.cpp - limits of text for parsers ----------------------===//

#include "lib/Input/ParserLimits.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/Twine.h"

using namespace llvm;
using namespace braid;

/// Returns the position of the quote, or of the end of the line, that ends the string whose first quote is at `at`.
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

/// Returns whether a byte is a control character other than white space. Allows NUL, which terminals ignore; the checks
/// of names refuse it with a better message.
static bool isControl(unsigned byte) {
  return (byte != 0 && byte < 0x20 && byte != '\n' && byte != '\t' && byte != '\r') || byte == 0x7f;
}

size_t braid::findControlCharacter(StringRef text) {
  unsigned before = 0; // previous decoded byte
  for (size_t at = 0, next; at < text.size(); at = next) {
    unsigned byte = static_cast<unsigned char>(text[at]), high, low;
    next = at + 1;
    StringRef code = byte == '\\' ? text.substr(at + 1, 2) : "";
    if (code.size() == 2 && (high = hexDigitValue(code[0])) < 16 && (low = hexDigitValue(code[1])) < 16) {
      byte = high << 4 | low;
      next = at + 3;
    } else if (byte == '\\') {
      next = at + 2;
    }
    // U+0080 to U+009F are two bytes in UTF-8.
    if (isControl(byte) || (before == 0xc2 && byte >= 0x80 && byte < 0xa0))
      return at;
    before = byte;
  }
  return StringRef::npos;
}

size_t braid::findNumbersOfBits(StringRef text) {
  constexpr StringLiteral kArray = "array<i1:";
  for (size_t at = 0; (at = text.find(kArray, at)) != StringRef::npos; at += kArray.size())
    if (text.substr(at + kArray.size()).take_until([](char c) { return c == '>'; }).find_first_of("0123456789") !=
        StringRef::npos)
      return at;
  return StringRef::npos;
}

static StringRef consumeName(StringRef text) {
  return text.take_while([](char c) { return isAlnum(c) || StringRef("_.$-").contains(c); });
}

size_t braid::findSparseConstant(StringRef text) {
  for (size_t at = 0; (at = text.find_first_of("\"/s", at)) < text.size(); ++at) {
    StringRef rest = text.substr(at);
    if (rest.front() == 's') {
      StringRef word = consumeName(rest), behind = rest.drop_front(word.size()).ltrim();
      char before = at > 0 ? text[at - 1] : ' ';
      bool isKeyword = word == "sparse" && !isAlnum(before) && !StringRef("_.$-#!%@^").contains(before);
      if (isKeyword && (behind.starts_with("<") || behind.starts_with("//")))
        return at;
      at += word.size() - 1;
      continue;
    }
    if (rest.front() == '"')
      at = endOfString(text, at);
    else if (rest.starts_with("//"))
      at = text.find('\n', at);
    if (at == StringRef::npos)
      break;
  }
  return StringRef::npos;
}

/// Reads the rest of a list of values (`, %b:2 =`). Returns whether the list holds results, and the text behind it.
static std::pair<bool, StringRef> readList(StringRef rest) {
  while (true) {
    if (rest.consume_front(":"))
      rest = rest.drop_while(isDigit);
    rest = rest.ltrim();
    if (!rest.consume_front(","))
      return {rest.starts_with("=") && !rest.starts_with("=="), rest};
    rest = rest.ltrim();
    if (!rest.consume_front("%"))
      return {false, rest};
    rest = rest.drop_front(consumeName(rest).size());
  }
}

namespace {
/// Uses and definitions of a module's values, each with the number of the regions around it.
class ValueScopes {
public:
  /// Returns false if the value was already used outside of the region that defines it.
  bool define(StringRef name, bool inNextRegion) {
    unsigned depth = scopes.size() + inNextRegion;
    if (auto used = pending.find(name); used != pending.end()) {
      if (used->second < depth)
        return false;
      pending.erase(used);
    }
    ++defined[name];
    (inNextRegion ? next : scopes.back()).push_back(name);
    return true;
  }
  void use(StringRef name) {
    if (defined.lookup(name) == 0 && pending.try_emplace(name, scopes.size()).second)
      waiting.back().push_back(name);
  }
  void enter() {
    scopes.push_back(std::exchange(next, {}));
    waiting.emplace_back();
  }
  void leave() {
    if (scopes.size() == 1)
      return;
    unsigned depth = scopes.size();
    for (StringRef name : scopes.pop_back_val())
      --defined[name];
    // MLIR keeps names that a region leaves undefined, and the next region may define them.
    for (StringRef name : waiting.pop_back_val())
      if (auto used = pending.find(name); used != pending.end() && used->second == depth) {
        used->second = depth - 1;
        waiting.back().push_back(name);
      }
  }

private:
  SmallVector<SmallVector<StringRef>> scopes{{}};
  SmallVector<StringRef> next; // arguments of the region that begins next
  StringMap<unsigned> defined, pending;
  SmallVector<SmallVector<StringRef>> waiting{{}}; // names in `pending`, by depth
};
} // namespace

/// Returns the kind of list that a parenthesis begins at the end of this text.
static char kindOfParenthesis(StringRef before) {
  before = before.rtrim();
  size_t begin = before.size();
  while (begin > 0 && !consumeName(before.substr(begin - 1, 1)).empty())
    --begin;
  return begin > 0 ? before[begin - 1] : ' '; // the '@' of a function, or the '^' of a block
}

/// Returns whether a brace begins a region, given the text behind it. A region begins with a new line, a block or an
/// op, and a dictionary with a name, which may stand on the next line.
static bool beginsRegion(StringRef rest) {
  rest = rest.ltrim(' ');
  if (!rest.empty() && !StringRef("\n^%/").contains(rest.front()))
    return false;
  for (rest = rest.ltrim(); rest.starts_with("//"); rest = rest.ltrim())
    rest = rest.drop_until([](char c) { return c == '\n'; });
  StringRef name = rest.take_front(rest.starts_with("\"") ? std::min(endOfString(rest, 0), rest.size() - 1) + 1
                                                          : consumeName(rest).size());
  StringRef behind = rest.drop_front(name.size()).ltrim();
  return name.empty() || !(behind.starts_with("=") || behind.starts_with(","));
}

size_t braid::findUseOutsideOfRegion(StringRef text) {
  ValueScopes scopes;
  SmallVector<char> parentheses;
  SmallVector<bool> braces; // for each open brace, whether it begins a region
  size_t listEnd = 0;       // end of the last list of values
  bool listIsResults = false;
  for (size_t at = 0; (at = text.find_first_of("\"/%(){}", at)) < text.size(); ++at) {
    StringRef rest = text.substr(at);
    char c = rest.front();
    if (c == '"' || rest.starts_with("//")) {
      at = c == '"' ? endOfString(text, at) : text.find('\n', at);
      if (at == StringRef::npos)
        break;
    } else if (c == '(') {
      parentheses.push_back(kindOfParenthesis(text.take_front(at)));
    } else if (c == ')' && !parentheses.empty()) {
      parentheses.pop_back();
    } else if (c == '{') {
      braces.push_back(beginsRegion(rest.drop_front()));
      if (braces.back())
        scopes.enter();
    } else if (c == '}' && !braces.empty()) {
      if (braces.pop_back_val())
        scopes.leave();
    } else if (c == '%') {
      StringRef name = consumeName(rest.drop_front()), behind = rest.drop_front(1 + name.size());
      char kind = parentheses.empty() ? ' ' : parentheses.back();
      bool isArgument = (kind == '@' || kind == '^') && behind.ltrim().starts_with(":");
      if (!isArgument && at >= listEnd) {
        auto [isResults, rest] = readList(behind);
        listIsResults = isResults;
        listEnd = text.size() - rest.size();
      }
      if (!isArgument && !listIsResults)
        scopes.use(name);
      else if (!scopes.define(name, kind == '@' && isArgument))
        return at;
    }
  }
  return StringRef::npos;
}

static Error nestingError(StringRef text, StringRef name) {
  size_t at = findDeepNesting(text);
  if (at == StringRef::npos)
    return Error::success();
  return createStringError(inconvertibleErrorCode(),
                           name + Twine(text.take_front(at).count('\n') + 1) + ": more than " + Twine(kMaxNesting) +
                               " brackets are open, the limit of nesting; nest the text less deeply");
}

Error braid::checkParserLimits(const MemoryBuffer &file) {
  StringRef text = file.getBuffer(), name = file.getBufferIdentifier();
  auto errorAt = [&](size_t at, const Twine &problem) {
    return createStringError(inconvertibleErrorCode(),
                             name + ":" + Twine(text.take_front(at).count('\n') + 1) + ": " + problem);
  };
  if (size_t at = findLongNumber(text); at != StringRef::npos)
    return errorAt(at, "a number has more than " + Twine(kMaxDigits) + " digits");
  if (size_t at = findControlCharacter(text); at != StringRef::npos)
    return errorAt(at, "a control character in a name; remove the character");
  if (size_t at = findNumbersOfBits(text); at != StringRef::npos)
    return errorAt(at, "an array of i1 contains numbers; write true and false");
  if (size_t at = findSparseConstant(text); at != StringRef::npos)
    return errorAt(at, "a sparse constant; write it with dense<...>");
  if (size_t at = findUseOutsideOfRegion(text); at != StringRef::npos)
    return errorAt(at, "'%" + consumeName(text.substr(at + 1)) +
                           "' is used above, outside of the region that defines it; define it before its uses");
  return nestingError(text, name.str() + ":");
}

Expected<json::Value> braid::parseJson(StringRef text) {
  if (Error error = nestingError(text, ""))
    return error;
  return json::parse(text);
}

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
