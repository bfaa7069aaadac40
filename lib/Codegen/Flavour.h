//===- Flavour.h - where the printed languages differ -----------*- C++ -*-===//
//
// Kernels of all targets have the same body.  They differ in the signature and in
// the headers of the loops that the target runs in parallel, which are here.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_LIB_CODEGEN_FLAVOUR_H
#define BRAID_LIB_CODEGEN_FLAVOUR_H

#include "llvm/ADT/StringRef.h"

namespace braid::codegen {

struct Flavour {
  /// Before a kernel's name, and its first parameter.
  llvm::StringLiteral kernelPrefix, blockParameter;
  /// The loop over the rows of a block.
  llvm::StringLiteral rowLoop;
  /// Loops over all lanes and over a block's, for a multiple of every width.
  llvm::StringLiteral laneLoop, blockLaneLoop;
  /// The same where some lanes may be left over: `n` is how many there are.
  llvm::StringLiteral laneLoopTail, blockLaneLoopTail, laneLoopTailEnd;
};

constexpr Flavour cpuFlavour = {
    /*kernelPrefix=*/"static void ",
    /*blockParameter=*/"Block block",
    /*rowLoop=*/"for (int64_t r = block.begin; r < block.end; ++r) {",
    /*laneLoop=*/"for (int64_t l = 0; l < L; l += W) {",
    /*blockLaneLoop=*/"for (int64_t l = block.begin; l < block.end; l += W) {",
    /*laneLoopTail=*/"lanes(0, L, [&](int64_t l, auto n) {",
    /*blockLaneLoopTail=*/"lanes(block.begin, block.end, [&](int64_t l, auto n) {",
    /*laneLoopTailEnd=*/"});",
};

} // namespace braid::codegen

#endif // BRAID_LIB_CODEGEN_FLAVOUR_H
