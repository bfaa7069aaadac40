//===- WaitingGradients.h - gradients that wait for the update --*- C++ -*-===//
//
// Memory cost of updates that do not run as soon as their gradients are there.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_LIB_MEMORY_WAITINGGRADIENTS_H
#define BRAID_LIB_MEMORY_WAITINGGRADIENTS_H

#include "dialects/Exec/Exec.h"
#include "llvm/ADT/StringMap.h"

namespace braid {

struct WaitingGradients {
  /// By name of a buffer with gradients: the action after the last one that uses it outside of
  /// the update. The update could run there.
  llvm::StringMap<int64_t> needed;
  /// Whether updates need the norm of all gradients, as for clipping.
  bool waitForNorm = false;

  explicit WaitingGradients(exec::ProgramOp program);
};

} // namespace braid

#endif // BRAID_LIB_MEMORY_WAITINGGRADIENTS_H
