//===- ArenaMap.h - offsets and overlaps of references ----------*- C++ -*-===//
#ifndef BRAID_COMPILER_CODEGEN_ARENAMAP_H
#define BRAID_COMPILER_CODEGEN_ARENAMAP_H

#include "dialects/Exec/Exec.h"
#include "llvm/ADT/SmallBitVector.h"

namespace braid::codegen {

/// Resolves references into the arena, and kernels, by tables, because modules have thousands of each.
class ArenaMap {
public:
  explicit ArenaMap(mlir::ModuleOp module);
  /// Returns the byte offset at which a reference starts.
  uint64_t offsetOf(mlir::Value ref) const;
  /// Returns the one-based index into br_model.slots, or 0 if the reference is not in a slot.
  unsigned slotsOf(mlir::Value ref) const;
  /// Returns the name of the referenced tensor, for comments.
  llvm::StringRef nameOf(mlir::Value ref) const;
  /// Returns the buffer, the persistent tensor, or the pack of several tensors.
  mlir::Operation *storageOf(mlir::Value ref) const;
  /// Returns the kernel that a launch runs, or null if the module has no kernel of this name.
  exec::KernelDefOp kernelOf(exec::LaunchOp launch) const;

private:
  mlir::Operation *inModule(mlir::StringAttr name) const;
  exec::ArenaRangeOpInterface rangeOf(exec::RefOp ref) const;

  /// Symbols of the module, and of each program.
  llvm::DenseMap<std::pair<mlir::Operation *, mlir::StringAttr>, mlir::Operation *> symbols;
  mlir::ModuleOp module;
  /// One-based indices of slots, by symbol.
  llvm::DenseMap<mlir::StringAttr, unsigned> slotNumbers;
};

/// Returns, for each kernel, the operands (ins, then outs) that overlap an out in any launch without being the same
/// reference.
llvm::DenseMap<mlir::StringAttr, llvm::SmallBitVector> findAliased(mlir::ModuleOp module, const ArenaMap &arena);

} // namespace braid::codegen

#endif // BRAID_COMPILER_CODEGEN_ARENAMAP_H
