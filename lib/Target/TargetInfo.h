//===- TargetInfo.h - how targets differ, as data ---------------*- C++ -*-===//
//
// A module says what it is compiled for by `exec.target`.  Whatever a pass, the planner,
// the translator or the driver wants to know of a target is a field of its row here: above
// the emitters of code, targets differ only through this table.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_LIB_TARGET_TARGETINFO_H
#define BRAID_LIB_TARGET_TARGETINFO_H

#include "dialects/Exec/Exec.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/StringRef.h"
#include <cstdint>

namespace braid {

/// What is known of a GPU from its data sheet and its compute capability.
struct GpuInfo {
  /// The number of the architecture: 90 for sm_90 and sm_90a.
  unsigned arch;
  /// The card that the row describes, of those of the architecture.
  llvm::StringLiteral card;
  int64_t multiprocessors;
  /// The most bytes of shared memory of a block and of a multiprocessor.
  int64_t blockSharedBytes, sharedBytes;
  /// Of a multiprocessor.
  int64_t registers, threads;
  int64_t l2Bytes;
  /// The card's memory, of which a CUDA context and its libraries take some as well.
  int64_t memoryBytes;
  /// Bytes per second of its memory and, in both directions, of its link to other GPUs.
  double bytesPerSecond, linkBytesPerSecond;
  /// The same of its link to the host, in both directions.
  double hostBytesPerSecond;
  /// FLOPs per second: dense, of tensor cores with sums in f32, and of vector code in f32.
  double bf16Flops, tf32Flops, f32Flops;
  /// What cuBLAS recommends as the workspace of a matmul.
  int64_t matmulWorkspace;
  /// The CTAs with which NCCL reaches the bandwidth of the link, each on a multiprocessor of its own.
  int64_t commCtas;
  AttentionSums attentionSums;
  /// The time of a GEMM of bf16 that also sums an operand over the contracted dim, beside that of the GEMM alone.
  double biasGradSlowdown = 1;

  /// "sm_90".
  std::string name() const { return "sm_" + std::to_string(arch); }
};

/// The GPU that launch shapes are chosen for.
struct LaunchLimits {
  int64_t multiprocessors;
  /// Of a multiprocessor.
  int64_t registers, threads;
  /// The bytes of a row, of which each multiprocessor has several at once, that stay in L2.
  int64_t cachedRowBytes;
  /// The bytes of a block's shared memory that groups of threads combine partial sums in.
  int64_t sharedBytes;
};

/// What a rank reaches of what its processor could do.
struct TargetRates {
  /// FLOPs per second of large GEMMs in f32 and in bf16 and of vector code, and bytes per
  /// second of memory traffic; and the seconds of an empty action.  On GPUs, tables of lib/Cost price
  /// GEMMs and calls of attention.
  double matrixFlops, halfMatrixFlops, vectorFlops, bytesPerSecond, launchSeconds;
  /// A message between ranks of one machine: latency in seconds, bytes in a second.
  double linkLatency, linkBytesPerSecond;
  /// A copy between the host's memory and the device's: latency in seconds, bytes in a second in
  /// one direction.
  double hostLatency, hostBytesPerSecond;
};

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
  /// The scratch memory that calls may use: each has a number of its own, of one region that
  /// they share.
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
  /// Whether a GEMM can also add a tensor that lies elsewhere than its result.
  bool addendEpilogue;
  /// What the attention library takes, of bf16, masks that are causal or none, without a soft cap: the
  /// largest head size (0: there is no library), what divides a head size, and the fewest positions
  /// of queries and keys.
  struct {
    int64_t maxHeadSize, headSizeStep, minPositions;
  } attention;
  /// The largest head size of attention by tiles, which takes f32 and bf16, every mask, documents and
  /// soft caps.
  int64_t maxTileHeadSize;
  /// What ranks may communicate over, by the names of `--transports`.
  llvm::ArrayRef<llvm::StringLiteral> transports;
  TargetRates rates;
  /// The GPU, and how kernels are launched on it; null for a CPU.
  const GpuInfo *gpu;
  const LaunchLimits *launch;
  /// A result whose next use is so many bytes of traffic away is written past the caches; 0: none is.
  int64_t streamDistance;
  /// The GEMM library is fast at matrices whose contiguous dims are multiples of so many bytes; 0: at all.
  int64_t matmulMultiple;
  /// A matmul of bf16 whose result has so many rows copies its right operand into the library's layout
  /// once, instead of leaving that to the library, which does it for each block of rows; 0: none does.
  int64_t panelRows;
  /// Whether a scatter may sum rows of bf16 into a table of f32.
  bool wideScatter;
};

/// The row of a target; one with GPUs has a row for each architecture.  No architecture
/// stands for the target's default.  Null where there is no such target, or where its GPUs
/// are older than all rows.
const TargetInfo *lookupTarget(llvm::StringRef name, llvm::StringRef arch = "");

/// The row that the module around `op` is compiled for: what `exec.target` says, or the CPU's
/// where the module says nothing, which is so for graphs and for IR written by hand.  Null
/// after an error at the module where it names a target that there is not.
const TargetInfo *targetOf(mlir::Operation *op);

/// The attribute for a target: with the default architecture where none is given.
exec::TargetAttr targetAttr(mlir::MLIRContext *context, llvm::StringRef name, llvm::StringRef arch = "");

/// "cpu", "cuda:sm_90": what the binary of a module says that it runs on.
std::string targetText(mlir::ModuleOp module);

/// "cpu, cuda": for error messages.
std::string targetNames();

} // namespace braid

#endif // BRAID_LIB_TARGET_TARGETINFO_H
