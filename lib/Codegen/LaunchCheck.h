//===- LaunchCheck.h - whether a GPU can start a launch ---------*- C++ -*-===//
//
// The cost model chooses launches (LaunchShape.h); this checks them, and knows nothing of how they were
// chosen.  Registers are no part of it: a kernel's __launch_bounds__ has the threads of its launches, so ptxas
// gives each thread no more registers than a block of them can have.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_LIB_CODEGEN_LAUNCHCHECK_H
#define BRAID_LIB_CODEGEN_LAUNCHCHECK_H

#include "lib/Target/TargetInfo.h"
#include "mlir/Support/LogicalResult.h"

namespace braid::codegen {

/// Limits of all compute capabilities (CUDA C++ Programming Guide, Technical Specifications): blocks of a grid
/// along x, threads of a block, and bytes of shared memory that a block has without asking for more.
constexpr int64_t kMostGridBlocks = (int64_t{1} << 31) - 1, kMostBlockThreads = 1024, kMostStaticBytes = 48 << 10;

/// Blocks, threads of a block, and bytes of static shared memory of a block.
struct LaunchNeeds {
  int64_t blocks, threads, sharedBytes;
};

/// Fails, with an error at `op`, where the GPU cannot start such a launch of a kernel.
mlir::LogicalResult verifyLaunch(mlir::Operation *op, llvm::StringRef kernel, const LaunchNeeds &needs,
                                 const GpuInfo &gpu);

} // namespace braid::codegen

#endif // BRAID_LIB_CODEGEN_LAUNCHCHECK_H
