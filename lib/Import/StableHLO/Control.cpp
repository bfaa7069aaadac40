//===- Control.cpp - functions, loops and choices -------------------------===//
//
// A graph has no control flow. Functions are inlined, loops whose conditions are known are unrolled, and a choice whose
// condition is known is the branch that it takes.
//
//===----------------------------------------------------------------------===//

#include "lib/Import/Match.h"
#include "lib/Import/StableHLO/TranslatorState.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;
using namespace mlir;
using namespace braid;
using namespace braid::stablehlo;

/// Upper limits of functions in each other, and of a loop's steps.
static constexpr size_t kMaxCalls = 200;
static constexpr int64_t kMaxSteps = 10000;
/// Name of the composite op that stands for lax.stop_gradient in a function that braid.from_jax has lowered.
static constexpr StringLiteral kStopGradient = "braid.stop_gradient";

SmallVector<Operand> Translator::operandsOf(ValueRange values) const {
  return map_to_vector(values, [&](Value value) { return operands.lookup(value); });
}

LogicalResult Translator::bind(ValueRange sources, ArrayRef<Operand> values, Location loc) {
  if (sources.size() != values.size())
    return emitError(loc) << sources.size() << " values here are given " << values.size();
  for (auto [source, value] : zip_equal(sources, values)) {
    if (!value.value && !value.known)
      return emitError(loc) << "a value is used before it is defined";
    RankedTensorType type = typeHere(source.getType());
    bool fits = type && (!value.value || value.value.getType() == type) &&
                (!value.known || ArrayRef<int64_t>(value.known->shape) == type.getShape());
    if (!fits)
      return emitError(loc) << "a value of another type than " << source.getType() << " is passed";
  }
  for (auto [source, value] : zip_equal(sources, values))
    operands[source] = value;
  return success();
}

FailureOr<SmallVector<Operand>> Translator::translateBlock(Block &block, ArrayRef<Operand> arguments) {
  Location loc = calls.empty() ? builder.getUnknownLoc() : calls.back().second;
  if (failed(bind(block.getArguments(), arguments, loc)))
    return failure();
  for (Operation &op : block) {
    if (isa<func::ReturnOp>(op) || op.getName().getStringRef() == "stablehlo.return")
      return operandsOf(op.getOperands());
    if (failed(translate(&op)))
      return failure();
  }
  return emitError(loc) << "a block does not return";
}

/// Whether an op comes from the transposition or the linearization of a function, as jax.grad does both.
static bool isOfDerivative(Operation *op) {
  auto name = dyn_cast<NameLoc>(op->getLoc());
  return name && (name.getName().getValue().contains("jvp(") || name.getName().getValue().contains("transpose("));
}

/// Whether a function has this name, or the name with a number behind it that makes it unique.
static bool isNamed(StringRef function, StringRef name) {
  return function.consume_front(name) &&
         (function.empty() || (function.consume_front("_") && all_of(function, isDigit)));
}

LogicalResult Translator::callFunction(Operation *op, StringRef attribute, Location loc) {
  auto name = dyn_cast_or_null<FlatSymbolRefAttr>(op->getAttr(attribute));
  auto callee = name ? program.module->lookupSymbol<func::FuncOp>(name.getValue()) : func::FuncOp();
  if (!callee || !callee.getBody().hasOneBlock())
    return emitError(loc) << "calls a function that the program does not define";
  if (calls.size() == kMaxCalls || any_of(calls, [&](const auto &call) { return call.first == callee; }))
    return emitError(loc) << "function '" << callee.getName() << "' calls itself, or functions are nested too deeply";
  SmallVector<Operand> arguments = operandsOf(op->getOperands());
  calls.push_back({callee, loc});
  callsOfDerivatives += isOfDerivative(op);
  FailureOr<SmallVector<Operand>> results = translateBlock(callee.getBody().front(), arguments);
  callsOfDerivatives -= isOfDerivative(op);
  calls.pop_back();
  if (failed(results))
    return failure();
  // jax.nn.relu has a rule of its own: the gradient is 0 at 0, of which a maximum would pass half.
  if (isNamed(callee.getName(), "relu") && results->size() == 1 && results->front().value)
    if (auto maximum = results->front().value.getDefiningOp<arith::MaximumFOp>();
        maximum && match::isSplat(maximum.getRhs(), 0))
      results->front().value = builder.create<tg::ReluOp>(maximum.getLoc(), maximum.getLhs());
  return bind(op->getResults(), *results, loc);
}

