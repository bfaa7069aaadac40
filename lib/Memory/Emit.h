//===- Emit.h - a planned program in memory form ----------------*- C++ -*-===//
#ifndef BRAID_LIB_MEMORY_EMIT_H
#define BRAID_LIB_MEMORY_EMIT_H

#include "lib/Memory/Persistent.h"
#include "lib/Memory/Places.h"

namespace braid {

/// A transient buffer with its address.
struct PlannedBuffer {
  std::string symbol;
  int64_t offset, bytes, first, last;
  llvm::StringRef cause;
  std::string name;
  /// Whether it stands right behind the persistent tensors, the same in all programs.
  bool isAtBase = false;
  /// How many of its bytes lie between rows.
  int64_t gapBytes = 0;
};

/// What is known of a program once its buffers have addresses.
struct PlannedProgram {
  const Places &places;
  /// The buffer of each storage; persistent storages have -1.
  std::vector<int64_t> bufferOf;
  std::vector<PlannedBuffer> buffers;
  int64_t arenaBytes;
};

/// Writes an `exec.tensor` for each; gives their symbols.
llvm::StringMap<std::string> emitTensors(mlir::OpBuilder &builder, mlir::ModuleOp module,
                                         const PersistentTensors &tensors);

/// Writes the `exec.program` at the builder's place.  Takes the kernels' bodies
/// out of `program`, which is then of no use.
exec::ProgramOp emitProgram(mlir::OpBuilder &builder, mlir::func::FuncOp program, const PlannedProgram &plan,
                            const llvm::StringMap<std::string> &tensorSymbols);

} // namespace braid

#endif // BRAID_LIB_MEMORY_EMIT_H
