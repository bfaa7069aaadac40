//===- Emit.h - a planned program in memory form ----------------*- C++ -*-===//
#ifndef BRAID_LIB_MEMORY_EMIT_H
#define BRAID_LIB_MEMORY_EMIT_H

#include "lib/Memory/BufferAssignment.h"
#include "lib/Memory/Persistent.h"

namespace braid {

/// A transient buffer with its address.
struct PlannedBuffer {
  std::string symbol;
  int64_t offset, bytes, first, last;
  exec::Category category;
  std::string name;
  /// Whether it is the scratch memory of library calls, which directly follows the
  /// persistent tensors, at the same offset in all programs.
  bool isScratch = false;
  /// Bytes that pad rows.
  int64_t paddingBytes = 0;
  /// Whether the offset is in the host's memory.
  bool isOnHost = false;
};

/// A program whose buffers have addresses.
struct PlannedProgram {
  const Places &places;
  /// Buffer of each storage; -1 for persistent storages.
  std::vector<int64_t> bufferOf;
  std::vector<PlannedBuffer> buffers;
  int64_t arenaBytes;
};

/// Writes an `exec.tensor` for each persistent tensor; returns their symbols by name.
llvm::StringMap<std::string> emitTensors(mlir::OpBuilder &builder, mlir::ModuleOp module,
                                         const PersistentTensors &tensors);

/// Writes the `exec.program` at the builder's insertion point. Moves the bodies of kernels
/// out of `program`, which cannot be used afterwards.
exec::ProgramOp emitProgram(mlir::OpBuilder &builder, mlir::func::FuncOp program, const PlannedProgram &plan,
                            const llvm::StringMap<std::string> &tensorSymbols);

} // namespace braid

#endif // BRAID_LIB_MEMORY_EMIT_H
