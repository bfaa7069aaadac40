//===- Persistent.h - tensors that live across programs ---------*- C++ -*-===//
#ifndef BRAID_LIB_MEMORY_PERSISTENT_H
#define BRAID_LIB_MEMORY_PERSISTENT_H

#include "dialects/Comm/Programs.h"
#include "dialects/Exec/Exec.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/StringMap.h"

namespace braid {

/// Returns the `comm` attributes among those of an argument or result, which say which
/// part of a logical tensor it is. Null if there are none.
mlir::DictionaryAttr partIn(mlir::DictionaryAttr attributes);

struct PersistentTensor {
  std::string name;
  exec::Category category;
  mlir::RankedTensorType type;
  /// The `#tg.param` or `#tg.state`.
  mlir::Attribute value;
  /// Part of the logical tensor; null for the whole.
  mlir::DictionaryAttr part;
  /// Ranks that hold it; null for all.
  comm::ProgramAttr holders;
  /// Bytes, including the zeros after it (ZeroRows.h), and offset.
  int64_t bytes, offset;
  /// Argument that named it first.
  mlir::BlockArgument argument;
  /// Pack that contains it; null if there is none.
  mlir::StringAttr pack = {};
  /// Whether it is in the host's memory; `offset` is then in that memory.
  bool isOnHost = false;
  /// Slots that contain it; null if none do. `offset` is then in the first slot.
  mlir::StringAttr slots = {};
};

/// Adjacent places of equal size (`exec.slots`).
struct SlotRange {
  int64_t count, offset = 0, bytes = 0;
  int64_t end() const { return offset + count * bytes; }
};

/// The parameters and states of all programs, each once, by category and then in the order of
/// arguments, with offsets from 0 in their memory. Programs that disagree about a tensor are an error.
struct PersistentTensors {
  std::vector<PersistentTensor> tensors;
  llvm::StringMap<unsigned> byName;
  /// Slots by symbol.
  llvm::MapVector<mlir::StringAttr, SlotRange> slots;

  /// Returns the end in the arena of the tensors that the ranks of a program hold while it runs, a multiple
  /// of the alignment.
  int64_t bytesBelow(mlir::func::FuncOp program, int64_t alignment) const;
  /// Returns the end in the host's memory, likewise.
  int64_t hostBytesBelow(mlir::func::FuncOp program, int64_t alignment) const;

  /// Collects the tensors of all programs. Rows of transient values are padded to `rowAlignment`.
  static mlir::FailureOr<PersistentTensors> collect(llvm::ArrayRef<mlir::func::FuncOp> programs, int64_t alignment,
                                                    int64_t rowAlignment);

private:
  int64_t endBelow(mlir::func::FuncOp program, int64_t alignment, bool onHost) const;
  void sort(mlir::ModuleOp module);
  mlir::LogicalResult findSlots(mlir::ModuleOp module);
  void place(llvm::ArrayRef<mlir::func::FuncOp> programs, int64_t alignment);
  void reserveZeroRows(llvm::ArrayRef<mlir::func::FuncOp> programs, int64_t rowAlignment);
};

/// Returns the name of the parameter or state of an argument, or "".
llvm::StringRef nameOf(mlir::func::FuncOp program, unsigned argument);

/// Returns the name of a persistent tensor in the user's model.
llvm::StringRef nameOf(exec::TensorOp tensor);

/// Returns the slots that contain an argument; null if none do.
mlir::StringAttr slotsOf(mlir::func::FuncOp program, unsigned argument);

/// Returns whether an argument is in the host's memory (`exec.host`).
bool isOnHost(mlir::func::FuncOp program, unsigned argument);

} // namespace braid

#endif // BRAID_LIB_MEMORY_PERSISTENT_H
