//===- Places.h - which values of a program share memory --------*- C++ -*-===//
//
// Gives every value of a program on values its place: a storage (a range of
// bytes still without an address) and a layout in it.  Values share a storage
// where memory says the same thing twice: a view and its source, a concat and
// its operands, an accumulator and the sum, an operand that dies and the result
// written over it, a parameter and its new value.  Where sharing is demanded but
// not possible, a copy kernel is inserted.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_LIB_MEMORY_PLACES_H
#define BRAID_LIB_MEMORY_PLACES_H

#include "dialects/Exec/Exec.h"
#include "lib/Memory/Layout.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/DenseMap.h"

namespace braid {

struct Storage {
  enum class Kind { Input, Persistent, Result, Transient };
  Kind kind;
  int64_t bytes;
  /// Of an input, persistent tensor or result.
  mlir::RankedTensorType type;
  /// The tensor's name in reports: of a persistent tensor its `tg` name, of a
  /// transient one the name of what writes it first.
  std::string name;
  /// Of an input or result.
  std::string role;
  /// Which part of a logical tensor an input or result is: the `comm` attributes of
  /// the argument or result, or null.
  mlir::DictionaryAttr part;
  /// The actions between which it is live, numbered as in `exec.buffer`.
  int64_t first, last;
  /// The action that begins to write it first; null for inputs and persistent tensors.
  mlir::Operation *writer = nullptr;
  /// Those of `bytes` that lie between rows (RowPitch.h); all values of such a storage
  /// have the same rows.
  int64_t gapBytes = 0;
};

struct Place {
  unsigned storage;
  Layout layout;
};

struct Places {
  std::vector<Storage> storages;
  /// Of arguments, results of actions, views and concats.
  llvm::DenseMap<mlir::Value, Place> places;
  /// In block order.
  std::vector<exec::ActionOpInterface> actions;
};

/// Inserts copies into `program` until all ties hold.  Rows of transient values begin
/// at multiples of `rowAlignment` bytes (0: of none) where that is worth its gaps.
mlir::FailureOr<Places> placeValues(mlir::func::FuncOp program, int64_t rowAlignment);

} // namespace braid

#endif // BRAID_LIB_MEMORY_PLACES_H
