//===- MemoryLimit.h - the arena that there may be -------------*- C++ -*-===//
#ifndef BRAID_LIB_MEMORY_MEMORYLIMIT_H
#define BRAID_LIB_MEMORY_MEMORYLIMIT_H

#include "mlir/IR/Diagnostics.h"
#include <optional>

namespace braid {

/// The bytes of an option `memory-limit` of a pass; none where it is empty.  Another text than a
/// size is an error.
mlir::FailureOr<std::optional<int64_t>> memoryLimitOf(llvm::StringRef text, mlir::Location loc);

} // namespace braid

#endif // BRAID_LIB_MEMORY_MEMORYLIMIT_H
