//===- ApplyOptimizer.cpp - append the optimizer's updates ----------------===//

#include "dialects/TG/Facts.h"
#include "dialects/TG/Optimizer.h"
#include "mlir/IR/Matchers.h"
#include "passes/Autodiff/DecayGroups.h"
#define GEN_PASS_DEF_APPLYOPTIMIZERPASS
#include "passes/Autodiff/Passes.h"
#include "passes/Base/Signature.h"
#include "passes/FrontEnd/ForwardFacts.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;
using namespace braid;
using namespace braid::tg;

namespace {
/// A parameter and its gradient.
struct Trained {
  BlockArgument parameter;
  Value gradient;
};
} // namespace

//===----------------------------------------------------------------------===//
// Clipping
//===----------------------------------------------------------------------===//

/// Returns the norm of all gradients, in the type of the first.
static Value globalNorm(TensorBuilder &b, ArrayRef<Trained> all) {
  if (all.empty())
    return b.zeros(RankedTensorType::get({}, b.builder.getF32Type()));
  SmallVector<Value> gradients = llvm::map_to_vector(all, [](const Trained &one) { return one.gradient; });
  return b.make<GlobalNormOp>(withShape(typeOf(gradients.front()), {}), gradients);
}

/// Returns the location of ops that scale or convert a gradient for the update.
static Location ofGradient(Location loc, const Trained &one) {
  ParamAttr parameter = parameterOf(one.parameter);
  return withFacts(
      loc, getFacts(loc.getContext(), Phase::Update, parameter.getUnit(), parameter.getOf(), TensorKind::Gradient));
}

