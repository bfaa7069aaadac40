//===- Hooks.h - what happens at points of the graph, understood -*- C++ -*-===//
#ifndef BRAID_LIB_DRIVER_HOOKS_H
#define BRAID_LIB_DRIVER_HOOKS_H

#include "lib/Driver/Options.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/Support/Error.h"

namespace braid {

/// Instead of a hook: print the points and stop.
inline constexpr llvm::StringLiteral kListHooks = "list";

/// An action of tg-attach-hooks at a point: `h.0.exit:clip:1.0`.
struct Hook {
  llvm::StringRef point, action;
};

/// Nothing where no colon has an action behind it.
std::optional<Hook> splitHook(llvm::StringRef text);

/// What --hook= takes.
bool isHook(std::string_view text);

/// Prints the points of a module that was differentiated.
void printHookPoints(llvm::raw_ostream &os, mlir::ModuleOp module);

/// Refuses points that such a module does not have, and actions that make no sense there.
llvm::Error checkHooks(mlir::ModuleOp module, const DriverOptions &options);

} // namespace braid

#endif // BRAID_LIB_DRIVER_HOOKS_H
