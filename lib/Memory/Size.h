//===- Size.h - bytes as people write them ----------------------*- C++ -*-===//
#ifndef BRAID_LIB_MEMORY_SIZE_H
#define BRAID_LIB_MEMORY_SIZE_H

#include "llvm/ADT/StringRef.h"
#include <cstdint>
#include <optional>
#include <string>

namespace braid {

/// The bytes that `text` means: "4096", "512MiB", "1.5GiB" (powers of 1024; the
/// "iB" may be left out) or "2GB" (powers of 1000).  None if it is not a valid size.
std::optional<int64_t> parseSize(llvm::StringRef text);
/// "812 B", "1.4 KiB", "2.31 GiB": three digits.
std::string formatSize(int64_t bytes);

} // namespace braid

#endif // BRAID_LIB_MEMORY_SIZE_H
