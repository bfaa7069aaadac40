//===- MemoryLimit.cpp - the limit of the arena ---------------------------===//

#include "lib/Memory/MemoryLimit.h"
#include "lib/Memory/Size.h"

using namespace mlir;

FailureOr<std::optional<int64_t>> braid::memoryLimitOf(StringRef text, Location loc) {
  std::optional<int64_t> limit = parseSize(text);
  if (text.empty() || limit)
    return limit;
  emitError(loc) << "invalid memory limit '" << text
                 << "': expected a number of bytes, with an optional KiB, MiB or GiB";
  return failure();
}
