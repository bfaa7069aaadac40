//===- HookPoints.h - points of a graph, and what happens there --*- C++ -*-===//
#ifndef BRAID_PASSES_GRAPH_HOOKPOINTS_H
#define BRAID_PASSES_GRAPH_HOOKPOINTS_H

#include "dialects/TG/TG.h"
#include "mlir/IR/BuiltinOps.h"

namespace braid {

/// What `tg-attach-hooks` puts at a point.
struct HookAction {
  enum class Kind { Scale, Clip, Norm, Keep };
  Kind kind;
  double amount = 0;

  /// Whether it leaves the value as it is, and returns something.
  bool isReport() const { return kind == Kind::Norm || kind == Kind::Keep; }
};

/// `scale:F`, `clip:F` with F above 0, `norm` or `keep`.
std::optional<HookAction> parseHookAction(llvm::StringRef text);

/// Up to three of the names, quoted, that differ least from `name`.
std::string similarNames(llvm::StringRef name, llvm::ArrayRef<llvm::StringRef> names);

/// The hooks called `name`, by `order`, then as they stand in the module.
llvm::SmallVector<tg::HookOp> findHooks(mlir::ModuleOp module, llvm::StringRef name);

/// The same; fails with a message that names similar points when there is none.
mlir::FailureOr<llvm::SmallVector<tg::HookOp>> hooksNamed(mlir::ModuleOp module, llvm::StringRef name);

} // namespace braid

#endif // BRAID_PASSES_GRAPH_HOOKPOINTS_H
