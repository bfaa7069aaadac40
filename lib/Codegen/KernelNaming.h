//===- KernelNaming.h - what variables of a kernel are called ---*- C++ -*-===//
//
// A kernel is printed with names that the writer numbers (a0, t3).  Then its variables get
// the names that the program has for what they hold (dialects/TG/ValueNames.h), as far as
// these are free: what the text uses in any way keeps its meaning.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_LIB_CODEGEN_KERNELNAMING_H
#define BRAID_LIB_CODEGEN_KERNELNAMING_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringRef.h"
#include <string>
#include <vector>

namespace braid::codegen {

class KernelNaming {
public:
  /// Says what a variable should be called, "" for nothing; the first to say so counts.
  void suggest(llvm::StringRef variable, llvm::StringRef name);
  /// Finds names for the variables of a function's text: for parameters first, which get a
  /// number behind a name that is taken; other variables then stay as they are.
  void choose(llvm::StringRef text, llvm::ArrayRef<std::string> parameters);
  /// The text with the names that were chosen.
  std::string apply(llvm::StringRef text) const;

private:
  std::vector<std::string> variables; // that have a suggestion, in order
  llvm::StringMap<std::string> suggestions, chosen;
};

} // namespace braid::codegen

#endif // BRAID_LIB_CODEGEN_KERNELNAMING_H
