//===- JsonKeys.cpp - repeated keys in a JSON text ------------------------===//

#include "lib/Model/JsonKeys.h"
#include "llvm/ADT/StringSet.h"
#include <vector>

using namespace llvm;

/// Returns the text between the quotes at the start of `json`.
static StringRef stringAt(StringRef json) {
  size_t end = 1;
  while (json[end] != '"')
    end += json[end] == '\\' ? 2 : 1;
  return json.slice(1, end);
}

std::optional<StringRef> braid::repeatedKey(StringRef json) {
  std::vector<StringSet<>> objects; // the open objects; an array has no keys
  for (size_t i = 0; i < json.size(); ++i) {
    if (json[i] == '{' || json[i] == '[') {
      objects.emplace_back();
    } else if (json[i] == '}' || json[i] == ']') {
      objects.pop_back();
    } else if (json[i] == '"') {
      StringRef text = stringAt(json.substr(i));
      i += text.size() + 1;
      bool isKey = json.substr(i + 1).ltrim().starts_with(":");
      if (isKey && !objects.back().insert(text).second)
        return text;
    }
  }
  return std::nullopt;
}
