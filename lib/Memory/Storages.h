//===- Storages.h - storages of arguments and results -----------*- C++ -*-===//
#ifndef BRAID_LIB_MEMORY_STORAGES_H
#define BRAID_LIB_MEMORY_STORAGES_H

#include "lib/Memory/BufferAssignment.h"

namespace braid {

/// Adds the storages of persistent tensors, packs and inputs, and the places of arguments and
/// of concatenations of packs.
void addArguments(mlir::func::FuncOp program, Places &places);
/// Returns the storage of a result that updates no argument.
Storage resultStorage(mlir::func::FuncOp program, unsigned index);
Storage transientStorage(mlir::RankedTensorType type);

/// Fails if an argument or a result is not a tensor that memory can hold.
mlir::LogicalResult checkSignature(mlir::func::FuncOp program);
/// Fails if the bytes of all storages are so many that their sums, with padding, could overflow.
mlir::LogicalResult checkSum(mlir::func::FuncOp program, llvm::ArrayRef<Storage> storages);

} // namespace braid

#endif // BRAID_LIB_MEMORY_STORAGES_H