/// A loop: the first region computes whether there is another step, and the second one makes it.
LogicalResult Translator::unroll(Operation *op, Location loc) {
  if (op->getNumRegions() != 2 || !op->getRegion(0).hasOneBlock() || !op->getRegion(1).hasOneBlock())
    return emitError(loc) << "stablehlo.while: has no two regions of one block";
  SmallVector<Operand> state = operandsOf(op->getOperands());
  for (int64_t step = 0; step <= kMaxSteps; ++step) {
    FailureOr<SmallVector<Operand>> goesOn = translateBlock(op->getRegion(0).front(), state);
    if (failed(goesOn))
      return failure();
    std::optional<double> condition =
        goesOn->size() == 1 && goesOn->front().known ? goesOn->front().known->splat() : std::nullopt;
    if (!condition)
      return emitError(loc) << "stablehlo.while: the number of steps depends on values; only loops with a known number "
                               "of steps are supported, such as lax.scan and lax.fori_loop with constant bounds";
    if (*condition == 0)
      return bind(op->getResults(), state, loc);
    FailureOr<SmallVector<Operand>> next = translateBlock(op->getRegion(1).front(), state);
    if (failed(next))
      return failure();
    state = std::move(*next);
  }
  return emitError(loc) << "stablehlo.while: has more than " << kMaxSteps << " steps";
}

/// A choice that depends on values, in a whole step: all branches are computed, and the results of one are chosen. In a
/// loss, the gradient of a branch that is not taken could be NaN.
LogicalResult Translator::chooseByValue(Operation *op, Location loc) {
  tg::TensorBuilder b(builder, loc);
  Value choice = op->getNumOperands() == 1 ? valueOf(op->getOperand(0), loc) : Value();
  SmallVector<Operand> results;
  for (int64_t number = op->getNumRegions() - 1; number >= 0; --number) {
    Region &region = op->getRegion(number);
    if (!choice || tg::typeOf(choice).getRank() != 0 || tg::isFloat(choice) || !region.hasOneBlock())
      return emitError(loc) << op->getName().getStringRef() << ": has no such branch";
    FailureOr<SmallVector<Operand>> branch = translateBlock(region.front(), {});
    if (failed(branch))
      return failure();
    if (branch->size() != op->getNumResults())
      return emitError(loc) << op->getName().getStringRef() << ": a branch returns " << branch->size() << " values";
    // Numbers of other branches take the last one. A condition is true for the first.
    Value isTaken = tg::typeOf(choice).getElementType().isInteger(1)
                        ? choice
                        : b.compare(arith::CmpIPredicate::eq, choice, b.constantLike(choice, number));
    for (auto [index, operand] : enumerate(*branch)) {
      RankedTensorType type = typeHere(op->getResult(index).getType());
      if (!type || (!operand.value && !operand.known) || (operand.value && operand.value.getType() != type))
        return emitError(loc) << op->getName().getStringRef() << ": a branch returns another type";
      Value value = materialize(operand, type, builder, loc, hasFailed);
      if (results.size() <= index)
        results.push_back({value, {}});
      else
        results[index].value = b.select(b.broadcastScalar(isTaken, value), value, results[index].value);
    }
  }
  return hasFailed ? failure() : bind(op->getResults(), results, loc);
}

/// A choice among regions: stablehlo.case by a number, where others than the regions' take the last; stablehlo.if by a
/// truth value, where true is the first region.
LogicalResult Translator::choose(Operation *op, Location loc) {
  StringRef name = op->getName().getStringRef();
  MaybeKnown known = op->getNumOperands() == 1 ? operands.lookup(op->getOperand(0)).known : std::nullopt;
  std::optional<double> choice = known ? known->splat() : std::nullopt;
  if (!choice && isStep())
    return chooseByValue(op, loc);
  if (!choice)
    return emitError(loc) << name << ": the branch depends on values; compute both, and choose with jnp.where";
  int64_t last = static_cast<int64_t>(op->getNumRegions()) - 1;
  int64_t taken = name == "stablehlo.if" ? *choice == 0 : *choice < 0 || *choice > last ? last : int64_t(*choice);
  if (taken < 0 || taken > last || !op->getRegion(taken).hasOneBlock())
    return emitError(loc) << name << ": has no such branch";
  FailureOr<SmallVector<Operand>> results = translateBlock(op->getRegion(taken).front(), {});
  return failed(results) ? failure() : bind(op->getResults(), *results, loc);
}

