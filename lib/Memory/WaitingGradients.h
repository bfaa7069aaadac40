//===- WaitingGradients.h - gradients that are held for the update -*- C++ -*-===//
//
// What a plan costs because updates do not run as soon as their gradients are there.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_LIB_MEMORY_WAITINGGRADIENTS_H
#define BRAID_LIB_MEMORY_WAITINGGRADIENTS_H

#include "dialects/Exec/Exec.h"
#include "llvm/ADT/StringMap.h"

namespace braid {

struct WaitingGradients {
  /// By the names of buffers with gradients: the action behind the last that does not belong to
  /// the update.  There the update could run.
  llvm::StringMap<int64_t> needed;
  /// Whether updates need the norm of all gradients, as for clipping.
  bool waitForNorm = false;

  explicit WaitingGradients(exec::ProgramOp program);
};

} // namespace braid

#endif // BRAID_LIB_MEMORY_WAITINGGRADIENTS_H
