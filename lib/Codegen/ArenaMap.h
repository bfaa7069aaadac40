//===- ArenaMap.h - where references lie, and which overlap -----*- C++ -*-===//
#ifndef BRAID_LIB_CODEGEN_ARENAMAP_H
#define BRAID_LIB_CODEGEN_ARENAMAP_H

#include "dialects/Exec/Exec.h"
#include "llvm/ADT/SmallBitVector.h"

namespace braid::codegen {

/// Resolves references into the arena, and kernels, by tables: modules have
/// thousands of each.
class ArenaMap {
public:
  explicit ArenaMap(mlir::ModuleOp module);
  /// The byte where a reference starts.
  uint64_t offsetOf(mlir::Value ref) const;
  /// Where it is in slots, their place in br_model.slots and 1 more; else 0.
  unsigned slotsOf(mlir::Value ref) const;
  /// The name, for comments, of the tensor it refers to.
  llvm::StringRef nameOf(mlir::Value ref) const;
  /// The buffer, the persistent tensor, or the pack of several.
  mlir::Operation *storageOf(mlir::Value ref) const;
  /// The kernel that a launch runs, or null if the module has no kernel of this name.
  exec::KernelDefOp kernelOf(exec::LaunchOp launch) const;

private:
  mlir::Operation *inModule(mlir::StringAttr name) const;
  exec::ArenaRangeOpInterface rangeOf(exec::RefOp ref) const;

  /// Symbols of the module, and of each program.
  llvm::DenseMap<std::pair<mlir::Operation *, mlir::StringAttr>, mlir::Operation *> symbols;
  mlir::ModuleOp module;
  /// Of slots, by symbol, as slotsOf gives them.
  llvm::DenseMap<mlir::StringAttr, unsigned> slotNumbers;
};

/// For each kernel, the operands (ins, then outs) that overlap an out in some launch without
/// being the same reference.
llvm::DenseMap<mlir::StringAttr, llvm::SmallBitVector> findAliased(mlir::ModuleOp module, const ArenaMap &arena);

} // namespace braid::codegen

#endif // BRAID_LIB_CODEGEN_ARENAMAP_H
