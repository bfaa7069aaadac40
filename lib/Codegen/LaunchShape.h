//===- LaunchShape.h - threads and blocks of a kernel -----------*- C++ -*-===//
//
// How a kernel is distributed over the threads of a GPU, as data.  A cost model chooses
// it from the loops of the kernel, the types in memory and the alignment that holds for
// all launches.  The kernel's text is printed from it, and its launches use it.
//
// A thread processes `width` lanes at once.  `rowThreads` threads (T) share a row: a power
// of two up to a warp, or several warps.  A block has `rowGroups` such groups; groups of
// several warps synchronise at barriers of the block and have the same number of rows.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_LIB_CODEGEN_LAUNCHSHAPE_H
#define BRAID_LIB_CODEGEN_LAUNCHSHAPE_H

#include "lib/Codegen/ArenaMap.h"
#include "lib/Codegen/KernelAnalysis.h"
#include "lib/Target/TargetInfo.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/SmallBitVector.h"

namespace braid::codegen {

/// For each kernel, the alignment in bytes (at most 256) that each operand, ins then
/// outs, has in all its launches.
using Alignments = llvm::DenseMap<mlir::StringAttr, llvm::SmallVector<uint64_t>>;
Alignments findAlignments(mlir::ModuleOp module, const ArenaMap &arena);

/// The kernels with a launch of several tuples of operands.
llvm::DenseSet<mlir::StringAttr> findBatched(mlir::ModuleOp module);

struct LaunchShape {
  /// The grid and block size of a launch; kernels with tables compute their number of blocks
  /// from the table.
  int64_t blocks = 1, threads = 1;
  /// Whether a launch takes a table of tuples of operands, of which each block finds its own; and
  /// how many rows or lanes of a tuple it then has.  A launch over vectors of any length chooses
  /// that itself.
  bool hasTable = false;
  int64_t part = 0;
  /// W, T and the number of groups of T threads in a block.
  int64_t width = 1, rowThreads = 1, rowGroups = 1;
  /// The number of blocks that a multiprocessor has at once at least, where a kernel should use
  /// more registers than the compiler would choose, for one because the grid is too small to
  /// fill it; else 0.
  int64_t blocksAtOnce = 0;
  /// The largest number of iterations of a thread's lane loop, for rows of known length.
  int64_t iterations = 1;
  /// Whether values that several phases read stay in registers.
  bool keeps = false;
  /// Shared memory of a block, in which groups of threads meet.
  int64_t sharedBytes = 0;
  /// The operands that are accessed W lanes at a time.
  llvm::SmallBitVector aligned;
};

/// `limits` are those of the GPU; `alignment` has an entry for each operand; none stands for kernels without launches.
LaunchShape launchShape(const KernelAnalysis &kernel, const LaunchLimits &limits, llvm::ArrayRef<uint64_t> alignment,
                        bool isBatched);

} // namespace braid::codegen

#endif // BRAID_LIB_CODEGEN_LAUNCHSHAPE_H
