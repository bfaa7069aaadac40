//===- SelectMatmul.h - contractions as GEMM calls or kernels ---*- C++ -*-===//
#ifndef BRAID_PASSES_SELECT_SELECTMATMUL_H
#define BRAID_PASSES_SELECT_SELECTMATMUL_H

#include "dialects/Exec/Exec.h"
#include "dialects/TG/TG.h"
#include "lib/Target/TargetInfo.h"

namespace braid {

/// Rewrites contractions that are not matmuls (nothing contracted, only dot products, or one vector for each matrix of
/// a batch) as broadcast, multiply and reduce. Returns null for others.
mlir::Value expandContraction(mlir::OpBuilder &builder, tg::ContractOp contract);

/// Returns the library call for a contraction. Copies operands whose strides no GEMM supports. A result order that no
/// GEMM writes becomes a view.
mlir::Value selectMatmul(mlir::OpBuilder &builder, tg::ContractOp contract);

/// Copies the operands of an existing call whose strides no GEMM supports.
void legalizeOperands(exec::MatmulOp matmul);

/// Moves a bias into the call whose only use is the addition `add`. Returns the new call, or null.
exec::MatmulOp fuseBias(mlir::arith::AddFOp add, const TargetInfo &target);

/// Makes a call (matmul or scatter_add) accumulate into the other operand of `add`, if nothing else reads that.
/// Returns whether it did.
bool fuseAccumulation(mlir::arith::AddFOp add);

/// Whether a single GEMM of the call computes whole rows of the last dim, as epilogues with a bias or an activation
/// require.
bool supportsEpilogue(exec::MatmulOp matmul);

} // namespace braid

#endif // BRAID_PASSES_SELECT_SELECTMATMUL_H
