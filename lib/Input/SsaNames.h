//===- SsaNames.h - names of values in a graph's text -----------*- C++ -*-===//
#ifndef BRAID_LIB_INPUT_SSANAMES_H
#define BRAID_LIB_INPUT_SSANAMES_H

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include <string>

namespace braid {

/// Spells names of tensors as SSA names, without the percent sign. Each name is given once.
class SsaNames {
public:
  /// Takes a name, unless it is taken already.
  bool take(llvm::StringRef name) { return taken.insert(name).second; }

  /// Returns a free name for a tensor: `h.0.attn` becomes `h_0_attn`, or `h_0_attn_1` if that is taken.
  std::string of(llvm::StringRef tensor) {
    std::string name = tensor.empty() || llvm::isDigit(tensor.front()) ? "_" : "";
    for (char c : tensor)
      name += llvm::isAlnum(c) ? c : '_';
    std::string free = name;
    for (unsigned number = 1; !take(free); ++number)
      free = name + "_" + std::to_string(number);
    return free;
  }

private:
  llvm::StringSet<> taken;
};

} // namespace braid

#endif // BRAID_LIB_INPUT_SSANAMES_H
