//===- PlannedBytes.h - arena size without a plan ---------------*- C++ -*-===//
#ifndef BRAID_LIB_MEMORY_PLANNEDBYTES_H
#define BRAID_LIB_MEMORY_PLANNEDBYTES_H

#include "lib/Memory/Lifetimes.h"
#include "lib/Memory/Persistent.h"

namespace braid {

/// The programs of a module whose values have buffers, but no offsets.
class UnplacedPrograms {
public:
  /// Assigns buffers in a copy of the module; the module itself does not change.
  static mlir::FailureOr<UnplacedPrograms> read(mlir::ModuleOp module, int64_t rowAlignment, const TargetInfo &target);

  /// Returns the size of the planner's arena if library calls share `workspace` bytes of scratch memory.
  mlir::FailureOr<int64_t> arenaBytes(int64_t workspace) const;

private:
  UnplacedPrograms(mlir::ModuleOp module, const TargetInfo &target) : copy(module.clone()), target(&target) {}

  mlir::OwningOpRef<mlir::ModuleOp> copy;
  const TargetInfo *target;
  llvm::SmallVector<mlir::func::FuncOp> programs;
  PersistentTensors tensors;
  std::vector<Places> places;
};

} // namespace braid

#endif // BRAID_LIB_MEMORY_PLANNEDBYTES_H
