//===- Rows.h - row functions of tg and exec --------------------*- C++ -*-===//
//
// Evaluates contraction, gather, scatter, concatenation and random numbers, which both `tg` and `exec` have.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_LIB_REFERENCE_ROWS_H
#define BRAID_LIB_REFERENCE_ROWS_H

#include "dialects/TG/TG.h"
#include "lib/Reference/OpTable.h"

namespace braid::reference {

Tensor contract(tg::ContractionAttr dims, const Tensor &lhs, const Tensor &rhs, mlir::RankedTensorType type);

/// Computes result[i..., :] = table[indices[i...], :]; an index outside the table is an error at `op`.
Results gatherRows(mlir::Operation *op, const Tensor &table, const Tensor &indices);

/// Computes table[indices[i...], :] += updates[i..., :], in order.
Results scatterRows(mlir::Operation *op, const Tensor &indices, const Tensor &updates, Tensor table);

Tensor concatenate(const Operands &in, int64_t dim, mlir::RankedTensorType type);

/// GELU and SiLU of one number, for activations and matmul epilogues.
double gelu(bool tanhForm, double x);
double geluDerivative(bool tanhForm, double x);
double silu(double x);

/// Returns the logarithm of the sum of exp(x(i)), for i below `n`.
double logSumExp(int64_t n, llvm::function_ref<double(int64_t i)> x);

/// Implements the definition of `tg.random_uniform`.
void fillUniform(const Tensor &key, int64_t stream, Tensor &result);

} // namespace braid::reference

#endif // BRAID_LIB_REFERENCE_ROWS_H
