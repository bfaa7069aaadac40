//===- Accumulate.cpp - a step of several microbatches --------------------===//

#include "dialects/TG/Facts.h"
#include "dialects/TG/TGBuilder.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/SymbolTable.h"
#include "passes/Autodiff/DecayGroups.h"
#include "passes/Autodiff/MinCount.h"
#define GEN_PASS_DEF_ACCUMULATEPASS
#include "passes/Autodiff/Passes.h"
#include "passes/Base/Signature.h"

using namespace mlir;
using namespace braid;

namespace {
/// A result that is summed over microbatches, and the state that holds the sum.
struct Sum {
  unsigned result;
  std::string state;
  /// Whether the count divides the sum. False for the model's counters.
  bool isMean = true;
  BlockArgument accumulator = {};
  Value total = {}; ///< Accumulator plus the value of this microbatch.
};
} // namespace

/// Returns the name of the sum of a gradient, the loss or the count, for checkpoints and reports.
static std::string accumulatorName(StringRef summand) { return "acc." + summand.str(); }

/// Gradients of unused parameters are zeros and need no accumulator.
static bool isZero(Value value) { return matchPattern(value, m_AnyZeroFloat()); }

/// Returns the values to sum: the loss, the count if there is one, the gradients, and the model's counters.
static SmallVector<Sum> findSums(func::FuncOp function) {
  SmallVector<Sum> sums;
  for (unsigned i = 0; i < function.getNumResults(); ++i) {
    if (isZero(returnOf(function).getOperand(i)))
      continue;
    tg::ResultAttrs result(function, i);
    if (result.gradientOf)
      sums.push_back({i, accumulatorName(result.gradientOf)});
    else if (result.hasRole(tg::Role::Loss) || result.hasRole(tg::Role::Count))
      sums.push_back({i, accumulatorName(tg::stringifyRole(result.role.getValue()))});
    else if (isCounted(function, i))
      sums.push_back({i, accumulatorName(result.output), /*isMean=*/false});
  }
  return sums;
}

/// Adds the accumulators, and adds to each the value of this microbatch at its definition, where a reduction over
/// ranks can start. Without a microbatch the accumulators are the sums.
static void addAccumulators(func::FuncOp function, MutableArrayRef<Sum> sums, bool hasMicrobatch) {
  tg::ProgramSignature signature(function);
  SignatureEditor editor(function);
  OpBuilder builder(function.getContext());
  for (Sum &sum : sums) {
    Value value = returnOf(function).getOperand(sum.result);
    builder.setInsertionPointAfterValue(value);
    StringAttr gradOf = signature.result(sum.result).gradientOf;
    BlockArgument parameter = signature.parameterOfGradient(sum.result);
    sum.accumulator = editor.addState(value.getType(), sum.state, tg::TensorKind::Accumulator, parameter);
    sum.total = sum.accumulator;
    if (!hasMicrobatch)
      continue;
    Location loc = tg::withPhase(tg::locationOf(value), gradOf ? tg::Phase::Backward : tg::Phase::Forward);
    loc = tg::withTensor(loc, gradOf ? gradOf : builder.getStringAttr(sum.state), tg::TensorKind::Accumulator);
    sum.total = tg::TensorBuilder(builder, loc).add(sum.accumulator, value);
  }
  editor.finish();
}

/// Finishes `@accumulate`: it returns only the sums, and the states that every microbatch updates.
static void finishAccumulate(func::FuncOp function, ArrayRef<Sum> sums) {
  eraseResults(function, [&](unsigned index) { return !tg::ResultAttrs(function, index).updates; });
  SignatureEditor editor(function);
  for (const Sum &sum : sums)
    editor.addResult(sum.total, tg::kUpdates, sum.state);
  editor.finish();
  eraseDeadOps(function);
}

