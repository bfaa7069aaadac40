//===- MixedPrecision.cpp - choose bf16 or f32 for each op ----------------===//
//
// The policy is a table of kinds of ops, and each op declares its kind. One walk in block order chooses the type of
// each op and converts its operands to it. A value is converted at most once, at its definition, and not if it exists
// in both types. So no cast is redundant.
//
//===----------------------------------------------------------------------===//

#include "dialects/TG/TGBuilder.h"
#include "passes/Base/Signature.h"
#define GEN_PASS_DEF_MIXEDPRECISIONPASS
#include "passes/Precision/Passes.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"

using namespace mlir;
using namespace braid;

//===----------------------------------------------------------------------===//
// The policy
//===----------------------------------------------------------------------===//

namespace {
/// How the type of an op is chosen.
enum class Choice {
  Narrow,  ///< Runs in bf16.
  Wide,    ///< Stays in f32.
  Between, ///< bf16 between bf16 producers and bf16 consumers, f32 elsewhere.
  Follows, ///< The type of its operands.
};

struct Rule {
  NumericKind kind;
  StringLiteral name;
  Choice choice;
};
} // namespace

static constexpr Rule kRules[] = {
    {NumericKind::Source, "sources", Choice::Wide},
    {NumericKind::Movement, "movement", Choice::Follows},
    {NumericKind::Conversion, "conversions", Choice::Wide},
    {NumericKind::Contraction, "contractions", Choice::Narrow},
    {NumericKind::Attention, "attention", Choice::Narrow},
    {NumericKind::Embedding, "embeddings", Choice::Narrow},
    {NumericKind::Elementwise, "elementwise", Choice::Between},
    {NumericKind::Norm, "norms", Choice::Wide},
    {NumericKind::Softmax, "softmax", Choice::Wide},
    {NumericKind::Reduction, "reductions", Choice::Wide},
    {NumericKind::Loss, "losses", Choice::Wide},
    {NumericKind::Optimizer, "optimizers", Choice::Wide},
};

namespace {
class Policy {
public:
  /// Reads the rules; the kinds in `wide` stay in f32.
  LogicalResult read(Operation *where, ArrayRef<std::string> wide);
  Choice choiceOf(Operation *op) const { return choices[static_cast<unsigned>(numericKindOf(op))]; }

private:
  Choice choices[std::size(kRules)];
};
} // namespace

LogicalResult Policy::read(Operation *where, ArrayRef<std::string> wide) {
  for (const Rule &rule : kRules)
    choices[static_cast<unsigned>(rule.kind)] = rule.choice;
  for (StringRef name : wide) {
    const Rule *rule = llvm::find_if(kRules, [&](const Rule &rule) { return rule.name == name; });
    if (rule == std::end(kRules)) {
      auto names = llvm::map_range(kRules, [](const Rule &rule) { return rule.name; });
      return where->emitError() << "tg-mixed-precision: unknown kind of op '" << name
                                << "' in keep-f32 (kinds: " << llvm::join(names, ", ") << ")";
    }
    choices[static_cast<unsigned>(rule->kind)] = Choice::Wide;
  }
  return success();
}

//===----------------------------------------------------------------------===//
// The walk
//===----------------------------------------------------------------------===//

static Type elementOf(Value value) {
  auto tensor = dyn_cast<RankedTensorType>(value.getType());
  return tensor ? tensor.getElementType() : Type();
}

namespace {
class Narrowing {
public:
  Narrowing(func::FuncOp function, const Policy &policy)
      : function(function), policy(policy), f32(Float32Type::get(function.getContext())),
        bf16(BFloat16Type::get(function.getContext())) {}

  void run();

private:
  bool runsNarrow(Operation *op) const;
  void findOpsReachingBf16();
  void narrow(Operation *op);
  Value inType(Value value, Type element);
  Value convert(Value value, Type element);
  /// Whether a value is available in bf16: results of bf16 ops, and parameters.
  bool isNarrow(Value value) const { return elementOf(value) == bf16 || parameters.contains(value); }

  func::FuncOp function;
  const Policy &policy;
  Type f32, bf16;
  DenseSet<Value> parameters; ///< Parameters in f32.
  /// Ops whose results reach an op that always runs in bf16.
  DenseSet<Operation *> reachingBf16;
  DenseMap<Value, Value> converted;
};
} // namespace

