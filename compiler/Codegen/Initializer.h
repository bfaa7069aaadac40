//===- Initializer.h - rows of tables, by field name ------------*- C++ -*-===//
//
// A row of a table names its fields in the order of their declaration. It leaves out fields that hold the value of a
// field without an initializer.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_COMPILER_CODEGEN_INITIALIZER_H
#define BRAID_COMPILER_CODEGEN_INITIALIZER_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include <string>
#include <vector>

namespace braid::codegen {

class Initializer {
public:
  /// Adds a field that is always written; `value` is C++.
  Initializer &always(llvm::StringRef name, std::string value);
  Initializer &always(llvm::StringRef name, int64_t value) { return always(name, std::to_string(value)); }

  /// Adds a field that is left out if the value is 0, null, or all zeros.
  Initializer &addUnlessZero(llvm::StringRef name, std::string value);
  Initializer &addUnlessZero(llvm::StringRef name, int64_t value) { return addUnlessZero(name, std::to_string(value)); }
  Initializer &addUnlessZero(llvm::StringRef name, llvm::ArrayRef<int64_t> values);

  /// Adds a pointer to the first row of `array`, and the number of rows. Leaves out both if there are no rows.
  Initializer &rows(llvm::StringRef name, std::string array, llvm::StringRef countName, size_t count);

  /// Begins a new line with the next field.
  Initializer &newLine();

  /// Returns `{.m = 4, .a = {…}}` in lines of at most 120 columns; the text begins at `column`.
  std::string text(unsigned column = 0) const;

private:
  std::vector<std::vector<std::string>> lines{{}}; // fields by line
};

} // namespace braid::codegen

#endif // BRAID_COMPILER_CODEGEN_INITIALIZER_H
