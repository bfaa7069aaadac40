//===- ZeroRows.h - rows of zeros after weights -----------------*- C++ -*-===//
//
// The bf16 logits of a vocabulary of 50257 are in rows of 50304 elements (LeadingDimPadding.h).
// If 47 rows of zeros follow the 50257 rows of the embedding, the GEMM that computes the logits
// can compute all 50304 columns, and the GEMMs that read them can contract all 50304. GEMM
// libraries have their fastest kernels for dims that are multiples of 16 bytes.
//
// The planner leaves room for these rows after persistent tensors.  The arena is zeros at the
// start, and nothing writes there.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_LIB_MEMORY_ZEROROWS_H
#define BRAID_LIB_MEMORY_ZEROROWS_H

#include "dialects/Exec/Exec.h"

#include <optional>

namespace braid {

/// Returns the operand (0: left, 1: right) whose rows are the result's columns: its first dim is the last dim of the
/// result, and no other tensor has that dim. No value if there is none, or if the matmul has an epilogue, an
/// accumulator or another result, which have as many columns.
std::optional<unsigned> operandOfColumns(exec::MatmulOp matmul);

/// Returns the bytes of the zero rows that must follow this operand so that the rows of
/// the result can be computed with their padding; 0 if they have none. On values.
int64_t zeroBytesBehind(exec::MatmulOp matmul, unsigned operand, int64_t rowAlignment);

} // namespace braid

#endif // BRAID_LIB_MEMORY_ZEROROWS_H
