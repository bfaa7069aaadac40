//===- ScalarOps.h - the table of scalar ops in C++ -------------*- C++ -*-===//
//
// What an op of `arith` or `math` is called in the kernel layer of the runtime,
// on row values (`float`, `int32_t`, `int64_t`, `bool`) and on lane values (`V`,
// `VI`, `VM`).  bf16 and i8 are storage types: in registers they are floats and 32-bit ints.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_LIB_CODEGEN_SCALAROPS_H
#define BRAID_LIB_CODEGEN_SCALAROPS_H

#include "mlir/IR/Operation.h"
#include "llvm/ADT/ArrayRef.h"
#include <optional>
#include <string>

namespace braid::codegen {

/// What a value is in a register.
enum class Kind { F32, I32, I64, I1 };

/// The register kind of an element type (index counts as i32), or nothing.
std::optional<Kind> kindOf(mlir::Type type);
/// `float`, `V`, …; empty for i64 lanes, which the layer has not.
llvm::StringRef registerType(Kind kind, bool lane);
/// `float`, `bf16`, …: the type in memory; empty for unsupported types.
llvm::StringRef memoryType(mlir::Type type);

/// A C++ expression of a scalar or lane value.
struct Expr {
  std::string text;
  Kind kind = Kind::F32;
  /// Whether it differs between rows, and between lanes.
  bool row = false, lane = false;

  /// The expression as a lane value; `lanes` is their number where a template takes it.
  std::string asLane(llvm::StringRef lanes) const { return lane ? text : "splat" + lanes.str() + "(" + text + ")"; }
};

/// Whether recomputing `op` costs much more than a load.
bool isExpensive(mlir::Operation *op);

/// `op` over `operands`; a lane value if one of them is.  Empty when the op is not
/// in the table; the text of operand 0 when it does nothing in registers.  `lanes` as for
/// Expr::asLane.
std::string printScalarOp(mlir::Operation *op, llvm::ArrayRef<Expr> operands, llvm::StringRef lanes);

} // namespace braid::codegen

#endif // BRAID_LIB_CODEGEN_SCALAROPS_H
