//===- ApplyOptimizer.cpp - from gradients to updates ---------------------===//

#include "dialects/TG/Facts.h"
#include "dialects/TG/TGBuilder.h"
#include "mlir/IR/Matchers.h"
#include "passes/Graph/Passes.h"
#include "passes/Graph/Signature.h"

namespace braid {
#define GEN_PASS_DEF_APPLYOPTIMIZERPASS
#include "passes/Graph/Passes.h.inc"
} // namespace braid

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
// Which parameters decay
//===----------------------------------------------------------------------===//

namespace {
/// What reads a parameter, through ops that only hand it on.
struct Readers {
  bool contracts = false, gathers = false, norms = false;

  explicit Readers(Value value) { visit(value); }

private:
  void visit(Value value) {
    for (OpOperand &use : value.getUses()) {
      Operation *user = use.getOwner();
      NumericKind kind = numericKindOf(user);
      contracts |= kind == NumericKind::Contraction;
      gathers |= kind == NumericKind::Embedding && use.getOperandNumber() == 0;
      norms |= kind == NumericKind::Norm && typeOf(value).getRank() == 1; // what is normalized has rows
      if (handsOnNumbers(user))
        for (Value result : user->getResults())
          visit(result);
    }
  }
};
} // namespace

/// The group of a parameter as `decay-exclude` names it.
static StringRef decayGroup(BlockArgument parameter) {
  Readers readers(parameter);
  if (readers.norms)
    return "norms";
  if (typeOf(parameter).getRank() <= 1)
    return "biases";
  return readers.gathers || !readers.contracts ? "embeddings" : "weights";
}

//===----------------------------------------------------------------------===//
// Clipping
//===----------------------------------------------------------------------===//

/// That of a parameter that the loss does not depend on.
static bool isZero(Value gradient) { return matchPattern(gradient, m_AnyZeroFloat()); }

/// The norm of all gradients, in the type of the first.
static Value globalNorm(TensorBuilder &b, ArrayRef<Trained> all) {
  SmallVector<Value> gradients;
  for (const Trained &one : all)
    if (!isZero(one.gradient))
      gradients.push_back(one.gradient);
  if (gradients.empty())
    gradients.push_back(all.front().gradient);
  return b.make<GlobalNormOp>(withShape(typeOf(gradients.front()), {}), gradients);
}

/// Where a gradient is scaled or converted on its way to the update.
static Location ofGradient(Location loc, const Trained &one) {
  FactsAttr made = factsOf(one.gradient.getLoc());
  StringAttr name = parameterOf(one.parameter).getName();
  return withFacts(loc, getFacts(loc.getContext(), Phase::Update, made ? made.getUnits() : ArrayRef<StringAttr>(), name,
                                 TensorKind::Gradient));
}