/// Binds the results of an op to its operands behind ops that stop gradients.
LogicalResult Translator::stopGradients(Operation *op, Location loc) {
  SmallVector<Operand> values = operandsOf(op->getOperands());
  for (auto [source, value] : zip_equal(op->getOperands(), values))
    if (Value passed = value.known ? Value() : valueOf(source, loc))
      value.value = builder.create<tg::StopGradientOp>(loc, passed);
  return bind(op->getResults(), values, loc);
}

/// Ops that return their operands: barriers and annotations of shardings. A barrier in the scope stop_gradient stops
/// gradients. JAX itself differentiates such a barrier, so a loss with gradients of its own has no use for it.
LogicalResult Translator::passOn(Operation *op, Location loc) {
  StringRef name = op->getName().getStringRef();
  if (name == "stablehlo.custom_call") {
    auto target = dyn_cast_or_null<StringAttr>(op->getAttr("call_target_name"));
    if (!target || (target != "Sharding" && target != "annotate_device_placement" && target != "LayoutConstraint"))
      return emitError(loc) << "stablehlo.custom_call: '" << (target ? target.getValue() : "") << "' is not supported";
  }
  auto scope = dyn_cast<NameLoc>(loc);
  bool isStop =
      name == "stablehlo.optimization_barrier" && scope && is_contained(split(scope.getName(), '/'), "stop_gradient");
  if (isStop && (callsOfDerivatives || isOfDerivative(op)) && !isStep())
    return emitError(loc) << "a barrier in the scope stop_gradient stops no gradient of jax.grad or jax.jvp inside the "
                             "loss; use lax.stop_gradient and braid.from_jax";
  return isStop ? stopGradients(op, loc) : bind(op->getResults(), operandsOf(op->getOperands()), loc);
}

std::optional<LogicalResult> Translator::translateControl(Operation *op, Location loc) {
  StringRef name = op->getName().getStringRef();
  if (name == "func.call")
    return callFunction(op, "callee", loc);
  if (name == "stablehlo.composite") {
    auto composite = dyn_cast_or_null<StringAttr>(op->getAttr("name"));
    return composite && composite == kStopGradient ? stopGradients(op, loc) : callFunction(op, "decomposition", loc);
  }
  if (name == "stablehlo.while")
    return unroll(op, loc);
  if (name == "stablehlo.case" || name == "stablehlo.if")
    return choose(op, loc);
  if (name == "stablehlo.optimization_barrier" || name == "stablehlo.custom_call" || name == "sdy.sharding_constraint")
    return passOn(op, loc);
  return std::nullopt;
}

static constexpr OpRow kControlRows[] = {
    {"func.call", -1, "", nullptr, nullptr, "the ops of the function"},
    {"stablehlo.composite", -1, "", nullptr, nullptr,
     "the ops of its decomposition; of `braid.stop_gradient`, tg.stop_gradient"},
    {"stablehlo.while", -1, "", nullptr, nullptr, "its steps, if their number is known"},
    {"stablehlo.case", 1, "", nullptr, nullptr,
     "the branch, if the number is known; in a whole step also arith.select"},
    {"stablehlo.if", 1, "", nullptr, nullptr,
     "the branch, if the condition is known; in a whole step also arith.select"},
    {"stablehlo.optimization_barrier", -1, "", nullptr, nullptr,
     "nothing; in the scope `stop_gradient`, tg.stop_gradient"},
    {"stablehlo.custom_call", -1, "", nullptr, nullptr, "nothing, for `Sharding`"},
    {"sdy.sharding_constraint", 1, "", nullptr, nullptr, "nothing"},
};

ArrayRef<OpRow> braid::stablehlo::controlRows() { return kControlRows; }
