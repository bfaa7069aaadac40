//===- Initializer.h - structs of tables, by the names of fields *- C++ -*-===//
//
// A row of a table names its fields, in the order of their declaration, and leaves out
// those that hold what a field without an initializer holds.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_LIB_CODEGEN_INITIALIZER_H
#define BRAID_LIB_CODEGEN_INITIALIZER_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include <string>
#include <vector>

namespace braid::codegen {

class Initializer {
public:
  /// A field that is always said; `value` is C++.
  Initializer &always(llvm::StringRef name, std::string value);
  Initializer &always(llvm::StringRef name, int64_t value) { return always(name, std::to_string(value)); }

  /// A field that is left out where the value is 0, null, or zeros all through.
  Initializer &unlessZero(llvm::StringRef name, std::string value);
  Initializer &unlessZero(llvm::StringRef name, int64_t value) { return unlessZero(name, std::to_string(value)); }
  Initializer &unlessZero(llvm::StringRef name, llvm::ArrayRef<int64_t> values);

  /// A pointer to the first row of `array` and their number; both are left out where there is none.
  Initializer &rows(llvm::StringRef name, std::string array, llvm::StringRef countName, size_t count);

  /// The next field begins a line.
  Initializer &newLine();

  /// `{.m = 4, .a = {…}}` in lines of at most 120 columns that begin at `column`, where the text stands.
  std::string text(unsigned column = 0) const;

private:
  std::vector<std::vector<std::string>> lines{{}}; // of fields
};

} // namespace braid::codegen

#endif // BRAID_LIB_CODEGEN_INITIALIZER_H
