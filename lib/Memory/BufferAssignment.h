//===- BufferAssignment.h - assigns values to buffers -----------*- C++ -*-===//
//
// Assigns every value of a program to a place: a storage (a range of bytes that has
// no address yet) and a layout in it.  Values that alias share a storage: a view and
// its source, a concat and its operands, an accumulator and the sum, an operand at its
// last use and the result that overwrites it, a parameter and its new value.  Where
// values must alias but cannot, a copy kernel is inserted.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_LIB_MEMORY_BUFFERASSIGNMENT_H
#define BRAID_LIB_MEMORY_BUFFERASSIGNMENT_H

#include "dialects/Exec/Exec.h"
#include "lib/Memory/Layout.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/DenseMap.h"

namespace braid {

struct Storage {
  enum class Kind { Input, Persistent, Result, Transient };
  Kind kind;
  int64_t bytes;
  /// Tensor type of an input, persistent tensor or result.
  mlir::RankedTensorType type;
  /// Name of the tensor in reports: the `tg` name of a persistent tensor; for a
  /// transient tensor, the name of its first content (ContentNames.h).
  std::string name;
  /// Role of an input or result.
  std::string role;
  /// Part of a logical tensor that an input or result is: the `comm` attributes of the argument or result, or null.
  mlir::DictionaryAttr part;
  /// Actions that read or write it, in block order.
  llvm::SmallVector<unsigned, 4> users = {};
  /// First and last action of its live range, numbered as in `exec.buffer`.
  int64_t first = 0, last = -1;
  /// First action that writes it; null for inputs and persistent tensors.
  mlir::Operation *writer = nullptr;
  /// Number of the last action that writes it; -1 for inputs.
  int64_t lastWriter = -1;
  /// Bytes among `bytes` that pad rows (LeadingDimPadding.h). All values of a padded storage have the same rows.
  int64_t paddingBytes = 0;
  /// Whether it is in the host's memory, because a comm.copy to the host writes it.
  bool isOnHost = false;
};

struct Place {
  unsigned storage;
  Layout layout;
};

struct Places {
  std::vector<Storage> storages;
  /// Places of arguments, results of actions, views and concats.
  llvm::DenseMap<mlir::Value, Place> places;
  /// Actions in block order.
  std::vector<exec::ActionOpInterface> actions;
};

/// Assigns all values of `program`, and inserts copies where values cannot alias. Pads
/// rows of transient values to multiples of `rowAlignment` bytes (0: never) if the padding
/// is small. If the program carries an assignment, reads that instead.
mlir::FailureOr<Places> assignBuffers(mlir::func::FuncOp program, int64_t rowAlignment);

/// Assigns the views of `block`, whose other values have places.
void assignViews(mlir::Block &block, Places &places);

} // namespace braid

#endif // BRAID_LIB_MEMORY_BUFFERASSIGNMENT_H
