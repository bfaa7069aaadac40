//===- TargetInfo.h - the table of targets ----------------------*- C++ -*-===//
//
// The attribute `exec.target` names the target of a module.  Everything that a pass, the
// planner, the translator or the driver needs to know of a target is a field of its row
// here. Above the code emitters, targets differ only through this table.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_LIB_TARGET_TARGETINFO_H
#define BRAID_LIB_TARGET_TARGETINFO_H

#include "dialects/Exec/Exec.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/StringRef.h"
#include <cstdint>

namespace braid {

/// Properties of a GPU from its data sheet and the guide to its architecture.
struct GpuInfo {
  /// Architecture by the vendor's name, such as "sm_90" (isSameOrOlder).
  llvm::StringLiteral arch;
  /// Card that the row describes: its name on the command line, such as "h100", and that of the data sheet.
  llvm::StringLiteral name, card;
  int64_t multiprocessors;
  /// Upper limits of shared memory, in bytes, of a block and of a multiprocessor.
  int64_t blockSharedBytes, sharedBytes;
  /// Registers and threads per multiprocessor.
  int64_t registers, threads;
  /// Memory of the card in bytes; the context of a process and its libraries take some of it.
  int64_t memoryBytes;
  /// Bytes per second of its memory, and of its link to other GPUs, both directions together.
  double bytesPerSecond, linkBytesPerSecond;
  /// Bytes per second of its link to the host, both directions together.
  double hostBytesPerSecond;
  /// FLOPs per second, dense: of tensor cores with sums in f32, and of vector code in f32.
  double bf16Flops, tf32Flops, f32Flops;
  /// Workspace in bytes that the GEMM library recommends for a matmul.
  int64_t matmulWorkspace;
  /// Number of CTAs with which collectives reach the bandwidth of the link; each occupies a multiprocessor.
  int64_t commCtas;
  AttentionSums attentionSums;
  /// Time of a bf16 GEMM that also sums an operand over the contracted dim, relative to the GEMM alone.
  double biasGradSlowdown = 1;
  /// Whether the target's name without an architecture means this row.
  bool isDefault = false;
};

/// GPU for which launch shapes are chosen.
struct LaunchLimits {
  int64_t multiprocessors;
  /// Registers and threads per multiprocessor.
  int64_t registers, threads;
  /// Upper limit of a row's bytes for which the rows that all multiprocessors work on stay in L2.
  int64_t cachedRowBytes;
  /// Bytes of a block's shared memory in which groups of threads combine partial sums.
  int64_t sharedBytes;
};

/// Rates that one rank reaches on its processor.
struct TargetRates {
  /// FLOPs per second of large GEMMs in f32 and in bf16 and of vector code, bytes per second of
  /// memory traffic, and the seconds of an empty action.  On GPUs, the tables of lib/Cost give the
  /// times of GEMMs and attention calls.
  double matrixFlops, halfMatrixFlops, vectorFlops, bytesPerSecond, launchSeconds;
  /// Message between ranks of one machine: latency in seconds, bytes per second.
  double linkLatency, linkBytesPerSecond;
  /// Copy between the host's memory and the device's: latency in seconds, bytes per second in one direction.
  double hostLatency, hostBytesPerSecond;
};

struct TargetInfo {
  llvm::StringRef name;
  /// Alignment of buffers in the arena, in bytes.
  int64_t alignment;
  /// Rows of transient values are padded to multiples of this many bytes if the padding is
  /// small (lib/Memory/LeadingDimPadding.h); 0: rows are never padded.
  int64_t rowAlignment;
  /// Blocks into which a kernel's rows are split when it reduces over rows; a constant
  /// of the program, so that sums do not depend on the thread count.
  int64_t reductionBlocks;
  /// Scratch memory that calls may use: each has its own number of bytes, in one region that they share.
  exec::WorkspaceRule workspace;
  /// Whether the GEMM library applies these epilogues to its result.
  bool biasEpilogue, geluTanhEpilogue, geluErfEpilogue, siluEpilogue;
  /// For training: the GEMM library keeps the input of tanh GELU, and multiplies by the
  /// derivative there, if rows are multiples of this many elements; 0: it does not.
  int64_t geluAuxMultiple;
  /// Whether a GEMM can also sum one of its operands over the contracted dim.
  bool biasGradEpilogue;
  /// Whether a GEMM can also add a tensor in other memory than its result.
  bool addendEpilogue;
  /// Limits of the attention library, for bf16 and masks that are causal or none, without a soft cap:
  /// the largest head size (0: there is no library), a divisor of the head size, and the fewest
  /// positions of queries and keys.
  struct {
    int64_t maxHeadSize, headSizeStep, minPositions;
  } attention;
  /// Largest head size of attention by tiles, which supports f32 and bf16, every mask, documents and soft caps.
  int64_t maxTileHeadSize;
  /// Transports between ranks, by the names of `--transports`.
  llvm::ArrayRef<llvm::StringLiteral> transports;
  TargetRates rates;
  /// The GPU, and how kernels are launched on it; null for a CPU.
  const GpuInfo *gpu;
  const LaunchLimits *launch;
  /// Whether the arena is in a device's memory. If so, kernels are launched with a launch shape, and the runtime's own
  /// kernels are templates.
  bool onDevice() const { return gpu; }
  /// A result whose next use is at least this many bytes of traffic away is written past the caches; 0: none is.
  int64_t streamDistance;
  /// GEMMs are fast if contiguous dims are multiples of this many bytes; 0: always.
  int64_t matmulMultiple;
  /// A bf16 matmul whose result has at least this many rows copies its right operand into the library's layout
  /// once. Otherwise the library copies it for each block of rows. 0: never.
  int64_t panelRows;
  /// Whether a scatter may sum rows of bf16 into a table of f32.
  bool supportsF32Scatter;
};

/// Whether `arch` is of the family of `older` and has its number or a higher one. A name is a family, a number and
/// perhaps "a", which allows instructions of that number alone: "sm_90a" is of the family "sm_".
bool isSameOrOlder(llvm::StringRef older, llvm::StringRef arch);

/// Returns the row of a target; one with GPUs has a row for each card. Without a card, the row is that of the first
/// card of the architecture; an empty architecture means the target's default. Null if there is no such target or
/// card, or if the GPU is older than all rows.
const TargetInfo *lookupTarget(llvm::StringRef name, llvm::StringRef arch = "", llvm::StringRef card = "");

/// Returns the first card of the GPU's architecture.
const GpuInfo &firstOfArch(const GpuInfo &gpu);

/// Returns the row of the module around `op`: that of `exec.target`, or the CPU's without the attribute,
/// as in graphs and handwritten IR. Null after an error at the module if it names an unknown target.
const TargetInfo *targetOf(mlir::Operation *op);

/// Returns the attribute for a target, with the architecture of the card, or the default one if none is given.
exec::TargetAttr targetAttr(mlir::MLIRContext *context, llvm::StringRef name, llvm::StringRef arch = "",
                            llvm::StringRef card = "");

/// Returns "cpu", "cuda:sm_90" or "cuda:h200": the target that the binary of a module reports.
std::string targetText(mlir::ModuleOp module);

/// Return "cpu, cuda" and "a100, a10, ...", for error messages.
std::string targetNames();
std::string cardNames();

} // namespace braid

#endif // BRAID_LIB_TARGET_TARGETINFO_H
