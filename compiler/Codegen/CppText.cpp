//===- CppText.cpp - C++ as text ------------------------------------------===//

#include "compiler/Codegen/CppText.h"
#include "dialects/TG/ValueNames.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"
#include <cmath>

using namespace mlir;
using namespace braid;

static constexpr size_t kColumns = 80;

//===----------------------------------------------------------------------===//
// Literals and names
//===----------------------------------------------------------------------===//

std::string codegen::dtypeText(Type element) {
  if (element.isF64())
    return "BR_F64";
  if (element.isF32())
    return "BR_F32";
  if (element.isBF16())
    return "BR_BF16";
  if (element.isInteger(32))
    return "BR_I32";
  if (element.isInteger(64))
    return "BR_I64";
  if (element.isInteger(8))
    return "BR_I8";
  return "BR_I1";
}

/// Returns the shortest decimal that `readsBack` accepts, always with a point or exponent.
static std::string shortestDecimal(double value, int maxDigits, llvm::function_ref<bool(double)> readsBack) {
  std::string text;
  for (int digits = 1; digits <= maxDigits; ++digits) {
    text.clear();
    llvm::raw_string_ostream(text) << llvm::format("%.*g", digits, value);
    if (readsBack(std::strtod(text.c_str(), nullptr)))
      break;
  }
  if (text.find_first_of(".e") == std::string::npos)
    text += ".0";
  return text;
}

std::string codegen::floatLiteral(const APFloat &value) {
  APFloat single = value;
  bool inexact;
  single.convert(APFloat::IEEEsingle(), APFloat::rmNearestTiesToEven, &inexact);
  float number = single.convertToFloat();
  if (std::isnan(number))
    return "NAN";
  if (std::isinf(number))
    return number < 0 ? "-INFINITY" : "INFINITY";
  return shortestDecimal(number, 9, [&](double back) { return static_cast<float>(back) == number; }) + "f";
}

/// Tables include no header with INFINITY.
std::string codegen::doubleLiteral(double value) {
  if (std::isnan(value))
    return "__builtin_nan(\"\")";
  if (std::isinf(value))
    return value < 0 ? "-__builtin_inf()" : "__builtin_inf()";
  return shortestDecimal(value, 17, [&](double back) { return back == value; });
}

std::string codegen::stringLiteral(StringRef text) {
  std::string quoted = "\"";
  for (char c : text) {
    if (c == '"' || c == '\\' || c == '?') // old compilers read ??/ as a backslash
      (quoted += '\\') += c;
    else if (!llvm::isPrint(c))
      // Octal escapes end after three digits, regardless of the next character.
      llvm::raw_string_ostream(quoted) << llvm::format("\\%03o", static_cast<unsigned char>(c));
    else
      quoted += c;
  }
  return quoted + "\"";
}

bool codegen::isWordOfCpp(StringRef name) {
  static const llvm::StringSet<> words = {
      "alignas",       "alignof",     "and",       "and_eq",    "asm",       "auto",
      "bitand",        "bitor",       "bool",      "break",     "case",      "catch",
      "char",          "class",       "co_await",  "co_return", "co_yield",  "compl",
      "concept",       "const",       "consteval", "constexpr", "constinit", "const_cast",
      "continue",      "decltype",    "default",   "delete",    "do",        "double",
      "dynamic_cast",  "else",        "enum",      "explicit",  "export",    "extern",
      "false",         "float",       "for",       "friend",    "goto",      "if",
      "inline",        "int",         "long",      "mutable",   "namespace", "new",
      "noexcept",      "not",         "not_eq",    "nullptr",   "operator",  "or",
      "or_eq",         "private",     "protected", "public",    "register",  "reinterpret_cast",
      "requires",      "return",      "short",     "signed",    "sizeof",    "static",
      "static_assert", "static_cast", "struct",    "switch",    "template",  "this",
      "thread_local",  "throw",       "true",      "try",       "typedef",   "typeid",
      "typename",      "union",       "unsigned",  "using",     "virtual",   "void",
      "volatile",      "wchar_t",     "while",     "xor",       "xor_eq",    "char8_t",
      "char16_t",      "char32_t",    "typeof",    "errno",     "stdin",     "stdout",
      "stderr",        "linux",       "unix",      "assert"};
  return words.contains(name);
}

std::string codegen::identifier(StringRef name) {
  std::string text;
  for (char c : name)
    text += llvm::isAlnum(c) ? c : '_';
  if (text.empty() || llvm::isDigit(text.front()))
    text.insert(0, "_");
  return text;
}

//===----------------------------------------------------------------------===//
// Lines
//===----------------------------------------------------------------------===//

