//===- Combiners.h - sums, products, maxima of two tensors ------*- C++ -*-===//
#ifndef BRAID_LIB_IMPORT_STABLEHLO_COMBINERS_H
#define BRAID_LIB_IMPORT_STABLEHLO_COMBINERS_H

#include "lib/Import/StableHLO/Translator.h"

namespace braid::stablehlo {

enum class Combiner { Add, Multiply, Maximum, Minimum, And, Or };

/// Returns how a region of an op combines two elements; nothing if it does anything else.
std::optional<Combiner> combinerOf(SourceOp &op, unsigned region = 0);

/// Returns the combiner of a reduction whose first value, operand 1, changes nothing; nothing for another reduction.
std::optional<Combiner> reducerOf(SourceOp &op);

/// Returns the value that changes nothing, or nothing if the elements have none.
std::optional<double> neutralOf(Combiner kind, mlir::Type element);

/// Combines two tensors elementwise. The gradient of a maximum or minimum of equal floats flows to `a`, as in a pool of
/// JAX.
mlir::Value combined(SourceOp &op, Combiner kind, mlir::Value a, mlir::Value b);

} // namespace braid::stablehlo

#endif // BRAID_LIB_IMPORT_STABLEHLO_COMBINERS_H
