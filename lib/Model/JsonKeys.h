//===- JsonKeys.h - keys that a JSON text repeats ---------------*- C++ -*-===//
//
// A parser keeps one of two values that an object gives to one key, so of the two the
// other would be ignored in silence.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_LIB_MODEL_JSONKEYS_H
#define BRAID_LIB_MODEL_JSONKEYS_H

#include "llvm/ADT/StringRef.h"
#include <optional>

namespace braid {

/// The first key that stands twice in one object of a valid JSON text, as it is written.
std::optional<llvm::StringRef> repeatedKey(llvm::StringRef json);

} // namespace braid

#endif // BRAID_LIB_MODEL_JSONKEYS_H
