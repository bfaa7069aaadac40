//===- KernelNaming.cpp - names of a kernel's variables -------------------===//

#include "compiler/Codegen/KernelNaming.h"
#include "compiler/Codegen/CppText.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"

using namespace llvm;
using namespace braid::codegen;

/// Returns whether a name has a meaning even in a text that does not contain it: words of C++, and names that emitters
/// add if a body uses them.
static bool isReserved(StringRef name) {
  return isWordOfCpp(name) || name == "block" || name == "part" || name == "vectors";
}

/// Returns a name as a lower-case variable, or "": `%Hidden.x-1` becomes hidden_x_1.
static std::string variableName(StringRef name) {
  constexpr size_t longest = 32;
  std::string text;
  for (char c : name)
    if (isAlnum(c) || !StringRef(text).ends_with("_"))
      text += isAlnum(c) ? toLower(c) : '_';
  StringRef trimmed = StringRef(text).trim('_');
  bool isName = !trimmed.empty() && isAlpha(trimmed.front()) && trimmed.size() <= longest;
  return isName ? trimmed.str() : "";
}

/// Calls `visit` on each identifier of a text, and `skip` on the text between them.
static void visitWords(StringRef text, llvm::function_ref<void(StringRef word, bool isMember)> visit,
                       llvm::function_ref<void(StringRef)> skip) {
  auto isWord = [](char c) { return isAlnum(c) || c == '_'; };
  while (!text.empty()) {
    StringRef separator = text.take_until(isWord);
    skip(separator);
    text = text.drop_front(separator.size());
    StringRef word = text.take_while(isWord);
    if (!word.empty())
      visit(word, separator.ends_with("."));
    text = text.drop_front(word.size());
  }
}

void KernelNaming::suggest(StringRef variable, StringRef name) {
  std::string wanted = variableName(name);
  if (!wanted.empty() && suggestions.try_emplace(variable, wanted).second)
    variables.push_back(variable.str());
}

void KernelNaming::choose(StringRef text, ArrayRef<std::string> parameters) {
  llvm::StringSet<> used;
  visitWords(
      text,
      [&](StringRef word, bool isMember) {
        if (!isMember)
          used.insert(word);
      },
      [](StringRef) {});
  auto reserve = [&](StringRef variable, const std::string &name) {
    if (isReserved(name) || !used.insert(name).second)
      return false;
    chosen[variable] = name;
    return true;
  };
  for (const std::string &parameter : parameters)
    if (auto found = suggestions.find(parameter); found != suggestions.end() && !chosen.contains(parameter))
      for (unsigned number = 1; !reserve(parameter, found->second + (number > 1 ? "_" + utostr(number) : "")); ++number)
        ;
  for (const std::string &variable : variables)
    if (!is_contained(parameters, variable))
      reserve(variable, suggestions[variable]);
}

std::string KernelNaming::apply(StringRef text) const {
  std::string result;
  visitWords(
      text,
      [&](StringRef word, bool) {
        auto name = chosen.find(word);
        result += name == chosen.end() ? word : StringRef(name->second);
      },
      [&](StringRef separator) { result += separator; });
  return result;
}
