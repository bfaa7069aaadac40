//===- Operand.h - tensors while a program is translated --------*- C++ -*-===//
#ifndef BRAID_LIB_IMPORT_OPERAND_H
#define BRAID_LIB_IMPORT_OPERAND_H

#include "lib/Import/Known.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinTypes.h"

namespace braid {

/// A tensor of the program: its value in the graph, its known elements, or both.
struct Operand {
  mlir::Value value;
  MaybeKnown known;
};

/// Returns the value of an operand, and builds its ops if only its elements are known.
mlir::Value materialize(Operand &operand, mlir::RankedTensorType type, mlir::OpBuilder &builder, mlir::Location loc,
                        bool &hasFailed);

/// Upper limit of elements that code spells out as a constant.
inline constexpr int64_t kMaxConstantElements = 64;

} // namespace braid

#endif // BRAID_LIB_IMPORT_OPERAND_H