void Narrowing::findOpsReachingBf16() {
  for (Operation &op : llvm::reverse(function.front()))
    for (Operation *user : op.getUsers())
      if (reachingBf16.contains(user) || policy.choiceOf(user) == Choice::Narrow)
        reachingBf16.insert(&op);
}

bool Narrowing::runsNarrow(Operation *op) const {
  auto floats = llvm::make_filter_range(op->getOperands(),
                                        [](Value value) { return isa_and_present<FloatType>(elementOf(value)); });
  switch (policy.choiceOf(op)) {
  case Choice::Narrow:
    return true;
  case Choice::Wide:
    return false;
  case Choice::Between:
    return reachingBf16.contains(op) && llvm::any_of(floats, [&](Value value) { return isNarrow(value); });
  case Choice::Follows:
    return !floats.empty() && llvm::all_of(floats, [&](Value value) { return isNarrow(value); });
  }
  llvm_unreachable("not a choice of type");
}

Value Narrowing::convert(Value value, Type element) {
  Value &known = converted[value];
  if (!known) {
    OpBuilder builder(function.getContext());
    builder.setInsertionPointAfterValue(value);
    known = tg::TensorBuilder(builder, value.getLoc()).convert(value, element);
  }
  return known;
}

/// Returns a value that was f32 in the graph in the given type. All ops read parameters in bf16; f32 ops convert that
/// back.
Value Narrowing::inType(Value value, Type element) {
  if (parameters.contains(value))
    value = convert(value, bf16);
  Type found = elementOf(value);
  return found == element || (found != f32 && found != bf16) ? value : convert(value, element);
}

void Narrowing::narrow(Operation *op) {
  for (OpOperand &operand : op->getOpOperands())
    operand.set(inType(operand.get(), bf16));
  if (auto inferring = dyn_cast<InferTypeOpInterface>(op)) {
    SmallVector<Type> types;
    LogicalResult inferred =
        inferring.inferReturnTypes(op->getContext(), op->getLoc(), op->getOperands(), op->getAttrDictionary(),
                                   op->getPropertiesStorage(), op->getRegions(), types);
    if (failed(inferred))
      llvm_unreachable("an op of bf16 operands has the shapes that it had");
    for (auto [result, type] : llvm::zip_equal(op->getResults(), types))
      result.setType(type);
    return;
  }
  for (Value result : op->getResults())
    if (elementOf(result) == f32)
      result.setType(tg::withElement(tg::typeOf(result), bf16));
}

void Narrowing::run() {
  for (BlockArgument argument : function.getArguments())
    if (parameterOf(argument) && elementOf(argument) == f32)
      parameters.insert(argument);
  findOpsReachingBf16();
  SmallVector<Operation *> ops;
  for (Operation &op : function.front())
    ops.push_back(&op);
  DenseSet<Value> made; // bf16 results that were f32 in the graph
  for (Operation *op : ops) {
    bool hasFloats =
        llvm::any_of(op->getOperands(), [&](Value value) { return elementOf(value) == f32 || made.contains(value); });
    if (!hasFloats)
      continue;
    if (!op->hasTrait<OpTrait::IsTerminator>() && runsNarrow(op)) {
      SmallVector<Type> before(op->getResultTypes());
      narrow(op);
      for (auto [result, type] : llvm::zip_equal(op->getResults(), before))
        if (result.getType() != type)
          made.insert(result);
      continue;
    }
    for (OpOperand &operand : op->getOpOperands())
      if (elementOf(operand.get()) == f32 || made.contains(operand.get()))
        operand.set(inType(operand.get(), f32));
  }
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

namespace {
struct MixedPrecision final : braid::impl::MixedPrecisionPassBase<MixedPrecision> {
  using MixedPrecisionPassBase::MixedPrecisionPassBase;

  void runOnOperation() final {
    func::FuncOp function = getOperation();
    Policy policy;
    if (failed(policy.read(function, *keepF32)))
      return signalPassFailure();
    if (function.isExternal())
      return;
    for (unsigned i = 0; i < function.getNumResults(); ++i)
      if (tg::ResultAttrs(function, i).gradientOf) {
        function.emitError() << "result #" << i
                             << " is a gradient already; run tg-mixed-precision before tg-differentiate";
        return signalPassFailure();
      }
    Narrowing(function, policy).run();
  }
};
} // namespace
