//===- Size.h - numbers of bytes as text ------------------------*- C++ -*-===//
#ifndef BRAID_LIB_MEMORY_SIZE_H
#define BRAID_LIB_MEMORY_SIZE_H

#include "mlir/IR/Diagnostics.h"
#include "llvm/ADT/StringRef.h"
#include <cstdint>
#include <optional>
#include <string>

namespace braid {

/// Parses a number of bytes: "4096", "512MiB", "1.5GiB" (powers of 1024; the "iB" is
/// optional) or "2GB" (powers of 1000). No value if the text is not a valid size.
std::optional<int64_t> parseSize(llvm::StringRef text);
/// Formats bytes with three digits: "812 B", "1.4 KiB", "2.31 GiB".
std::string formatSize(int64_t bytes);

/// Parses the pass option `memory-limit` into bytes; no value if it is empty. Fails if the text is not a size.
mlir::FailureOr<std::optional<int64_t>> memoryLimitOf(llvm::StringRef text, mlir::Location loc);

} // namespace braid

#endif // BRAID_LIB_MEMORY_SIZE_H
