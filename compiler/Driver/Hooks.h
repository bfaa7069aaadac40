//===- Hooks.h - parses and checks --hook -----------------------*- C++ -*-===//
#ifndef BRAID_COMPILER_DRIVER_HOOKS_H
#define BRAID_COMPILER_DRIVER_HOOKS_H

#include "compiler/Driver/Options.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/Support/Error.h"

namespace braid {

/// Value of --hook that prints the points and stops.
inline constexpr llvm::StringLiteral kListHooks = "list";

/// An action of tg-attach-hooks at a point: `h.0.exit:clip:1.0`.
struct Hook {
  llvm::StringRef point, action;
};

/// Splits `text` into point and action, or returns none if no colon precedes an action.
std::optional<Hook> splitHook(llvm::StringRef text);

/// Returns whether `text` is a valid value of --hook.
bool isHook(std::string_view text);

/// Returns whether the points are asked for instead of a compilation.
inline bool listsHooks(const DriverOptions &options) { return llvm::is_contained(options.hooks, kListHooks); }

/// Checks hooks against the points of the graph `module`, or prints the points. Refuses points that do not exist, and
/// actions that do not apply to their point. The points exist only after differentiation, so a copy without hooks is
/// differentiated: hooks on activations must be attached before.
mlir::LogicalResult checkHooks(mlir::ModuleOp module, const DriverOptions &options);

} // namespace braid

#endif // BRAID_COMPILER_DRIVER_HOOKS_H
