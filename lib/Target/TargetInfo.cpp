//===- TargetInfo.cpp - the table of targets ------------------------------===//

#include "lib/Target/TargetInfo.h"

// The rates of the CPU are those of one core: a rank that is a thread has about
// one.  Its link is shared memory.
static const braid::TargetInfo targets[] = {
    {/*name=*/"cpu", /*alignment=*/64, /*reductionBlocks=*/16, /*workspaceBytes=*/8 << 20,
     /*biasEpilogue=*/true, /*geluEpilogue=*/true, /*siluEpilogue=*/true, /*transposedWeights=*/true,
     /*matrixFlops=*/100e9, /*vectorFlops=*/12e9, /*bytesPerSecond=*/10e9, /*launchSeconds=*/2e-6,
     /*linkLatency=*/10e-6, /*linkBytesPerSecond=*/4e9},
};

const braid::TargetInfo *braid::lookupTarget(llvm::StringRef name) {
  for (const TargetInfo &target : targets)
    if (target.name == name)
      return &target;
  return nullptr;
}

const braid::TargetInfo *braid::findTarget(mlir::Operation *op, llvm::StringRef name) {
  const TargetInfo *target = lookupTarget(name);
  if (!target)
    op->emitError() << "unknown target '" << name << "'; there is " << targetNames();
  return target;
}

llvm::StringRef braid::targetNames() { return "cpu"; }
