//===- HookPoints.cpp - hook points and their actions ---------------------===//

#include "passes/FrontEnd/HookPoints.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringExtras.h"
#include <cmath>

using namespace mlir;
using namespace braid;
using namespace braid::tg;

std::string braid::similarNames(StringRef name, ArrayRef<StringRef> names) {
  SmallVector<StringRef> sorted(names);
  llvm::stable_sort(sorted, [&](StringRef a, StringRef b) { return a.edit_distance(name) < b.edit_distance(name); });
  sorted.truncate(std::min<size_t>(sorted.size(), 3));
  return "\"" + llvm::join(sorted, "\", \"") + "\"";
}

std::optional<HookAction> braid::parseHookAction(StringRef text) {
  using Kind = HookAction::Kind;
  if (text == "norm")
    return HookAction{Kind::Norm};
  if (text == "keep")
    return HookAction{Kind::Keep};
  auto [word, number] = text.split(':');
  HookAction action{word == "scale" ? Kind::Scale : Kind::Clip};
  if ((word != "scale" && word != "clip") || number.getAsDouble(action.amount) || !std::isfinite(action.amount))
    return std::nullopt;
  if (action.kind == Kind::Clip && !(action.amount > 0))
    return std::nullopt;
  return action;
}

SmallVector<HookOp> braid::findHooks(ModuleOp module, StringRef name) {
  SmallVector<HookOp> hooks;
  module.walk([&](HookOp hook) {
    if (hook.getName() == name)
      hooks.push_back(hook);
  });
  llvm::stable_sort(hooks, [](HookOp a, HookOp b) { return a.getOrder() < b.getOrder(); });
  return hooks;
}

FailureOr<SmallVector<HookOp>> braid::hooksNamed(ModuleOp module, StringRef name) {
  SmallVector<HookOp> hooks = findHooks(module, name);
  if (!hooks.empty())
    return hooks;
  llvm::SetVector<StringRef> names;
  module.walk([&](HookOp hook) { names.insert(hook.getName()); });
  InFlightDiagnostic diagnostic = module.emitError() << "no hook point is called \"" << name << "\"; ";
  if (names.empty())
    return diagnostic << "the module has no hook points";
  return diagnostic << "similar: " << similarNames(name, names.getArrayRef());
}
