//===- ScalarOps.h - table of scalar ops in C++ -----------------*- C++ -*-===//
//
// Names of `arith` and `math` ops in the kernel layer of the runtime, on row values (`float`, `int32_t`, `int64_t`,
// `bool`) and on lane values (`V`, `VI`, `VM`). bf16 and i8 are storage types: in registers they are floats and 32-bit
// ints.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_COMPILER_CODEGEN_SCALAROPS_H
#define BRAID_COMPILER_CODEGEN_SCALAROPS_H

#include "mlir/IR/Operation.h"
#include "llvm/ADT/ArrayRef.h"
#include <optional>
#include <string>

namespace braid::codegen {

/// Type of a value in a register.
enum class Kind { F32, I32, I64, I1 };

/// Returns the register kind of an element type (index counts as i32), or none.
std::optional<Kind> kindOf(mlir::Type type);
/// Returns the register type: `float`, `V`, …; empty for i64 lanes, which the layer does not support.
llvm::StringRef registerType(Kind kind, bool lane);
/// Returns the type in memory: `float`, `bf16`, …; empty for unsupported types.
llvm::StringRef memoryType(mlir::Type type);

/// A C++ expression of a scalar or lane value.
struct Expr {
  std::string text;
  Kind kind = Kind::F32;
  /// Whether the value differs between rows, and between lanes.
  bool row = false, lane = false;

  /// Returns the expression as a lane value. `lanes` is the template argument with their number, if any.
  std::string asLane(llvm::StringRef lanes) const { return lane ? text : "splat" + lanes.str() + "(" + text + ")"; }
};

/// Returns whether recomputing `op` costs much more than a load.
bool isExpensive(mlir::Operation *op);

/// Returns `op` applied to `operands`: a lane value if any operand is one. Empty if the op is not in the table; the
/// text of operand 0 if the op does nothing in registers. `lanes` is as for Expr::asLane.
std::string printScalarOp(mlir::Operation *op, llvm::ArrayRef<Expr> operands, llvm::StringRef lanes);

} // namespace braid::codegen

#endif // BRAID_COMPILER_CODEGEN_SCALAROPS_H
