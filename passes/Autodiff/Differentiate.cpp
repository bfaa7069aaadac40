//===- Differentiate.cpp - append gradients to functions ------------------===//
//
// Finds the roots to differentiate and the wanted arguments, seeds the roots, and runs the engine of TGGradients.h
// backwards.
//
//===----------------------------------------------------------------------===//

#include "dialects/TG/Facts.h"
#include "dialects/TG/TGGradients.h"
#include "dialects/TG/ValueNames.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#define GEN_PASS_DEF_DIFFERENTIATEPASS
#include "passes/Autodiff/Passes.h"
#include "passes/Base/Signature.h"

using namespace mlir;
using namespace braid;
using namespace braid::tg;

namespace {
constexpr llvm::StringLiteral kGrad = "tg.grad", kSeed = "tg.seed";

/// Returns the name of an argument in messages and in the attribute `tg.grad_of`.
std::string nameOfArgument(func::FuncOp function, unsigned index) {
  StringAttr name = tg::nameOf(function.getArgAttrDict(index));
  return name ? name.str() : "arg" + std::to_string(index);
}

/// One function's differentiation.
class Differentiation {
public:
  explicit Differentiation(func::FuncOp function) : function(function), builder(returnOf(function)), reverse(builder) {
    for (Operation &op : function.front().without_terminator())
      ops.push_back(&op);
  }

  LogicalResult run(ArrayRef<int64_t> roots);

private:
  LogicalResult checkStraightLine();
  LogicalResult findRequested();
  LogicalResult findSeeds(ArrayRef<int64_t> roots);
  LogicalResult seedRoot(int64_t root);
  LogicalResult explainBlocker();
  void appendGradients();
  void eraseUnread();
  SmallVector<Operation *> builtOps();
  void setFacts();
  void nameGradients(const DenseSet<Operation *> &built);

