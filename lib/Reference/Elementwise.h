//===- Elementwise.h - arith and math on single elements --------*- C++ -*-===//
//
// The same scalar functions evaluate arith and math ops on tensors and in the bodies of linalg generics.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_LIB_REFERENCE_ELEMENTWISE_H
#define BRAID_LIB_REFERENCE_ELEMENTWISE_H

#include "lib/Reference/OpTable.h"

namespace braid::reference {

/// Computes the results of an op from its operands; floats are not rounded.
using ElementFunction = std::function<void(const Element *in, Element *out)>;

/// Returns the function of an arith or math op; null for other ops.
ElementFunction elementFunction(mlir::Operation *op);

/// Applies the op to every element; rank-0 operands are repeated.
Results evaluateElementwise(mlir::Operation *op, const ElementFunction &function, const Operands &in);

} // namespace braid::reference

#endif // BRAID_LIB_REFERENCE_ELEMENTWISE_H
