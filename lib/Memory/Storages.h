//===- Storages.h - what a program's storages are for -----------*- C++ -*-===//
#ifndef BRAID_LIB_MEMORY_STORAGES_H
#define BRAID_LIB_MEMORY_STORAGES_H

#include "lib/Memory/BufferAssignment.h"

namespace braid {

/// The storage of an argument: of a persistent tensor or an input.
Storage argumentStorage(mlir::func::FuncOp program, unsigned index);
/// The storage of a result that updates nothing.
Storage resultStorage(mlir::func::FuncOp program, unsigned index);
Storage transientStorage(mlir::RankedTensorType type);

} // namespace braid

#endif // BRAID_LIB_MEMORY_STORAGES_H
