//===- LaunchCheck.h - checks launches against a GPU's limits ---*- C++ -*-===//
//
// The cost model chooses launches (LaunchShape.h). This file checks them, independently of how they were chosen.
// Registers need no check: a kernel's __launch_bounds__ states the threads of its launches, so ptxas gives each thread
// no more registers than a block of this size can have.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_COMPILER_CODEGEN_LAUNCHCHECK_H
#define BRAID_COMPILER_CODEGEN_LAUNCHCHECK_H

#include "lib/Target/TargetInfo.h"
#include "mlir/Support/LogicalResult.h"

namespace braid::codegen {

/// Limits of all compute capabilities (CUDA C++ Programming Guide, Technical Specifications): blocks of a grid along x,
/// threads of a block, and bytes of shared memory that a block has without asking for more.
constexpr int64_t kMaxGridBlocks = (int64_t{1} << 31) - 1, kMaxBlockThreads = 1024, kMaxStaticBytes = 48 << 10;

/// Blocks, threads of a block, and bytes of static shared memory of a block.
struct LaunchNeeds {
  int64_t blocks, threads, sharedBytes;
};

/// Fails with an error at `op` if the GPU cannot start such a launch of a kernel.
mlir::LogicalResult verifyLaunch(mlir::Operation *op, llvm::StringRef kernel, const LaunchNeeds &needs,
                                 const GpuInfo &gpu);

} // namespace braid::codegen

#endif // BRAID_COMPILER_CODEGEN_LAUNCHCHECK_H