  func::FuncOp function;
  OpBuilder builder;
  ReverseMode reverse;
  SmallVector<Operation *> ops;
  SmallVector<BlockArgument> requested;
  llvm::DenseMap<int64_t, BlockArgument> seeds;
};

LogicalResult Differentiation::run(ArrayRef<int64_t> roots) {
  if (failed(checkStraightLine()) || failed(findRequested()) || failed(findSeeds(roots)))
    return failure();
  for (int64_t root : roots)
    if (failed(seedRoot(root)))
      return failure();
  reverse.markActive(ops);
  if (failed(reverse.run(ops)))
    return explainBlocker();
  appendGradients();
  eraseUnread();
  setFacts();
  return success();
}

LogicalResult Differentiation::checkStraightLine() {
  if (!function.getBody().hasOneBlock())
    return function.emitOpError() << "has several blocks; only straight-line graphs can be differentiated";
  for (Operation *op : ops)
    if (op->getNumRegions() != 0)
      return op->emitOpError() << "has a region; only straight-line graphs can be differentiated";
  return success();
}

/// Finds the arguments whose gradients are wanted. A parameter that the function itself updates has its gradient there.
LogicalResult Differentiation::findRequested() {
  ProgramSignature signature(function);
  for (BlockArgument argument : function.getArguments()) {
    unsigned index = argument.getArgNumber();
    ParamAttr param = parameterOf(argument);
    bool isTrained = param && !param.getFrozen() && !signature.updateOf(argument);
    if (!isTrained && !function.getArgAttr(index, kGrad))
      continue;
    if (!isFloat(argument))
      return function.emitError() << "argument #" << index << ": tg.grad requests a gradient of '"
                                  << nameOfArgument(function, index) << "', but " << argument.getType()
                                  << " is not floating-point; drop tg.grad or freeze the parameter";
    requested.push_back(argument);
    reverse.requestGradient(argument);
  }
  return success();
}

/// Finds the arguments that hold gradients of outputs.
LogicalResult Differentiation::findSeeds(ArrayRef<int64_t> roots) {
  for (BlockArgument argument : function.getArguments()) {
    unsigned index = argument.getArgNumber();
    auto result = function.getArgAttrOfType<IntegerAttr>(index, kSeed);
    if (!result)
      continue;
    if (!llvm::is_contained(roots, result.getInt()))
      return function.emitError() << "argument #" << index << ": tg.seed names result #" << result.getInt()
                                  << ", which is not a root";
    if (Type type = function.getResultTypes()[result.getInt()]; type != argument.getType())
      return function.emitError() << "argument #" << index << ": tg.seed is " << argument.getType() << " but result #"
                                  << result.getInt() << " is " << type;
    if (!seeds.try_emplace(result.getInt(), argument).second)
      return function.emitError() << "argument #" << index << ": result #" << result.getInt()
                                  << " has two arguments with tg.seed";
  }
  return success();
}

LogicalResult Differentiation::seedRoot(int64_t root) {
  Value value = returnOf(function).getOperand(root);
  if (!isFloat(value))
    return function.emitError() << "result #" << root << " is " << value.getType()
                                << ", which has no gradient; a root must be floating-point";
  if (BlockArgument seed = seeds.lookup(root)) {
    reverse.seed(value, seed);
    return success();
  }
  if (typeOf(value).getRank() != 0)
    return function.emitError() << "result #" << root << " is " << value.getType()
                                << ", not a scalar; give its gradient as an argument of that type with tg.seed = "
                                << root << ", or reduce it";
  reverse.seed(value, TensorBuilder(builder, value.getLoc()).constantLike(value, 1.0));
  return success();
}

/// Reports the op without a gradient, with a note for every op between the root and a wanted argument.
LogicalResult Differentiation::explainBlocker() {
  Operation *blocker = reverse.getBlocker();
  SmallVector<Operation *> path;
  auto resultWithGradient = [&](Operation *op) -> Value {
    for (Value result : op->getResults())
      if (reverse.gradientOf(result))
        return result;
    return {};
  };
  for (Operation *op = blocker; op;) {
    path.insert(path.begin(), op);
    Value result = resultWithGradient(op);
    op = result ? reverse.contributorOf(result) : nullptr;
  }
  Value source = blocker->getResult(0);
  while (Operation *op = source.getDefiningOp()) {
    if (op != blocker)
      path.push_back(op);
    source = *llvm::find_if(op->getOperands(), [&](Value operand) { return reverse.isActive(operand); });
  }
  std::string argument = nameOfArgument(function, cast<BlockArgument>(source).getArgNumber());
  InFlightDiagnostic diagnostic = blocker->emitOpError();
  if (llvm::none_of(blocker->getOperands(), isFloat))
    diagnostic << "has integer operands, but a gradient must flow through it to '" << argument << "'";
  else
    diagnostic << "has neither a gradient nor a decomposition, but a gradient must flow through it to '" << argument
               << "'";
  diagnostic << "; put tg.stop_gradient before it, or freeze the parameter";
  for (Operation *op : path)
    diagnostic.attachNote(op->getLoc()) << "on the way from the root: '" << op->getName() << "'";
  diagnostic.attachNote(source.getLoc()) << "to argument '" << argument << "'";
  return failure();
}

void Differentiation::appendGradients() {
  SignatureEditor editor(function);
  for (BlockArgument argument : requested) {
    std::string name = nameOfArgument(function, argument.getArgNumber());
    TensorBuilder t(builder, argument.getLoc());
    Value gradient = reverse.gradientOf(argument);
    if (!gradient) {
      emitRemark(argument.getLoc()) << "'" << name << "' does not reach a root; its gradient is zero";
      gradient = t.zeros(typeOf(argument));
    }
    editor.addResult(gradient, kGradOf, name);
  }
  editor.finish();
}

/// Returns the ops that were appended to the function.
SmallVector<Operation *> Differentiation::builtOps() {
  auto built = llvm::drop_begin(function.front().without_terminator(), ops.size());
  return llvm::map_to_vector(built, [](Operation &op) { return &op; });
}

/// Erases appended ops without uses.
void Differentiation::eraseUnread() {
  SmallVector<Operation *> built = builtOps();
  for (Operation *op : llvm::reverse(built))
    if (isOpTriviallyDead(op))
      op->erase();
}

/// Rules build ops at the location of the differentiated op, so these already have its unit.
void Differentiation::setFacts() {
  DenseSet<Operation *> built;
  for (Operation *op : builtOps())
    if (op->getNumOperands() != 0) {
      op->setLoc(withoutValueName(withPhase(op->getLoc(), Phase::Backward)));
      built.insert(op);
    }
  llvm::MapVector<Value, SmallVector<StringAttr>> gradients;
  for (BlockArgument argument : requested)
    if (ParamAttr parameter = parameterOf(argument))
      for (Value contribution : reverse.contributionsTo(argument))
        if (built.contains(contribution.getDefiningOp()))
          gradients[contribution].push_back(parameter.getOf());
  for (auto &[gradient, parameters] : gradients)
    setTensor(gradient, parameters, TensorKind::Gradient);
  nameGradients(built);
}

/// Gives the gradient of a value named x the name dx.
void Differentiation::nameGradients(const DenseSet<Operation *> &built) {
  for (Operation *op : ops) {
    StringRef name = valueNameOf(op->getLoc());
    Value gradient = op->getNumResults() ? reverse.gradientOf(op->getResult(0)) : Value();
    if (Operation *producer = gradient ? gradient.getDefiningOp() : nullptr;
        producer && !name.empty() && built.contains(producer) && producer->getNumResults() == 1)
      producer->setLoc(withValueName(producer->getLoc(), ("d" + name).str()));
  }
}

struct Differentiate : braid::impl::DifferentiatePassBase<Differentiate> {
  using DifferentiatePassBase::DifferentiatePassBase;

  void runOnOperation() final {
    SmallVector<func::FuncOp> functions;
    if (failed(collect(functions)))
      return signalPassFailure();
    bool hasRoot = false;
    for (func::FuncOp function : functions) {
      SmallVector<int64_t> roots = rootsOf(function);
      hasRoot |= !roots.empty();
      if (roots.empty())
        continue;
      for (int64_t index : roots)
        if (index < 0 || index >= static_cast<int64_t>(function.getNumResults())) {
          function.emitError() << "root " << index << " is not one of its " << function.getNumResults() << " results";
          return signalPassFailure();
        }
      if (failed(Differentiation(function).run(roots)))
        return signalPassFailure();
    }
    if (!hasRoot) {
      Operation *where = function.empty() ? getOperation() : functions.front().getOperation();
      where->emitError() << "no result has tg.role = #tg.role<loss>; mark one, or name a result with root=";
      signalPassFailure();
    }
  }

private:
  LogicalResult collect(SmallVectorImpl<func::FuncOp> &functions) {
    for (auto candidate : getOperation().getOps<func::FuncOp>())
      if (!candidate.isExternal() && (function.empty() || candidate.getName() == function.getValue()))
        functions.push_back(candidate);
    if (functions.empty() && !function.empty())
      return getOperation().emitError() << "the module has no function '" << function << "' with a body";
    return success();
  }

  SmallVector<int64_t> rootsOf(func::FuncOp candidate) const {
    if (!root.empty())
      return SmallVector<int64_t>(root.begin(), root.end());
    SmallVector<int64_t> roots;
    for (unsigned i = 0; i < candidate.getNumResults(); ++i)
      if (ResultAttrs(candidate, i).hasRole(Role::Loss))
        roots.push_back(i);
    return roots;
  }
};
} // namespace
