//===- Hooks.cpp - parses and checks --hook -------------------------------===//

#include "compiler/Driver/Hooks.h"
#include "compiler/Driver/OutputFile.h"
#include "compiler/Driver/Pipeline.h"
#include "dialects/TG/Facts.h"
#include "passes/FrontEnd/HookPoints.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Support/FormatAdapters.h"

using namespace llvm;
using namespace mlir;
using namespace braid;

std::optional<Hook> braid::splitHook(StringRef text) {
  // Parameter names may contain colons, and points of their gradients contain one.
  for (size_t colon = text.find(':'); colon != StringRef::npos; colon = text.find(':', colon + 1))
    if (StringRef action = text.drop_front(colon + 1); colon > 0 && parseHookAction(action))
      return Hook{text.take_front(colon), action};
  return std::nullopt;
}

bool braid::isHook(std::string_view text) { return StringRef(text) == kListHooks || splitHook(text); }

//===----------------------------------------------------------------------===//
// The points of a module
//===----------------------------------------------------------------------===//

/// Returns the points of the training program. Other programs have a subset of them.
static SmallVector<tg::HookOp> pointsOf(ModuleOp module) {
  SmallVector<tg::HookOp> points;
  module.lookupSymbol("train")->walk([&](tg::HookOp hook) { points.push_back(hook); });
  return points;
}

/// Returns the phase of a point: forward for values, backward for their gradients, update for gradients of parameters.
static tg::Phase phaseOf(tg::HookOp hook) { return *tg::phaseOf(hook); }

static void printHookPoints(raw_ostream &os, ModuleOp module) {
  SmallVector<tg::HookOp> points = pointsOf(module);
  stable_sort(points, [](tg::HookOp a, tg::HookOp b) { return phaseOf(a) < phaseOf(b); });
  size_t width = 0;
  for (tg::HookOp hook : points)
    width = std::max(width, hook.getName().size());
  constexpr StringLiteral kinds[] = {"value", "gradient", "gradient of a parameter"};
  for (tg::HookOp hook : points)
    os << left_justify(hook.getName(), width) << "  " << left_justify(kinds[static_cast<int>(phaseOf(hook))], 23)
       << "  " << hook.getType() << "\n";
}

/// Refuses hooks that would see one microbatch although a norm or a bound concerns the whole step.
static Error checkMicrobatches(StringRef text, tg::HookOp hook, const DriverOptions &options) {
  if (options.accumulate == 1 || phaseOf(hook) == tg::Phase::Update ||
      parseHookAction(splitHook(text)->action)->kind == HookAction::Kind::Scale)
    return Error::success();
  return makeError("--hook=" + text + " with --accumulate=" + Twine(options.accumulate) +
                   ": the point sees one microbatch, not the batch: use scale:F there, or gradients of parameters "
                   "(param:NAME), which belong to the whole step, or leave --accumulate out");
}

/// Checks hooks against the points of a differentiated module.
static Error checkPoints(ModuleOp module, const DriverOptions &options) {
  SmallVector<tg::HookOp> points = pointsOf(module);
  llvm::SetVector<StringRef> names;
  for (tg::HookOp hook : points)
    names.insert(hook.getName());
  for (StringRef text : options.hooks) {
    StringRef name = splitHook(text)->point;
    auto point = find_if(points, [&](tg::HookOp hook) { return hook.getName() == name; });
    if (point == points.end())
      return makeError("--hook=" + text + ": no hook point is called \"" + name + "\"; similar: " +
                       similarNames(name, names.getArrayRef()) + "; --hook=" + kListHooks + " prints all");
    if (Error error = checkMicrobatches(text, *point, options))
      return error;
  }
  return Error::success();
}

LogicalResult braid::checkHooks(ModuleOp module, const DriverOptions &options) {
  DriverOptions bare = options;
  bare.hooks = {kListHooks.str()};
  bare.printIrAfter.clear();
  OwningOpRef<ModuleOp> copy = module.clone();
  ScopedDiagnosticHandler filter(module.getContext(), [](Diagnostic &diagnostic) {
    return success(diagnostic.getSeverity() == DiagnosticSeverity::Remark);
  });
  if (failed(runPhases(*copy, bare, Phase::Prepare, Phase::Optimizer)))
    return failure();
  if (!listsHooks(options))
    return reportError(checkPoints(*copy, options));
  printHookPoints(outs(), *copy);
  return success();
}
