//===- Indexing.h - which operands of an op are indices ---------*- C++ -*-===//
#ifndef BRAID_DIALECTS_INTERFACES_INDEXING_H
#define BRAID_DIALECTS_INTERFACES_INDEXING_H

#include "mlir/IR/OpDefinition.h"
#include <optional>

namespace braid {
/// The indices that an op takes: those of [0, extent), and `ignored`, which stands for no
/// element.  An op that ignores none says 0.
struct IndexRange {
  int64_t extent, ignored = 0;
};
} // namespace braid

#include "dialects/Interfaces/Indexing.h.inc"

#endif // BRAID_DIALECTS_INTERFACES_INDEXING_H
