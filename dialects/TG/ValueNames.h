//===- ValueNames.h - what a value is called --------------------*- C++ -*-===//
//
// Who makes an op knows what its result is called: the author of a graph, who writes
// `%residual = …`, and the author of a decomposition, who writes `named("mean", …)`.
// It stands in the op's location, in a NameLoc that begins with `%`, so passes hand it on
// as they hand on facts, and generated code calls values and parameters by it.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_DIALECTS_TG_VALUENAMES_H
#define BRAID_DIALECTS_TG_VALUENAMES_H

#include "mlir/IR/Location.h"
#include "mlir/IR/Value.h"

namespace braid::tg {

/// Whether a name in a location is that of a value; other names are of layers and ops.
inline bool isValueName(mlir::StringAttr name) { return name.getValue().starts_with("%"); }

/// The name without `%`, or "".  Where a location is fused, the first part counts.
llvm::StringRef valueNameOf(mlir::Location loc);

/// The location without the names of values, and with this one instead ("" for none).  The
/// number that makes a name unique in its graph, as in `%residual_12`, is left out.
mlir::Location withoutValueName(mlir::Location loc);
mlir::Location withValueName(mlir::Location loc, llvm::StringRef name);

/// Says what a value is called whose op has just been made; returns it.
mlir::Value named(llvm::StringRef name, mlir::Value value);

/// What an argument of a program or the result of an op is called: a parameter or state by
/// what it is (`master`, `exp_avg`), an input by its role, a gradient of a parameter
/// `gradient`, and everything else by the name that its location has.  Names that users give
/// to parameters, inputs and layers are in none, so layers share kernels and names of theirs
/// cannot become code.
std::string nameOfOperand(mlir::Value value);
/// What an op calls its result, or else what the result is to a parameter.
std::string nameOfResult(mlir::Operation *op);

} // namespace braid::tg

#endif // BRAID_DIALECTS_TG_VALUENAMES_H
