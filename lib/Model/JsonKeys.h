//===- JsonKeys.h - repeated keys in a JSON text ----------------*- C++ -*-===//
//
// If an object repeats a key, a parser keeps only one of the two values, and would silently ignore the other.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_LIB_MODEL_JSONKEYS_H
#define BRAID_LIB_MODEL_JSONKEYS_H

#include "llvm/ADT/StringRef.h"
#include <optional>

namespace braid {

/// Returns the first key, as written, that one object of a valid JSON text contains twice.
std::optional<llvm::StringRef> repeatedKey(llvm::StringRef json);

} // namespace braid

#endif // BRAID_LIB_MODEL_JSONKEYS_H
