//===- Rows.h - what ops of both levels do with rows ------------*- C++ -*-===//
//
// Contraction, gather, scatter, concatenation and random numbers appear in `tg`
// and again in `exec`; they are evaluated by these.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_LIB_REFERENCE_ROWS_H
#define BRAID_LIB_REFERENCE_ROWS_H

#include "dialects/TG/TG.h"
#include "lib/Reference/OpTable.h"

namespace braid::reference {

Tensor contract(tg::ContractionAttr dims, const Tensor &lhs, const Tensor &rhs, mlir::RankedTensorType type);

/// result[i..., :] = table[indices[i...], :]; an index outside is an error at
/// `op`.
Results gatherRows(mlir::Operation *op, const Tensor &table, const Tensor &indices);

/// table[indices[i...], :] += updates[i..., :], in order.
Results scatterRows(mlir::Operation *op, const Tensor &indices, const Tensor &updates, Tensor table);

Tensor concatenate(const Operands &in, int64_t dim, mlir::RankedTensorType type);

/// GELU and SiLU of one number: activations and matmul epilogues.
double gelu(bool tanhForm, double x);
double geluDerivative(bool tanhForm, double x);
double silu(double x);

/// `tg.random_uniform`'s definition.
void fillUniform(const Tensor &key, int64_t stream, Tensor &result);

} // namespace braid::reference

#endif // BRAID_LIB_REFERENCE_ROWS_H
