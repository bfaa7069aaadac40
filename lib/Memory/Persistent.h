//===- Persistent.h - tensors that live across programs ---------*- C++ -*-===//
#ifndef BRAID_LIB_MEMORY_PERSISTENT_H
#define BRAID_LIB_MEMORY_PERSISTENT_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/StringMap.h"

namespace braid {

struct PersistentTensor {
  std::string name;
  llvm::StringRef cause;
  mlir::RankedTensorType type;
  /// The `#tg.param` or `#tg.state`.
  mlir::Attribute value;
  int64_t bytes, offset;
  /// The argument that named it first.
  mlir::BlockArgument argument;
};

/// The parameters and states of all programs, each once, by cause and then in
/// the order of arguments, with offsets from 0.  Programs that disagree about a
/// tensor are an error.
struct PersistentTensors {
  std::vector<PersistentTensor> tensors;
  llvm::StringMap<unsigned> byName;
  /// The end of the last, a multiple of the alignment.
  int64_t bytes = 0;

  static mlir::FailureOr<PersistentTensors> collect(llvm::ArrayRef<mlir::func::FuncOp> programs, int64_t alignment);
};

} // namespace braid

#endif // BRAID_LIB_MEMORY_PERSISTENT_H