/// Finishes `@train`: divides the sums by the count and resets the accumulators to zero.
static void finishTrain(func::FuncOp function, ArrayRef<Sum> sums) {
  OpBuilder builder(function.getContext());
  tg::TensorBuilder b(builder, function.getLoc());
  std::optional<unsigned> count = resultWithRole(function, tg::Role::Count);
  Value scale;
  for (const Sum &sum : sums)
    if (count == sum.result) {
      builder.setInsertionPointAfterValue(sum.total);
      b.loc = tg::withPhase(b.loc, tg::Phase::Forward); // the loss is scaled, too
      // If the count is 0, all sums are zeros and stay zeros.
      double minimum = minCount(tg::typeOf(sum.total).getElementType());
      scale = b.div(b.constantLike(sum.total, 1.0), b.max(sum.total, minimum));
    }
  for (const Sum &sum : sums) {
    Value value = sum.total;
    if (scale && sum.isMean) {
      Operation *producer = value.getDefiningOp(); // null for an accumulator
      bool isAfter = producer && scale.getDefiningOp()->isBeforeInBlock(producer);
      builder.setInsertionPointAfterValue(isAfter ? value : scale);
      b.loc = producer ? tg::withoutTensor(value.getLoc()) : tg::withPhase(function.getLoc(), tg::Phase::Forward);
      if (StringAttr gradOf = tg::ResultAttrs(function, sum.result).gradientOf)
        b.loc = tg::withTensor(tg::withPhase(b.loc, tg::Phase::Update), gradOf, tg::TensorKind::Gradient);
      value = b.widen(value); // a value stored in bf16 is not rounded a second time
      value = b.mul(value, b.broadcastScalar(b.convert(scale, tg::typeOf(value).getElementType()), value));
    }
    returnOf(function).setOperand(sum.result, value);
  }
  builder.setInsertionPoint(returnOf(function));
  SignatureEditor editor(function);
  for (const Sum &sum : sums)
    editor.addResult(b.zeros(tg::typeOf(sum.accumulator)), tg::kUpdates, sum.state);
  editor.finish();
  if (count)
    eraseResults(function, [&](unsigned index) { return index == *count; });
}

/// Drops new values of the model's own state, which microbatches update. Fails if another result is not a sum.
static LogicalResult dropMicrobatch(func::FuncOp train) {
  eraseResults(train, [&](unsigned index) { return bool(tg::ResultAttrs(train, index).updates); });
  SmallVector<Sum> sums = findSums(train);
  for (unsigned i = 0; i < train.getNumResults(); ++i) {
    bool isSum = llvm::any_of(sums, [&](const Sum &sum) { return sum.result == i; });
    if (!isSum && !isZero(returnOf(train).getOperand(i)))
      return train.emitError() << "result #" << i
                               << " belongs to one microbatch and is not a sum over microbatches, but the update of a "
                                  "pipeline has no microbatch; leave out the option that reports the value";
  }
  return success();
}

namespace {
struct Accumulate final : braid::impl::AccumulatePassBase<Accumulate> {
  using AccumulatePassBase::AccumulatePassBase;

  LogicalResult check(func::FuncOp train, SymbolTable &symbols) {
    if (!train || train.isExternal())
      return getOperation().emitError() << "no function '" << functionName.getValue() << "' to accumulate gradients of";
    bool hasGradients = false;
    tg::ProgramSignature signature(train);
    for (unsigned i = 0; i < train.getNumResults(); ++i) {
      StringAttr gradOf = signature.result(i).gradientOf;
      hasGradients |= gradOf != nullptr;
      if (gradOf && !signature.parameterOfGradient(i))
        return train.emitError()
               << "result #" << i << " is the gradient of " << gradOf
               << ", which is not a parameter; only gradients of parameters are accumulated over microbatches";
      if (parameterOf(signature.updatedArgument(i)))
        return train.emitError() << "'" << functionName.getValue() << "' updates " << signature.result(i).updates
                                 << " already; run tg-accumulate before tg-apply-optimizer";
    }
    if (!hasGradients)
      return train.emitError() << "'" << functionName.getValue()
                               << "' has no result with tg.grad_of; run tg-differentiate before tg-accumulate";
    if (symbols.lookup("accumulate"))
      return train.emitError() << "the module already has a function 'accumulate'; rename it";
    return success();
  }

  void runOnOperation() final {
    SymbolTable symbols(getOperation());
    auto train = symbols.lookup<func::FuncOp>(functionName);
    if (failed(check(train, symbols)))
      return signalPassFailure();
    func::FuncOp accumulate = train.clone();
    accumulate.setName("accumulate");
    symbols.insert(accumulate, std::next(Block::iterator(train)));
    if (separateUpdate)
      noteDecayGroups(train); // the readers of parameters are erased below
    if (separateUpdate && failed(dropMicrobatch(train)))
      return signalPassFailure();
    for (func::FuncOp function : {train, accumulate}) {
      SmallVector<Sum> sums = findSums(function);
      addAccumulators(function, sums, /*hasMicrobatch=*/function == accumulate || !separateUpdate);
      function == train ? finishTrain(function, sums) : finishAccumulate(function, sums);
    }
    if (separateUpdate) {
      eraseDeadOps(train);
      eraseUnusedInputs(train);
    }
  }
};
} // namespace
