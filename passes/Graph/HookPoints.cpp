//===- HookPoints.cpp - finding hooks by name -----------------------------===//

#include "passes/Graph/HookPoints.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace braid;
using namespace braid::tg;

/// Up to three names that differ least from `name`.
static SmallVector<StringRef> similarNames(StringRef name, ArrayRef<StringRef> names) {
  SmallVector<StringRef> sorted(names);
  llvm::stable_sort(sorted, [&](StringRef a, StringRef b) { return a.edit_distance(name) < b.edit_distance(name); });
  sorted.truncate(std::min<size_t>(sorted.size(), 3));
  return sorted;
}

FailureOr<SmallVector<HookOp>> braid::hooksNamed(ModuleOp module, StringRef name) {
  SmallVector<HookOp> hooks;
  llvm::SetVector<StringRef> names;
  module.walk([&](HookOp hook) {
    names.insert(hook.getName());
    if (hook.getName() == name)
      hooks.push_back(hook);
  });
  if (hooks.empty()) {
    InFlightDiagnostic diagnostic = module.emitError() << "no hook point is called \"" << name << "\"; ";
    if (names.empty())
      return diagnostic << "the module has none";
    diagnostic << "similar: ";
    llvm::interleaveComma(similarNames(name, names.getArrayRef()), diagnostic,
                          [&](StringRef similar) { diagnostic << "\"" << similar << "\""; });
    return diagnostic;
  }
  llvm::stable_sort(hooks, [](HookOp a, HookOp b) { return a.getOrder() < b.getOrder(); });
  return hooks;
}
