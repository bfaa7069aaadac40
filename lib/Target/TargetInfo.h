//===- TargetInfo.h - how targets differ, as data ---------------*- C++ -*-===//
//
// Above the translator, targets differ only through this table.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_LIB_TARGET_TARGETINFO_H
#define BRAID_LIB_TARGET_TARGETINFO_H

#include "dialects/Exec/Exec.h"
#include "mlir/IR/Operation.h"
#include "llvm/ADT/StringRef.h"
#include <cstdint>

namespace braid {

struct TargetInfo {
  llvm::StringRef name;
  /// Alignment of buffers in the arena, bytes.
  int64_t alignment;
  /// Rows of transient values are padded to multiples of this many bytes where the padding
  /// is small (lib/Memory/LeadingDimPadding.h); 0: rows are never padded.
  int64_t rowAlignment;
  /// Blocks into which a kernel's rows are split when it reduces over rows; a
  /// constant of the program, so that sums do not depend on the thread count.
  int64_t reductionBlocks;
  /// The scratch memory that calls take; one region, shared.
  exec::WorkspaceRule workspace;
  /// Whether the GEMM library applies these to its result.
  bool biasEpilogue, geluTanhEpilogue, geluErfEpilogue, siluEpilogue;
  /// For training, whether it keeps the input of GELU by tanh, and multiplies by the
  /// derivative there: for rows of a multiple of so many elements; 0: it does not.
  int64_t geluAuxMultiple;
  /// Whether a GEMM can also sum one of its operands over the contracted dim.
  bool biasGradEpilogue;
  /// Whether weights are faster stored n x k.
  bool transposedWeights;
  /// The rates of a rank: FLOPs per second of large GEMMs in f32 and in bf16 and of vector
  /// code, and bytes per second of memory traffic; and the seconds of an empty action.
  double matrixFlops, halfMatrixFlops, vectorFlops, bytesPerSecond, launchSeconds;
  /// A message between ranks of one machine: latency in seconds, bytes in a second.
  double linkLatency, linkBytesPerSecond;
  /// What the attention library takes, of bf16: the largest head size (0: there is no
  /// library), what divides a head size, and the fewest positions of queries and keys.
  struct {
    int64_t maxHeadSize, headSizeStep, minPositions;
  } attention;
};

/// The target of this name ("cpu"), or null.
const TargetInfo *lookupTarget(llvm::StringRef name);
/// The same for a pass over `op`, where an error says that there is none.
const TargetInfo *findTarget(mlir::Operation *op, llvm::StringRef name);
/// "cpu, cuda": for error messages.
std::string targetNames();

} // namespace braid

#endif // BRAID_LIB_TARGET_TARGETINFO_H
