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

/// The `comm` attributes among those of an argument or result: which part of a
/// logical tensor it is.  Null where there are none.
mlir::DictionaryAttr partIn(mlir::DictionaryAttr attributes);

struct PersistentTensor {
  std::string name;
  exec::Category category;
  mlir::RankedTensorType type;
  /// The `#tg.param` or `#tg.state`.
  mlir::Attribute value;
  /// Which part of the logical tensor it is; null for the whole.
  mlir::DictionaryAttr part;
  /// The ranks that hold it; null for all.
  comm::ProgramAttr holders;
  /// With the zeros behind it (ZeroRows.h).
  int64_t bytes, offset;
  /// The argument that named it first.
  mlir::BlockArgument argument;
  /// The pack that it is in; null if it lies alone.
  mlir::StringAttr pack = {};
  /// Whether it lies in the host's memory, in which `offset` is.
  bool isOnHost = false;
  /// The slots that it lies in, of which `offset` is in the first; null if it lies in none.
  mlir::StringAttr slots = {};
};

/// Equal places, one behind the other (`exec.slots`).
struct SlotRange {
  int64_t count, offset = 0, bytes = 0;
  int64_t end() const { return offset + count * bytes; }
};

/// The parameters and states of all programs, each once, by category and then in
/// the order of arguments, with offsets from 0 in the memory that they are in.  Programs
/// that disagree about a tensor are an error.
struct PersistentTensors {
  std::vector<PersistentTensor> tensors;
  llvm::StringMap<unsigned> byName;
  /// By symbol.
  llvm::MapVector<mlir::StringAttr, SlotRange> slots;

  /// The end in the arena of the last that the ranks of a program hold while it runs, a multiple of the alignment.
  int64_t bytesBelow(mlir::func::FuncOp program, int64_t alignment) const;
  /// The same in the host's memory.
  int64_t hostBytesBelow(mlir::func::FuncOp program, int64_t alignment) const;

  /// `rowAlignment` is what rows of transient values are padded to.
  static mlir::FailureOr<PersistentTensors> collect(llvm::ArrayRef<mlir::func::FuncOp> programs, int64_t alignment,
                                                    int64_t rowAlignment);

private:
  int64_t endBelow(mlir::func::FuncOp program, int64_t alignment, bool onHost) const;
  void sort(mlir::ModuleOp module);
  mlir::LogicalResult findSlots(mlir::ModuleOp module);
  void place(llvm::ArrayRef<mlir::func::FuncOp> programs, int64_t alignment);
  void reserveZeroRows(llvm::ArrayRef<mlir::func::FuncOp> programs, int64_t rowAlignment);
};

/// The name of the parameter or state that an argument is, or "".
llvm::StringRef nameOf(mlir::func::FuncOp program, unsigned argument);

/// The name that users know for a persistent tensor.
llvm::StringRef nameOf(exec::TensorOp tensor);

/// The slots that an argument lies in; null for none.
mlir::StringAttr slotsOf(mlir::func::FuncOp program, unsigned argument);

/// Whether an argument lies in the host's memory (`exec.host`).
bool isOnHost(mlir::func::FuncOp program, unsigned argument);

} // namespace braid

#endif // BRAID_LIB_MEMORY_PERSISTENT_H
