//===- MemoryLimit.h - the limit of the arena -------------------*- C++ -*-===//
#ifndef BRAID_LIB_MEMORY_MEMORYLIMIT_H
#define BRAID_LIB_MEMORY_MEMORYLIMIT_H

#include "mlir/IR/Diagnostics.h"
#include <optional>

namespace braid {

/// Parses the pass option `memory-limit` into bytes; no value if it is empty. Fails if the text is not a size.
mlir::FailureOr<std::optional<int64_t>> memoryLimitOf(llvm::StringRef text, mlir::Location loc);

} // namespace braid

#endif // BRAID_LIB_MEMORY_MEMORYLIMIT_H
