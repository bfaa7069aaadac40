//===- Gradients.cpp - tg-differentiate against central differences -------===//
//
// The objective is the root itself when it is a scalar, else the sum of the root
// times a random seed.  Everything computes in f64.
//
//===----------------------------------------------------------------------===//

#include "tools/braid-interp/Modes.h"
#include "llvm/Support/Format.h"

using namespace mlir;
using namespace braid;
using namespace braid::interp;
using namespace braid::reference;

static constexpr StringLiteral kSeedName = "gradient of the root";

/// The result to differentiate: the loss, or the first float result.
static FailureOr<unsigned> findRoot(const Program &program) {
  for (unsigned i = 0; i < program.results.size(); ++i)
    if (program.results[i].role == "loss")
      return i;
  for (unsigned i = 0; i < program.results.size(); ++i)
    if (isFloat(program.results[i].type.getElementType()))
      return i;
  return program.function().emitError("has no float result to differentiate");
}

/// The arguments to check.
static FailureOr<std::vector<unsigned>> findArguments(const Program &program, const Options &options) {
  std::vector<unsigned> arguments;
  for (unsigned i = 0; i < program.inputs.size(); ++i) {
    const InputSlot &slot = program.inputs[i];
    bool wanted = options.wrt.empty() ? !slot.frozen : llvm::is_contained(options.wrt, slot.name);
    if (wanted && isFloat(slot.type.getElementType()))
      arguments.push_back(i);
  }
  for (const std::string &name : options.wrt)
    if (llvm::none_of(arguments, [&](unsigned i) { return program.inputs[i].name == name; }))
      return program.function().emitError() << "has no float argument '" << name << "'";
  return arguments;
}

/// Asks for the gradients of all arguments and, for a root that is no scalar,
/// adds the argument that seeds it.
static void prepare(func::FuncOp function, const Program &program, unsigned root, ArrayRef<unsigned> arguments) {
  Builder builder(function.getContext());
  for (unsigned i : arguments) {
    if (program.inputs[i].kind == InputKind::Param)
      continue;
    function.setArgAttr(i, "tg.grad", builder.getUnitAttr());
    if (!function.getArgAttr(i, tg::kInput) && !function.getArgAttr(i, tg::kState))
      function.setArgAttr(i, tg::kInput, builder.getStringAttr(program.inputs[i].name));
  }
  if (program.results[root].type.getRank() == 0)
    return;
  auto attributes = builder.getDictionaryAttr(
      {builder.getNamedAttr(tg::kInput, builder.getStringAttr(kSeedName)),
       builder.getNamedAttr("tg.seed", builder.getI64IntegerAttr(root))});
  function.insertArgument(function.getNumArguments(), program.results[root].type, attributes, function.getLoc());
}

/// The root weighted by the seed.
static FailureOr<double> objective(const Program &program, unsigned root, ArrayRef<Tensor> arguments,
                                   const Tensor *seed) {
  Results made = program.run(arguments, Arithmetic::F64);
  if (failed(made))
    return failure();
  const Tensor &y = (*made)[root];
  double sum = 0;
  for (int64_t i = 0; i < y.size(); ++i)
    sum += y.f(i) * (seed ? seed->f(i) : 1);
  return sum;
}

/// The gradient of one argument by differences.  Two distances, eps and 2 eps,
/// cancel the error of order eps².
static FailureOr<Tensor> differences(const Program &program, unsigned root, SmallVector<Tensor> arguments,
                                     const Tensor *seed, unsigned argument, double eps) {
  Tensor gradient(arguments[argument].shape, arguments[argument].elementType);
  for (int64_t i = 0; i < gradient.size(); ++i) {
    double at = arguments[argument].f(i), values[4];
    const double offsets[4] = {-2, -1, 1, 2};
    for (int k = 0; k < 4; ++k) {
      arguments[argument].f(i) = at + offsets[k] * eps;
      FailureOr<double> value = objective(program, root, arguments, seed);
      if (failed(value))
        return failure();
      values[k] = *value;
    }
    arguments[argument].f(i) = at;
    gradient.f(i) = (8 * (values[2] - values[1]) - (values[3] - values[0])) / (12 * eps);
  }
  return gradient;
}

LogicalResult interp::checkGradients(ModuleOp module, const Options &options) {
  FailureOr<Program> program = Program::find(module, options.function);
  if (failed(program))
    return failure();
  if (!program->function())
    return module.emitError() << "'" << program->name << "' is a program in memory; gradients are checked on functions";
  FailureOr<unsigned> root = findRoot(*program);
  if (failed(root))
    return failure();
  FailureOr<std::vector<unsigned>> arguments = findArguments(*program, options);
  if (failed(arguments))
    return failure();

  OwningOpRef<ModuleOp> changed = module.clone();
  auto copy = changed->lookupSymbol<func::FuncOp>(program->name);
  prepare(copy, *program, *root, *arguments);
  std::string pass = "tg-differentiate{function=" + program->name + " root=" + std::to_string(*root) + "}";
  if (failed(applyPasses(*changed, pass)))
    return failure();
  FailureOr<Program> differentiated = Program::find(*changed, program->name);
  if (failed(differentiated))
    return failure();

  Values values;
  if (llvm::Error error = makeInputs(*differentiated, options.inputs, values))
    return program->emitError(std::move(error));
  Results made = differentiated->run(values, Arithmetic::F64);
  if (failed(made))
    return failure();
  SmallVector<Tensor> inputs;
  for (const InputSlot &slot : program->inputs)
    inputs.push_back(values.at(slot.name));
  auto seed = values.find(kSeedName.str());

  bool wrong = false;
  for (unsigned i : *arguments) {
    const std::string &name = program->inputs[i].name;
    auto slot = llvm::find_if(differentiated->results, [&](const ResultSlot &r) { return r.gradOf == name; });
    if (slot == differentiated->results.end())
      return program->function().emitError() << "tg-differentiate made no gradient of '" << name << "'";
    const Tensor &gradient = (*made)[slot - differentiated->results.begin()];
    FailureOr<Tensor> expected =
        differences(*program, *root, inputs, seed == values.end() ? nullptr : &seed->second, i, options.eps);
    if (failed(expected))
      return failure();
    double error = relativeError(*expected, gradient);
    // The negation makes NaN an error.
    bool right = error <= options.gradientTolerance;
    llvm::outs() << "gradient of '" << name << "': " << (right ? "right" : "WRONG") << llvm::format(" (relative error %.1e)\n", error);
    if (!right)
      llvm::errs() << "gradient of '" << name << "': " << difference(*expected, gradient, {options.gradientTolerance, 0})
                   << '\n';
    wrong |= !right;
  }
  return failure(wrong);
}