/// Scales the gradients by min(1, clip / (norm + 1e-6)), as clip_grad_norm_ does.
static void clipGradients(TensorBuilder &b, MutableArrayRef<Trained> all, Value norm, double clip) {
  Value scale = b.div(b.constantLike(norm, clip), b.add(norm, 1e-6));
  scale = b.make<arith::MinimumFOp>(scale, b.constantLike(scale, 1.0));
  for (Trained &one : all) {
    b.loc = ofGradient(b.loc, one);
    Value factor = b.convert(scale, typeOf(one.gradient).getElementType());
    one.gradient = b.mul(one.gradient, b.broadcastScalar(factor, one.gradient));
  }
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

namespace {
struct ApplyOptimizer final : braid::impl::ApplyOptimizerPassBase<ApplyOptimizer> {
  using ApplyOptimizerPassBase::ApplyOptimizerPassBase;

  void runOnOperation() final {
    func::FuncOp function = getOperation();
    if (function.isExternal())
      return;
    if (failed(readOptions()))
      return signalPassFailure();
    FailureOr<SmallVector<Trained>> trained = findTrained(function);
    if (failed(trained))
      return signalPassFailure();
    if (!hasGradients(function))
      return removeDecayGroups(function);
    eraseResults(function, [&](unsigned index) { return bool(ResultAttrs(function, index).gradientOf); });
    OpBuilder builder(returnOf(function));
    TensorBuilder b(builder, withPhase(function.getLoc(), Phase::Update));
    SignatureEditor editor(function);
    if (clip > 0 || reportNorm) {
      Value norm = globalNorm(b, *trained);
      if (clip > 0)
        clipGradients(b, *trained, norm, clip);
      editor.addResult(norm, Role::GradNorm);
    }
    for (const Trained &one : *trained) {
      b.loc = withFacts(one.gradient.getLoc(), factsOfParameter(parameterOf(one.parameter), Phase::Update));
      update(editor, b, one);
    }
    editor.finish();
    removeDecayGroups(function);
    setFactsOfUpdates(function);
  }

  InFlightDiagnostic emitError() { return getOperation().emitError() << "tg-apply-optimizer: "; }

  LogicalResult readOptions() {
    for (StringRef group : decayExclude)
      if (!llvm::is_contained({"biases", "norms", "embeddings"}, group))
        return emitError()
               << "decay-exclude takes biases (except of norms), norms (with their biases) and embeddings, found '"
               << group << "'";
    if (!(clip >= 0))
      return emitError() << "clip must be at least 0, found " << std::to_string(double(clip));
    FailureOr<const Optimizer *> found = findOptimizer(optimizer, [&] { return emitError(); });
    if (failed(found))
      return failure();
    chosen = *found;
    return readHyperparameters();
  }

  /// Sets the default hyperparameters, then those given as options.
  LogicalResult readHyperparameters() {
    Builder builder(&getContext());
    values.clear();
    for (const Hyperparameter &one : chosen->hyperparameters)
      values.set(one.name, builder.getF64FloatAttr(one.fallback));
    llvm::StringSet<> given;
    for (StringRef text : hyperparameters) {
      auto [name, number] = text.split('=');
      double value = 0;
      if (name.empty() || number.empty() || number.getAsDouble(value))
        return emitError() << "expected a hyperparameter as NAME=NUMBER, such as beta1=0.9, found '" << text << "'";
      if (!given.insert(name).second)
        return emitError() << "the hyperparameter " << name << " is given twice; leave one of them out";
      values.set(name, builder.getF64FloatAttr(value));
    }
    return verifyHyperparameters(*chosen, values.getDictionary(&getContext()), [&] { return emitError(); });
  }

  static bool fits(RankedTensorType gradient, RankedTensorType parameter) {
    return gradient == parameter || (gradient.getShape() == parameter.getShape() && gradient.getElementType().isBF16());
  }

  static bool hasGradients(func::FuncOp function) {
    ProgramSignature signature(function);
    return llvm::any_of(llvm::seq(function.getNumResults()),
                        [&](unsigned i) { return bool(signature.parameterOfGradient(i)); });
  }

  /// Finds the parameters with a gradient. As in PyTorch, a parameter that the loss does not depend on is not updated
  /// and does not decay.
  static FailureOr<SmallVector<Trained>> findTrained(func::FuncOp function) {
    SmallVector<Trained> trained;
    ProgramSignature signature(function);
    for (unsigned i = 0; i < function.getNumResults(); ++i) {
      BlockArgument parameter = signature.parameterOfGradient(i);
      Value gradient = returnOf(function).getOperand(i);
      if (!parameter)
        continue;
      if (!fits(typeOf(gradient), typeOf(parameter)))
        return function.emitError() << "result #" << i << " is the gradient of " << parameterOf(parameter).getName()
                                    << " but has the type " << gradient.getType() << " instead of "
                                    << parameter.getType();
      if (matchPattern(gradient, m_AnyZeroFloat()))
        continue;
      // A gradient stored in bf16 is scaled and applied in the parameter's type.
      OpBuilder builder(returnOf(function));
      Location loc = ofGradient(gradient.getLoc(), {parameter, gradient});
      TensorBuilder b(builder, loc);
      trained.push_back({parameter, b.convert(gradient, typeOf(parameter).getElementType())});
    }
    return trained;
  }

  /// Returns the hyperparameters of one parameter.
  DictionaryAttr hyperparametersOf(BlockArgument parameter) {
    NamedAttrList own = values;
    if (own.get(kWeightDecay.name) && llvm::is_contained(decayExclude, decayGroupOf(parameter)))
      own.set(kWeightDecay.name, Builder(&getContext()).getF64FloatAttr(0.0));
    return own.getDictionary(&getContext());
  }

  void update(SignatureEditor &editor, TensorBuilder &b, const Trained &one) {
    std::string name = parameterOf(one.parameter).getName().str();
    Value lr = b.convert(editor.scalarInput(Role::Lr, b.builder.getF32Type()), typeOf(one.parameter).getElementType());
    Value step = chosen->readsStep ? editor.scalarInput(Role::Step, b.builder.getI32Type()) : Value();
    SmallVector<std::string> names;
    SmallVector<Value> states;
    for (StringRef suffix : chosen->states) {
      names.push_back(name + "." + suffix.str());
      states.push_back(editor.addState(one.parameter.getType(), names.back(), TensorKind::Moment, one.parameter));
    }
    auto op = b.builder.create<UpdateOp>(b.loc, b.builder.getStringAttr(chosen->name), one.parameter, one.gradient, lr,
                                         step, states, hyperparametersOf(one.parameter));
    editor.addResult(op.getNewParam(), kUpdates, name);
    for (auto [state, value] : llvm::zip(names, op.getNewStates()))
      editor.addResult(value, kUpdates, state);
  }

  const Optimizer *chosen = nullptr;
  /// Values of all hyperparameters.
  NamedAttrList values;
};
} // namespace
