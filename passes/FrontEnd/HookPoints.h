//===- HookPoints.h - hook points and their actions -------------*- C++ -*-===//
#ifndef BRAID_PASSES_FRONTEND_HOOKPOINTS_H
#define BRAID_PASSES_FRONTEND_HOOKPOINTS_H

#include "dialects/TG/TG.h"
#include "mlir/IR/BuiltinOps.h"

namespace braid {

/// An action that `tg-attach-hooks` attaches at a hook point.
struct HookAction {
  enum class Kind { Scale, Clip, Norm, Keep };
  Kind kind;
  double amount = 0;

  /// Whether the action returns a result and leaves the value unchanged.
  bool isReport() const { return kind == Kind::Norm || kind == Kind::Keep; }
};

/// Parses `scale:F`, `clip:F` with F above 0, `norm` or `keep`.
std::optional<HookAction> parseHookAction(llvm::StringRef text);

/// Returns up to three of the names that are most similar to `name`, quoted.
std::string similarNames(llvm::StringRef name, llvm::ArrayRef<llvm::StringRef> names);

/// Returns the hooks called `name`, sorted by `order`, then by position in the module.
llvm::SmallVector<tg::HookOp> findHooks(mlir::ModuleOp module, llvm::StringRef name);

/// Like `findHooks`, but fails with a message that names similar points if there is none.
mlir::FailureOr<llvm::SmallVector<tg::HookOp>> hooksNamed(mlir::ModuleOp module, llvm::StringRef name);

} // namespace braid

#endif // BRAID_PASSES_FRONTEND_HOOKPOINTS_H
