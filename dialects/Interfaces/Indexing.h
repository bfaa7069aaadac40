//===- Indexing.h - operands that an op uses as indices ---------*- C++ -*-===//
#ifndef BRAID_DIALECTS_INTERFACES_INDEXING_H
#define BRAID_DIALECTS_INTERFACES_INDEXING_H

#include "mlir/IR/OpDefinition.h"
#include <optional>

namespace braid {
/// Valid indices of an op: [0, extent), and `ignored`, which refers to no element. An op that ignores no index has 0.
struct IndexRange {
  int64_t extent, ignored = 0;
};
} // namespace braid

#include "dialects/Interfaces/Indexing.h.inc"

#endif // BRAID_DIALECTS_INTERFACES_INDEXING_H
