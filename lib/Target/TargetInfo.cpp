//===- TargetInfo.cpp - the table of targets ------------------------------===//

#include "lib/Target/TargetInfo.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

// The rates of the CPU are those of one core: a rank that is a thread has about
// one.  Its link is shared memory.
//
// Those of CUDA are what an H100 reaches of its data sheet: GEMMs in f32 (without
// TF32) and in dense bf16, f32 vector code, HBM3; an action of a captured graph; NVLink
// between the GPUs of a machine, as NCCL's bus bandwidth.  Its attention is what cuDNN 9
// does in both directions on every GPU from sm_80 (forward, and on sm_90 backward, go up
// to 256).
static const braid::TargetInfo targets[] = {
    {/*name=*/"cpu",
     /*alignment=*/64,
     /*rowAlignment=*/0,
     /*reductionBlocks=*/16,
     /*workspace=*/{/*library=*/8 << 20, /*perIndex=*/0, /*perRow=*/0, /*fixed=*/0},
     /*biasEpilogue=*/true,
     /*geluTanhEpilogue=*/true,
     /*geluErfEpilogue=*/true,
     /*siluEpilogue=*/true,
     /*geluAuxMultiple=*/0,
     /*biasGradEpilogue=*/false,
     /*transposedWeights=*/true,
     /*matrixFlops=*/100e9,
     /*halfMatrixFlops=*/100e9,
     /*vectorFlops=*/12e9,
     /*bytesPerSecond=*/10e9,
     /*launchSeconds=*/2e-6,
     /*linkLatency=*/10e-6,
     /*linkBytesPerSecond=*/4e9,
     /*attention=*/{/*maxHeadSize=*/0, /*headSizeStep=*/1, /*minPositions=*/1}},
    {/*name=*/"cuda",
     /*alignment=*/256,
     /*rowAlignment=*/128,
     /*reductionBlocks=*/256,
     /*workspace=*/{/*library=*/32 << 20, /*perIndex=*/16, /*perRow=*/4, /*fixed=*/4},
     /*biasEpilogue=*/true,
     /*geluTanhEpilogue=*/true,
     /*geluErfEpilogue=*/false,
     /*siluEpilogue=*/false,
     /*geluAuxMultiple=*/8,
     /*biasGradEpilogue=*/true,
     /*transposedWeights=*/true,
     /*matrixFlops=*/50e12,
     /*halfMatrixFlops=*/600e12,
     /*vectorFlops=*/40e12,
     /*bytesPerSecond=*/2.8e12,
     /*launchSeconds=*/2e-6,
     /*linkLatency=*/8e-6,
     /*linkBytesPerSecond=*/350e9,
     /*attention=*/{/*maxHeadSize=*/128, /*headSizeStep=*/8, /*minPositions=*/2}},
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
    op->emitError() << "unknown target '" << name << "' (targets: " << targetNames() << ")";
  return target;
}

std::string braid::targetNames() {
  return llvm::join(llvm::map_range(targets, [](const TargetInfo &target) { return target.name; }), ", ");
}