std::string codegen::wrapCall(StringRef head, ArrayRef<std::string> arguments, StringRef tail) {
  std::string text = head.str() + "(";
  size_t bracket = text.size() - (text.rfind('\n') + 1), column = bracket;
  for (auto [i, argument] : llvm::enumerate(arguments)) {
    bool last = i + 1 == arguments.size();
    size_t needed = argument.size() + (last ? 1 + tail.size() : 1);
    if (i > 0 && column + 1 + needed > kColumns) {
      text += "\n" + std::string(bracket, ' ');
      column = bracket;
    } else if (i > 0) {
      text += ' ';
      ++column;
    }
    text += argument + (last ? "" : ",");
    column += argument.size() + 1;
  }
  return text + ")" + tail.str();
}

std::string codegen::commentText(StringRef text) {
  std::string safe;
  for (char c : text) {
    bool isTrigraph = c == '?' && StringRef(safe).ends_with("?");
    if (llvm::isPrint(c) && c != '\\' && !isTrigraph)
      safe += c;
    else
      llvm::raw_string_ostream(safe) << llvm::format("<%02X>", static_cast<unsigned char>(c));
  }
  return safe;
}

std::string codegen::comment(StringRef unsafe, StringRef indent, unsigned columns, unsigned hang) {
  std::string lines, text = commentText(unsafe);
  SmallVector<StringRef> words;
  StringRef(text).split(words, ' ', -1, /*KeepEmpty=*/false);
  size_t column = columns + 1;
  for (StringRef word : words) {
    if (column + 1 + word.size() > columns) {
      std::string head = (lines.empty() ? "" : "\n") + indent.str() + "//" + std::string(lines.empty() ? 0 : hang, ' ');
      column = head.size() - (lines.empty() ? 0 : 1);
      lines += head;
    }
    lines += " " + word.str();
    column += 1 + word.size();
  }
  return lines + "\n";
}

bool codegen::containsIdentifier(StringRef text, StringRef name) {
  auto isWord = [](char c) { return llvm::isAlnum(c) || c == '_'; };
  for (size_t at = text.find(name); at != StringRef::npos; at = text.find(name, at + 1)) {
    size_t end = at + name.size();
    if ((at == 0 || !isWord(text[at - 1])) && (end == text.size() || !isWord(text[end])))
      return true;
  }
  return false;
}

std::string codegen::listText(ArrayRef<int64_t> values) {
  return "{" + llvm::join(llvm::map_range(values, [](int64_t v) { return std::to_string(v); }), ", ") + "}";
}

std::string codegen::shapeText(ArrayRef<int64_t> shape) {
  if (shape.empty())
    return "scalar";
  std::string text;
  llvm::raw_string_ostream os(text);
  llvm::interleave(shape, os, " x ");
  return text;
}

//===----------------------------------------------------------------------===//
// Locations
//===----------------------------------------------------------------------===//

static void collectOrigins(Location location, llvm::SetVector<StringRef> &names,
                           llvm::SetVector<std::pair<StringRef, unsigned>> &lines) {
  if (auto name = dyn_cast<NameLoc>(location)) {
    if (tg::isValueName(name.getName()))
      return collectOrigins(name.getChildLoc(), names, lines);
    names.insert(name.getName());
  } else if (auto fused = dyn_cast<FusedLoc>(location)) {
    for (Location part : fused.getLocations())
      collectOrigins(part, names, lines);
  } else if (auto call = dyn_cast<CallSiteLoc>(location)) {
    collectOrigins(call.getCaller(), names, lines); // the callee is a line of intermediate text
  } else if (auto line = dyn_cast<FileLineColLoc>(location)) {
    lines.insert({llvm::sys::path::filename(line.getFilename()), line.getLine()});
  }
}

std::string codegen::originText(Location location) {
  llvm::SetVector<StringRef> names;
  llvm::SetVector<std::pair<StringRef, unsigned>> lines;
  collectOrigins(location, names, lines);

  // Lists only the first few origins, because a kernel fused from a whole model has too many.
  constexpr size_t maxListed = 6;
  std::string text;
  size_t count = 0;
  auto add = [&](const Twine &origin) {
    if (++count <= maxListed)
      text += (text.empty() ? "" : ", ") + origin.str();
  };
  for (StringRef name : names)
    add(name);
  StringRef file;
  for (auto [name, line] : lines) {
    // "gpt.mlir:3, 8, 12"
    add(name == file ? Twine(line) : Twine(name) + ":" + Twine(line));
    file = name;
  }
  if (count > maxListed)
    text += ", and " + std::to_string(count - maxListed) + " more";
  return text;
}
