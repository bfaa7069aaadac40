//===- Integers.h - arithmetic of floats and of integers --------*- C++ -*-===//
#ifndef BRAID_LIB_IMPORT_TORCH_INTEGERS_H
#define BRAID_LIB_IMPORT_TORCH_INTEGERS_H

#include "lib/Import/Torch/Translator.h"

namespace braid::torch {

// Builders of rows whose operands are floats or integers.
llvm::SmallVector<mlir::Value> absolute(CallBuilder &call);
llvm::SmallVector<mlir::Value> negate(CallBuilder &call);
/// other - alpha * self.
llvm::SmallVector<mlir::Value> subtractFrom(CallBuilder &call);
llvm::SmallVector<mlir::Value> clamp(CallBuilder &call);
/// The quotient, rounded as the call says: not, toward zero, or toward minus infinity.
llvm::SmallVector<mlir::Value> divide(CallBuilder &call);
llvm::SmallVector<mlir::Value> floorDivide(CallBuilder &call);
/// a - b * floor(a / b).
llvm::SmallVector<mlir::Value> remainder(CallBuilder &call);
llvm::SmallVector<mlir::Value> power(CallBuilder &call);

} // namespace braid::torch

#endif // BRAID_LIB_IMPORT_TORCH_INTEGERS_H
