//===- Gradients.cpp - tg-differentiate against central differences -------===//
//
// The objective is the sum of the roots, each weighted by its seed if it has one. A function with gradients is checked
// unchanged; for other functions, gradients are generated. All computations use f64.
//
//===----------------------------------------------------------------------===//

#include "tools/braid-interp/Modes.h"
#include "llvm/Support/Format.h"

using namespace mlir;
using namespace braid;
using namespace braid::interp;
using namespace braid::reference;

static constexpr StringLiteral kSeedName = "gradient of the root";

namespace {
/// A function, its gradients, and the inputs of both.
struct Check {
  Program forward, backward;
  Values values;
  /// The differentiated results, and for each the input that seeds it, or an empty name.
  std::vector<std::pair<unsigned, std::string>> roots;
};
} // namespace

//===----------------------------------------------------------------------===//
// Roots and arguments
//===----------------------------------------------------------------------===//

/// Returns the input that seeds the gradient of result `result`, by `tg.seed`.
static std::string seedOf(const Program &program, unsigned result) {
  for (unsigned i = 0; i < program.inputs.size(); ++i)
    if (auto seed = program.function().getArgAttrOfType<IntegerAttr>(i, "tg.seed"))
      if (seed.getInt() == static_cast<int64_t>(result))
        return program.inputs[i].name;
  return "";
}

/// Returns the seeded results or the loss; without them, the first float result.
static FailureOr<std::vector<unsigned>> findRoots(const Program &program) {
  std::vector<unsigned> roots;
  for (unsigned i = 0; i < program.results.size(); ++i)
    if (program.results[i].role == "loss" || !seedOf(program, i).empty())
      roots.push_back(i);
  for (unsigned i = 0; i < program.results.size() && roots.empty(); ++i)
    if (isFloat(program.results[i].type.getElementType()) && program.results[i].gradOf.empty())
      roots.push_back(i);
  if (roots.empty())
    return program.function().emitError("has no float result to differentiate");
  return roots;
}

/// Requests the gradients of the arguments, and adds seeds for roots that are not scalars.
static LogicalResult prepare(func::FuncOp function, const Program &program, ArrayRef<unsigned> roots,
                             ArrayRef<std::string> wanted) {
  Builder builder(function.getContext());
  for (unsigned i = 0; i < program.inputs.size(); ++i) {
    const InputSlot &slot = program.inputs[i];
    if (slot.kind == InputKind::Param || !isFloat(slot.type.getElementType()) || function.getArgAttr(i, "tg.seed") ||
        (!wanted.empty() && !llvm::is_contained(wanted, slot.name)))
      continue;
    function.setArgAttr(i, "tg.grad", builder.getUnitAttr());
    if (slot.kind == InputKind::Input)
      function.setArgAttr(i, tg::kInput, builder.getStringAttr(slot.name));
  }
  for (unsigned root : roots) {
    if (program.results[root].type.getRank() == 0 || !seedOf(program, root).empty())
      continue;
    auto attributes = builder.getDictionaryAttr({builder.getNamedAttr(tg::kInput, builder.getStringAttr(kSeedName)),
                                                 builder.getNamedAttr("tg.seed", builder.getI64IntegerAttr(root))});
    function.insertArgument(function.getNumArguments(), program.results[root].type, attributes, function.getLoc());
  }
  return success();
}

/// Returns the function with gradients in `module`, which is changed.
static FailureOr<Program> differentiate(ModuleOp module, const Program &forward, ArrayRef<unsigned> roots,
                                        ArrayRef<std::string> wanted) {
  if (llvm::any_of(forward.results, [](const ResultSlot &slot) { return !slot.gradOf.empty(); }))
    return forward;
  if (failed(prepare(module.lookupSymbol<func::FuncOp>(forward.name), forward, roots, wanted)))
    return failure();
  std::string numbers;
  for (unsigned root : roots)
    numbers += (numbers.empty() ? "" : ",") + std::to_string(root);
  if (failed(applyPasses(module, "tg-differentiate{function=" + forward.name + " root=" + numbers + "}")))
    return failure();
  return Program::find(module, forward.name);
}

