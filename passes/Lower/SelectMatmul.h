//===- SelectMatmul.h - contractions as GEMM calls or kernels ---*- C++ -*-===//
#ifndef BRAID_PASSES_LOWER_SELECTMATMUL_H
#define BRAID_PASSES_LOWER_SELECTMATMUL_H

#include "dialects/Exec/Exec.h"
#include "dialects/TG/TG.h"
#include "lib/Target/TargetInfo.h"

namespace braid {

/// Rewrites contractions that are no matmul (nothing contracted, only dot products, or a vector for
/// each matrix of a batch) as broadcast, multiply and reduce.  Returns null for others.
mlir::Value expandContraction(mlir::OpBuilder &builder, tg::ContractOp contract);

/// The library call for a contraction.  Operands whose strides no GEMM takes are
/// copied, and a result order that none writes becomes a view.
mlir::Value selectMatmul(mlir::OpBuilder &builder, tg::ContractOp contract);

/// Copies operands of an existing call whose strides no GEMM takes.
void legalizeOperands(exec::MatmulOp matmul);

/// Moves a bias that is added to the only use of a call into the call; returns
/// the new call, or null.
exec::MatmulOp fuseBias(mlir::arith::AddFOp add, const TargetInfo &target);

/// Lets a call (matmul or scatter_add) add into the other operand of `add`,
/// which nothing else reads.
bool fuseAccumulation(mlir::arith::AddFOp add);

/// True if a single GEMM of the call computes whole rows of the last dim, as a bias and an
/// activation need.
bool takesEpilogue(exec::MatmulOp matmul);

} // namespace braid

#endif // BRAID_PASSES_LOWER_SELECTMATMUL_H
