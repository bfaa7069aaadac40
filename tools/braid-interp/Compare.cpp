//===- Compare.cpp - a module before and after passes ---------------------===//

#include "tools/braid-interp/Modes.h"

using namespace mlir;
using namespace braid;
using namespace braid::interp;
using namespace braid::reference;

namespace {
/// One side of the comparison.
struct Version {
  Step step;
  Values values;
  SmallVector<Tensor> made;
};
} // namespace

/// Returns the number of microbatches in the batch of the other side: the ratio of dim 0 of an input that both have.
static int64_t countMicrobatches(const Program &whole, const Program &part) {
  for (const InputSlot &large : whole.inputs)
    for (const InputSlot &small : part.inputs)
      if (large.kind == InputKind::Input && large.name == small.name && large.type.getRank() > 0 &&
          large.type.getRank() == small.type.getRank() && small.type.getDimSize(0) > 0 &&
          large.type.getDimSize(0) > small.type.getDimSize(0))
        return large.type.getDimSize(0) / small.type.getDimSize(0);
  return 1;
}

/// Finds a tensor that changes although it must not: the program in memory keeps it, and the function does not update
/// it.
static std::string findStrayUpdate(const Version &before, const Version &after, const Values &initial) {
  for (auto [slot, tensor] : llvm::zip_equal(after.step.main.results, after.made)) {
    bool updatedBefore =
        llvm::any_of(before.step.main.results, [&](const ResultSlot &other) { return other.updates == slot.updates; });
    auto old = initial.find(slot.updates);
    if (slot.updates.empty() || updatedBefore || old == initial.end())
      continue;
    std::string text = difference(old->second, tensor, {0, 0});
    if (!text.empty())
      return "'" + slot.updates + "', which is not updated before the passes, changes: " + text;
  }
  return "";
}

/// Compares all results that both sides have; prints the first difference.
static LogicalResult compareVersions(const Version &before, const Version &after, const Values &initial,
                                     const Options &options, uint64_t seed, int64_t &compared) {
  std::vector<int64_t> partners = matchResults(before.step.main, after.step.main);
  auto differs = [&](const Twine &text) {
    llvm::errs() << "'" << before.step.main.name << "' differs after the passes (seed " << seed << "): " << text
                 << '\n';
    return failure();
  };
  compared = 0;
  for (size_t i = 0; i < partners.size(); ++i) {
    if (partners[i] < 0)
      continue;
    ++compared;
    std::string name = before.step.main.results[i].name();
    std::string text = difference(before.made[i], after.made[partners[i]], options.tolerance);
    if (!text.empty())
      return differs("result " + Twine(i) + (name.empty() ? "" : " '" + name + "'") + " " + text);
  }
  std::string stray = findStrayUpdate(before, after, initial);
  return stray.empty() ? success() : differs(stray);
}

/// Runs both sides on the inputs of one seed.
static LogicalResult compareOnce(Version &before, Version &after, InputOptions inputs, const Options &options,
                                 int64_t &compared) {
  before.values.clear();
  if (llvm::Error error = makeInputs(before.step.main, inputs, before.values))
    return before.step.main.emitError(std::move(error));
  Values initial = after.values = before.values;
  for (Version *side : {&before, &after}) {
    Results made = side->step.run(side->values, inputs, options.arithmetic);
    if (failed(made))
      return failure();
    side->made = std::move(*made);
  }
  return compareVersions(before, after, initial, options, inputs.seed, compared);
}

/// Copies bounds of integer inputs from the other side if only that side uses them as indices. Both sides then get
/// valid indices.

static void adoptBounds(Program &before, const Program &after) {
  for (InputSlot &slot : before.inputs)
    for (const InputSlot &other : after.inputs)
      if (slot.bound == 0 && other.name == slot.name)
        slot.bound = other.bound;
}

/// Returns the name, after the passes, of the function that was called `name`.
static std::string partnerOf(const std::string &name, ModuleOp changed, const Options &options) {
  if (!options.afterFunction.empty())
    return options.afterFunction;
  // Passes may rename the only function.
  return Program::exists(changed, name) || Program::names(changed).size() > 1 ? name : "";
}

static LogicalResult compareFunction(ModuleOp module, ModuleOp changed, const std::string &name,
                                     const Options &options) {
  FailureOr<Step> first = Step::find(module, name);
  if (failed(first))
    return failure();
  FailureOr<Step> second = Step::find(changed, partnerOf(name, changed, options));
  if (failed(second))
    return failure();
  Version before{std::move(*first), {}, {}}, after{std::move(*second), {}, {}};
  adoptBounds(before.step.main, after.step.main);
  before.step.microbatches = options.microbatches;
  if (!after.step.pipeline)
    after.step.microbatches = after.step.accumulate ? countMicrobatches(before.step.main, after.step.main) : 1;
  int64_t compared = 0;
  for (int64_t i = 0; i < options.seeds; ++i) {
    InputOptions inputs = options.inputs;
    inputs.seed += i;
    if (failed(compareOnce(before, after, inputs, options, compared)))
      return failure();
  }
  if (compared == 0)
    return module.emitError() << "'" << name << "' and its version after the passes have no result in common";
  llvm::outs() << "'" << name << "': " << compared << " results agree\n";
  return success();
}

LogicalResult interp::runComparison(ModuleOp module, const Options &options) {
  OwningOpRef<ModuleOp> changed = module.clone();
  if (failed(applyPasses(module, options.referencePipeline)) || failed(applyPasses(*changed, options.pipeline)))
    return failure();
  std::vector<std::string> names = functionsOf(module, options);
  if (names.empty())
    return module.emitError("the module has no function and no program");
  if (failed(checkNames({module, *changed}, options)))
    return failure();
  bool same = true;
  for (const std::string &name : names)
    same &= succeeded(compareFunction(module, *changed, name, options));
  return success(same);
}