//===----------------------------------------------------------------------===//
// Differences
//===----------------------------------------------------------------------===//

static FailureOr<double> objective(const Check &check, const Values &values) {
  Results made = check.forward.run(values, Arithmetic::F64);
  if (failed(made))
    return failure();
  double sum = 0;
  for (const auto &[root, seed] : check.roots) {
    const Tensor &y = (*made)[root];
    for (int64_t i = 0; i < y.size(); ++i)
      sum += y.f(i) * (seed.empty() ? 1 : values.at(seed).f(i));
  }
  return sum;
}

/// Returns the gradient of one input by differences. Two distances, eps and 2 eps, cancel the error of order eps².
static FailureOr<Tensor> differences(const Check &check, const std::string &name, double eps) {
  Values values = check.values;
  Tensor &input = values.at(name);
  Tensor gradient(input.shape, input.elementType);
  for (int64_t i = 0; i < gradient.size(); ++i) {
    double at = input.f(i), found[4];
    const double offsets[4] = {-2, -1, 1, 2};
    for (int k = 0; k < 4; ++k) {
      input.f(i) = at + offsets[k] * eps;
      FailureOr<double> value = objective(check, values);
      if (failed(value))
        return failure();
      found[k] = *value;
    }
    input.f(i) = at;
    gradient.f(i) = (8 * (found[2] - found[1]) - (found[3] - found[0])) / (12 * eps);
  }
  return gradient;
}

/// Compares the gradient of one input and prints a line about it.
static LogicalResult checkOne(const Check &check, const std::string &name, const Tensor &gradient,
                              const Options &options) {
  FailureOr<Tensor> expected = differences(check, name, options.eps);
  if (failed(expected))
    return failure();
  std::string text = difference(*expected, gradient, {options.gradientTolerance, options.tolerance.absolute});
  llvm::outs() << "'" << check.forward.name << "': gradient of '" << name << "' is "
               << (text.empty() ? "right" : "wrong")
               << llvm::format(" (relative error %.1e)\n", relativeError(*expected, gradient));
  if (text.empty())
    return success();
  llvm::errs() << "'" << check.forward.name << "': gradient of '" << name << "' " << text << '\n';
  return failure();
}

static LogicalResult checkFunction(ModuleOp module, const std::string &name, const Options &options) {
  FailureOr<Program> forward = Program::find(module, name);
  if (failed(forward))
    return failure();
  if (!forward->function())
    return module.emitError() << "'" << name << "' is a program in memory; gradients are checked on functions";
  FailureOr<std::vector<unsigned>> roots = findRoots(*forward);
  if (failed(roots))
    return failure();
  OwningOpRef<ModuleOp> changed = module.clone();
  FailureOr<Program> backward = differentiate(*changed, *forward, *roots, options.wrt);
  if (failed(backward))
    return failure();
  Check check{*forward, *backward, {}, {}};
  if (llvm::Error error = makeInputs(check.backward, options.inputs, check.values))
    return forward->emitError(std::move(error));
  for (unsigned root : *roots)
    check.roots.push_back({root, seedOf(check.backward, root)});

  Results made = check.backward.run(check.values, Arithmetic::F64);
  if (failed(made))
    return failure();
  bool right = true;
  int64_t checked = 0;
  for (auto [slot, gradient] : llvm::zip_equal(check.backward.results, *made)) {
    if (slot.gradOf.empty() || (!options.wrt.empty() && !llvm::is_contained(options.wrt, slot.gradOf)))
      continue;
    right &= succeeded(checkOne(check, slot.gradOf, gradient, options));
    ++checked;
  }
  if (checked == 0)
    return forward->function().emitError("has no gradient to check");
  return success(right);
}

LogicalResult interp::checkGradients(ModuleOp module, const Options &options) {
  if (failed(checkNames(module, options)))
    return failure();
  bool right = true;
  for (const std::string &name : functionsOf(module, options))
    right &= succeeded(checkFunction(module, name, options));
  return success(right);
}
