//===- Tokens.h - training data in a binary file ----------------*- C++ -*-===//
//
// A 64-byte little-endian header (`BRAIDTOK`, u32 version, u32 bytes per token, u64
// number of tokens, u64 vocabulary, and more), then the tokens, and in version 2
// additional facts about them (docs/Data.md).
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_LIB_REFERENCE_TOKENS_H
#define BRAID_LIB_REFERENCE_TOKENS_H

#include "lib/Reference/Tensor.h"
#include "llvm/Support/Error.h"

namespace braid::reference {

struct TokenFile {
  std::vector<int64_t> tokens;
  int64_t vocabulary = 0;

  static llvm::Expected<TokenFile> read(llvm::StringRef path);

  /// Fills a tensor `[batch, sequence]` with consecutive windows from number `window`
  /// on; `shift` is 0 for tokens and 1 for targets.
  llvm::Error fill(Tensor &batch, int64_t window, int64_t shift) const;
};

} // namespace braid::reference

#endif // BRAID_LIB_REFERENCE_TOKENS_H
