//===- TargetInfo.cpp - the table of targets ------------------------------===//

#include "lib/Target/TargetInfo.h"

static const braid::TargetInfo targets[] = {
    {/*name=*/"cpu", /*alignment=*/64, /*reductionBlocks=*/16, /*workspaceBytes=*/8 << 20,
     /*biasEpilogue=*/true, /*geluEpilogue=*/true, /*siluEpilogue=*/true, /*transposedWeights=*/true},
};

const braid::TargetInfo *braid::lookupTarget(llvm::StringRef name) {
  for (const TargetInfo &target : targets)
    if (target.name == name)
      return &target;
  return nullptr;
}

llvm::StringRef braid::targetNames() { return "cpu"; }
