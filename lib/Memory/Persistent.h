//===- Persistent.h - tensors that live across programs ---------*- C++ -*-===//
#ifndef BRAID_LIB_MEMORY_PERSISTENT_H
#define BRAID_LIB_MEMORY_PERSISTENT_H

#include "dialects/Comm/Programs.h"
#include "dialects/Exec/Exec.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
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
  int64_t bytes, offset;
  /// The argument that named it first.
  mlir::BlockArgument argument;
};

/// The parameters and states of all programs, each once, by category and then in
/// the order of arguments, with offsets from 0.  Programs that disagree about a
/// tensor are an error.
struct PersistentTensors {
  std::vector<PersistentTensor> tensors;
  llvm::StringMap<unsigned> byName;

  /// The end of the last that the ranks of a program hold, a multiple of the alignment.
  int64_t bytesBelow(mlir::func::FuncOp program, int64_t alignment) const;

  static mlir::FailureOr<PersistentTensors> collect(llvm::ArrayRef<mlir::func::FuncOp> programs, int64_t alignment);
};

} // namespace braid

#endif // BRAID_LIB_MEMORY_PERSISTENT_H
