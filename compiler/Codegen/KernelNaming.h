//===- KernelNaming.h - names of a kernel's variables -----------*- C++ -*-===//
//
// A kernel is first printed with numbered names (a0, t3). Then its variables get the names that the program has for
// their values (dialects/TG/ValueNames.h), if these are free: words that the text already uses keep their meaning.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_COMPILER_CODEGEN_KERNELNAMING_H
#define BRAID_COMPILER_CODEGEN_KERNELNAMING_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringRef.h"
#include <string>
#include <vector>

namespace braid::codegen {

class KernelNaming {
public:
  /// Suggests a name for a variable; an empty string makes no suggestion. The first suggestion wins.
  void suggest(llvm::StringRef variable, llvm::StringRef name);
  /// Chooses names for the variables of a function's text, parameters first. A parameter whose name is taken gets a
  /// number appended; other variables then keep their name.
  void choose(llvm::StringRef text, llvm::ArrayRef<std::string> parameters);
  /// Returns the text with the chosen names.
  std::string apply(llvm::StringRef text) const;

private:
  std::vector<std::string> variables; // that have a suggestion, in order
  llvm::StringMap<std::string> suggestions, chosen;
};

} // namespace braid::codegen

#endif // BRAID_COMPILER_CODEGEN_KERNELNAMING_H
