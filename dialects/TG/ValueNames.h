//===- ValueNames.h - names of values ---------------------------*- C++ -*-===//
//
// Two authors name the result of an op: the author of a graph writes `%residual = …`, and
// the author of a decomposition writes `named("mean", …)`. The name is stored in the op's
// location, in a NameLoc that begins with `%`, so passes keep it as they keep facts.
// Generated code uses it for values and parameters.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_DIALECTS_TG_VALUENAMES_H
#define BRAID_DIALECTS_TG_VALUENAMES_H

#include "mlir/IR/Location.h"
#include "mlir/IR/Value.h"

namespace braid::tg {

/// Returns whether a name in a location is the name of a value; other names are those of layers and ops.
inline bool isValueName(mlir::StringAttr name) { return name.getValue().starts_with("%"); }

/// Returns the name without `%`, or "". In a fused location the first part counts.
llvm::StringRef valueNameOf(mlir::Location loc);

/// Returns the location with all names of values replaced by this one ("" for none). Drops
/// the number that makes a name unique in its graph, as in `%residual_12`.
mlir::Location withoutValueName(mlir::Location loc);
mlir::Location withValueName(mlir::Location loc, llvm::StringRef name);

/// Names a value whose op has just been made; returns the value.
mlir::Value named(llvm::StringRef name, mlir::Value value);

/// Returns the name of an argument of a program or of the result of an op. A parameter or
/// state is named after its kind (`master`, `exp_avg`), an input after its role, and a
/// gradient of a parameter `gradient`; any other value has the name in its location. Names
/// that users give to parameters, inputs and layers are never used, so that layers share
/// kernels and user names cannot become code.
std::string nameOfOperand(mlir::Value value);
/// Returns the name that an op gives its result, else the kind of the result for its parameter.
std::string nameOfResult(mlir::Operation *op);

} // namespace braid::tg

#endif // BRAID_DIALECTS_TG_VALUENAMES_H
