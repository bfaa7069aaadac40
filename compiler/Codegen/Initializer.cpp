//===- Initializer.cpp - rows of tables, by field name --------------------===//

#include "compiler/Codegen/Initializer.h"
#include "compiler/Codegen/CppText.h"
#include "llvm/ADT/STLExtras.h"

using namespace llvm;
using namespace braid;
using namespace braid::codegen;

static constexpr size_t kTableColumns = 120;

Initializer &Initializer::always(StringRef name, std::string value) {
  lines.back().push_back(("." + name + " = ").str() + value);
  return *this;
}

Initializer &Initializer::addUnlessZero(StringRef name, std::string value) {
  bool isZero = value == "0" || value == "0.0" || value == "nullptr" || value == "{}";
  return isZero ? *this : always(name, std::move(value));
}

Initializer &Initializer::addUnlessZero(StringRef name, ArrayRef<int64_t> values) {
  return llvm::all_of(values, [](int64_t value) { return value == 0; }) ? *this : always(name, listText(values));
}

Initializer &Initializer::rows(StringRef name, std::string array, StringRef countName, size_t count) {
  return count ? always(name, array + ", ." + countName.str() + " = " + std::to_string(count)) : *this;
}

Initializer &Initializer::newLine() {
  if (!lines.back().empty())
    lines.emplace_back();
  return *this;
}

std::string Initializer::text(unsigned column) const {
  const std::string lineBreak = "\n" + std::string(column + 1, ' ');
  std::string text = "{";
  size_t at = column + 1;
  for (const std::vector<std::string> &line : lines)
    for (const std::string &field : line) {
      bool isFirst = text.size() == 1;
      // A comma follows each field, and "}," follows the last one.
      if (bool begins = &field == &line.front(); !isFirst && (begins || at + 2 + field.size() + 2 > kTableColumns)) {
        text += "," + lineBreak;
        at = column + 1;
      } else if (!isFirst) {
        text += ", ";
        at += 2;
      }
      text += field;
      at += field.size();
    }
  return text + "}";
}
