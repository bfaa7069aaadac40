//===- Storages.h - what a program's storages are for -----------*- C++ -*-===//
#ifndef BRAID_LIB_MEMORY_STORAGES_H
#define BRAID_LIB_MEMORY_STORAGES_H

#include "lib/Memory/BufferAssignment.h"

namespace braid {

/// Adds the storages of persistent tensors, packs and inputs, and the places of arguments and
/// of what packs are.
void addArguments(mlir::func::FuncOp program, Places &places);
/// The storage of a result that updates nothing.
Storage resultStorage(mlir::func::FuncOp program, unsigned index);
Storage transientStorage(mlir::RankedTensorType type);

/// Fails where an argument or a result is no tensor that memory can hold.
mlir::LogicalResult checkSignature(mlir::func::FuncOp program);
/// Fails where the bytes of all storages are so many that sums of them, with padding, could
/// overflow.
mlir::LogicalResult checkSum(mlir::func::FuncOp program, llvm::ArrayRef<Storage> storages);

} // namespace braid

#endif // BRAID_LIB_MEMORY_STORAGES_H
