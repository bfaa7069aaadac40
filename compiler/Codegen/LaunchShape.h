//===- LaunchShape.h - threads and blocks of a kernel -----------*- C++ -*-===//
//
// Distribution of a kernel over the threads of a GPU, as data. A cost model chooses it from the loops of the kernel,
// the types in memory, and the alignment that holds for all launches. The kernel's text is printed from it, and its
// launches use it.
//
// A thread processes `width` lanes at once. `rowThreads` threads (T) share a row: a power of two up to a warp, or
// several warps. A block has `rowGroups` such groups. Groups of several warps synchronise at barriers of the block and
// have the same number of rows.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_COMPILER_CODEGEN_LAUNCHSHAPE_H
#define BRAID_COMPILER_CODEGEN_LAUNCHSHAPE_H

#include "compiler/Codegen/ArenaMap.h"
#include "compiler/Codegen/KernelAnalysis.h"
#include "lib/Target/TargetInfo.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/SmallBitVector.h"

namespace braid::codegen {

/// For each kernel, the alignment in bytes (at most 256) that each operand (ins, then outs) has in all its launches.
using Alignments = llvm::DenseMap<mlir::StringAttr, llvm::SmallVector<uint64_t>>;
Alignments findAlignments(mlir::ModuleOp module, const ArenaMap &arena);

/// Returns the kernels with a launch of several tuples of operands.
llvm::DenseSet<mlir::StringAttr> findBatched(mlir::ModuleOp module);

struct LaunchShape {
  /// Grid and block size of a launch. Kernels with tables compute their number of blocks from the table.
  int64_t blocks = 1, threads = 1;
  /// Whether a launch takes a table of tuples of operands, in which each block finds its own tuple. `part` is the
  /// number of rows or lanes of a tuple that a block then processes; a launch over vectors of any length chooses it
  /// itself.
  bool hasTable = false;
  int64_t part = 0;
  /// W, T and the number of groups of T threads in a block.
  int64_t width = 1, rowThreads = 1, rowGroups = 1;
  /// Smallest number of resident blocks per multiprocessor, or 0 to leave registers to the compiler. Set if a kernel
  /// should use more registers than the compiler would choose, for example because the grid is too small to fill a
  /// multiprocessor.
  int64_t blocksAtOnce = 0;
  /// Largest number of iterations of a thread's lane loop, for rows of known length.
  int64_t iterations = 1;
  /// Whether values that several phases read stay in registers.
  bool keeps = false;
  /// Bytes of shared memory of a block, through which groups of threads combine values.
  int64_t sharedBytes = 0;
  /// Operands that are accessed W lanes at a time.
  llvm::SmallBitVector aligned;
};

/// Chooses the shape for the GPU's `limits`. `alignment` has an entry for each operand, and is empty for kernels
/// without launches.
LaunchShape launchShape(const KernelAnalysis &kernel, const LaunchLimits &limits, llvm::ArrayRef<uint64_t> alignment,
                        bool isBatched);

} // namespace braid::codegen

#endif // BRAID_COMPILER_CODEGEN_LAUNCHSHAPE_H