/// Scales the gradients by min(1, clip / (norm + 1e-6)), as clip_grad_norm_ does.
static void clipGradients(TensorBuilder &b, MutableArrayRef<Trained> all, Value norm, double clip) {
  Value scale = b.div(b.like(norm, clip), b.add(norm, 1e-6));
  scale = b.make<arith::MinimumFOp>(scale, b.like(scale, 1.0));
  for (Trained &one : all) {
    if (isZero(one.gradient))
      continue;
    b.loc = ofGradient(b.loc, one);
    Value factor = b.convert(scale, typeOf(one.gradient).getElementType());
    one.gradient = b.mul(one.gradient, b.fromScalar(factor, one.gradient));
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
    if (failed(checkOptions(function)))
      return signalPassFailure();
    FailureOr<SmallVector<Trained>> trained = findTrained(function);
    if (failed(trained))
      return signalPassFailure();
    if (trained->empty())
      return;
    eraseResults(function, [&](unsigned index) { return function.getResultAttr(index, kGradOf) != nullptr; });
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
      b.loc = withTensor(withPhase(one.gradient.getLoc(), Phase::Update), parameterOf(one.parameter).getName(),
                         TensorKind::Parameter);
      update(editor, b, one);
    }
    editor.finish();
  }

  LogicalResult checkOptions(func::FuncOp function) {
    auto refuse = [&](StringRef option, const Twine &found, StringRef expected) {
      return function.emitError() << "tg-apply-optimizer: " << option << " must be " << expected << ", found " << found;
    };
    if (!llvm::is_contained({"sgd", "momentum", "nesterov", "adam", "adamw"}, optimizer))
      return refuse("optimizer", "'" + optimizer + "'", "sgd, momentum, nesterov, adam or adamw");
    for (StringRef group : decayExclude)
      if (!llvm::is_contained({"biases", "norms", "embeddings"}, group))
        return refuse("decay-exclude", "'" + group + "'", "a list of biases, norms and embeddings");
    for (auto [name, value] : {std::pair("beta1", &beta1), {"beta2", &beta2}, {"momentum", &momentum}})
      if (!(*value >= 0 && *value < 1))
        return refuse(name, Twine(std::to_string(double(*value))), "at least 0 and below 1");
    for (auto [name, value] : {std::pair("eps", &eps), {"weight-decay", &weightDecay}, {"clip", &clip}})
      if (!(*value >= 0))
        return refuse(name, Twine(std::to_string(double(*value))), "at least 0");
    if (!isAdam() && optimizer != "sgd" && momentum == 0)
      return refuse("momentum", "0", "above 0 for this optimizer; sgd has none");
    return success();
  }

  static bool fits(RankedTensorType gradient, RankedTensorType parameter) {
    return gradient == parameter || (gradient.getShape() == parameter.getShape() && gradient.getElementType().isBF16());
  }

  static FailureOr<SmallVector<Trained>> findTrained(func::FuncOp function) {
    SmallVector<Trained> trained;
    llvm::StringMap<BlockArgument> parameters = parametersByName(function);
    for (unsigned i = 0; i < function.getNumResults(); ++i) {
      auto name = function.getResultAttrOfType<StringAttr>(i, kGradOf);
      if (!name)
        continue;
      BlockArgument parameter = parameters.lookup(name);
      Value gradient = returnOf(function).getOperand(i);
      if (!parameter)
        continue; // the gradient of an input, which somebody asked for
      if (!fits(typeOf(gradient), typeOf(parameter)))
        return function.emitError() << "result #" << i << " is the gradient of " << name << " but has the type "
                                    << gradient.getType() << " instead of " << parameter.getType();
      // What was stored in bf16 is scaled and applied in the parameter's type.
      OpBuilder builder(returnOf(function));
      Location loc = ofGradient(gradient.getLoc(), {parameter, gradient});
      gradient = TensorBuilder(builder, loc).convert(gradient, typeOf(parameter).getElementType());
      trained.push_back({parameter, gradient});
    }
    return trained;
  }

  bool isAdam() const { return optimizer == "adam" || optimizer == "adamw"; }

  static BlockArgument addOptimizerState(SignatureEditor &editor, BlockArgument parameter, StringRef suffix) {
    return editor.addState(parameter.getType(), parameterOf(parameter).getName().str() + suffix.str(),
                           TensorKind::Moment, parameter);
  }

  void update(SignatureEditor &editor, TensorBuilder &b, const Trained &one) {
    StringRef name = parameterOf(one.parameter).getName();
    double decay = llvm::is_contained(decayExclude, decayGroup(one.parameter)) ? 0.0 : double(weightDecay);
    Value lr = b.convert(editor.scalarInput(Role::Lr, b.builder.getF32Type()), typeOf(one.parameter).getElementType());
    if (isAdam())
      updateAdam(editor, b, one, name, lr, decay);
    else
      updateSgd(editor, b, one, name, lr, decay);
  }

  void updateAdam(SignatureEditor &editor, TensorBuilder &b, const Trained &one, StringRef name, Value lr,
                  double decay) {
    Value step = editor.scalarInput(Role::Step, b.builder.getI32Type());
    BlockArgument mean = addOptimizerState(editor, one.parameter, ".exp_avg");
    BlockArgument variance = addOptimizerState(editor, one.parameter, ".exp_avg_sq");
    auto number = [&](double value) { return b.builder.getF64FloatAttr(value); };
    auto op = b.builder.create<AdamOp>(b.loc, one.parameter, one.gradient, mean, variance, lr, step, number(beta1),
                                       number(beta2), number(eps), number(decay),
                                       optimizer == "adamw" ? b.builder.getUnitAttr() : UnitAttr());
    editor.addResult(op.getNewParam(), kUpdates, name);
    editor.addResult(op.getNewMean(), kUpdates, (name + ".exp_avg").str());
    editor.addResult(op.getNewVariance(), kUpdates, (name + ".exp_avg_sq").str());
  }

  void updateSgd(SignatureEditor &editor, TensorBuilder &b, const Trained &one, StringRef name, Value lr,
                 double decay) {
    bool hasVelocity = optimizer != "sgd";
    Value velocity = hasVelocity ? addOptimizerState(editor, one.parameter, ".momentum_buffer") : Value();
    Type type = one.parameter.getType();
    auto op = b.builder.create<SgdOp>(b.loc, type, hasVelocity ? type : Type(), one.parameter, one.gradient, lr,
                                      velocity, b.builder.getF64FloatAttr(hasVelocity ? double(momentum) : 0.0),
                                      b.builder.getF64FloatAttr(decay),
                                      optimizer == "nesterov" ? b.builder.getUnitAttr() : UnitAttr());
    editor.addResult(op.getNewParam(), kUpdates, name);
    if (hasVelocity)
      editor.addResult(op.getNewVelocity(), kUpdates, (name + ".momentum_buffer").str());
  }
};
} // namespace
