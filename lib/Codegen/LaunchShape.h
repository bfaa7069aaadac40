//===- LaunchShape.h - threads and blocks of a kernel -----------*- C++ -*-===//
//
// How a kernel is spread over the threads of a GPU, as data: a cost model chooses
// it from the loops of the kernel, the types in memory and the alignment that all
// launches prove.  The kernel's comment shows it, its text is printed from it, and
// its launches pass it on.
//
// A thread takes `width` lanes at once.  `rowThreads` threads (T) share a row: up to
// a warp, a power of two, or several warps.  A block has `rowGroups` such groups; those
// of several warps meet at barriers of the block, and have equally many rows each.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_LIB_CODEGEN_LAUNCHSHAPE_H
#define BRAID_LIB_CODEGEN_LAUNCHSHAPE_H

#include "lib/Codegen/ArenaMap.h"
#include "lib/Codegen/KernelAnalysis.h"
#include "llvm/ADT/SmallBitVector.h"

namespace braid::codegen {

/// For each kernel, the alignment in bytes (at most 256) that each operand, ins then
/// outs, has in all its launches.
using Alignments = llvm::DenseMap<mlir::StringAttr, llvm::SmallVector<uint64_t>>;
Alignments findAlignments(mlir::ModuleOp module, const ArenaMap &arena);

struct LaunchShape {
  /// What a launch passes; flat kernels count their own blocks, by the length.
  int64_t blocks = 1, threads = 1;
  /// W, T and the number of groups of T threads in a block.
  int64_t width = 1, rowThreads = 1, rowGroups = 1;
  /// How many blocks a multiprocessor has at once for want of more, or 0: then registers
  /// that would leave room for others are the kernel's.
  int64_t blocksAtOnce = 0;
  /// How often the lane loop of a thread runs at most, for rows of known length.
  int64_t iterations = 1;
  /// Whether values that several phases read stay in registers.
  bool keeps = false;
  /// The operands that are accessed W lanes at a time.
  llvm::SmallBitVector aligned;
};

/// `alignment` has an entry for each operand; none stands for kernels without launches.
LaunchShape launchShape(const KernelAnalysis &kernel, llvm::ArrayRef<uint64_t> alignment);

} // namespace braid::codegen

#endif // BRAID_LIB_CODEGEN_LAUNCHSHAPE_H
