//===- Translator.cpp - ops of StableHLO become ops of tg -----------------===//

#include "lib/Import/Functions.h"
#include "lib/Import/StableHLO/TranslatorState.h"
#include "mlir/IR/Dominance.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Transforms/CSE.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/xxhash.h"

using namespace llvm;
using namespace mlir;
using namespace braid;
using namespace braid::stablehlo;

/// Upper limits of the ops that a program executes, and of known numbers that are stored one by one.
static constexpr int64_t kMaxOps = int64_t(1) << 18;
static constexpr int64_t kMaxStoredNumbers = int64_t(1) << 26;

Translator::Translator(Program &program, const ImportOptions &options)
    : program(program), options(options), builder(program.main->getContext()) {
  for (const OpFamily &family : allFamilies())
    for (const OpRow &row : family.rows())
      if (row.build || row.evaluate)
        rows[row.name] = &row;
}

//===----------------------------------------------------------------------===//
// Ops
//===----------------------------------------------------------------------===//

/// Returns the innermost line of the user's source, or null.
static FileLineColLoc lineOf(Location loc) {
  for (int depth = 0; depth < 1000; ++depth) {
    if (auto line = dyn_cast<FileLineColLoc>(loc))
      return line;
    if (auto name = dyn_cast<NameLoc>(loc))
      loc = name.getChildLoc();
    else if (auto call = dyn_cast<CallSiteLoc>(loc))
      loc = call.getCallee();
    else
      return {};
  }
  return {};
}

/// Drops the calls of transformations around a part of a name: vmap(jvp(layer)) is layer. A function, jit(f), is
/// empty.
static StringRef withoutTransformations(StringRef part) {
  StringRef rest = part.rtrim(')');
  for (size_t end = rest.find('('); end != StringRef::npos; end = rest.find('(')) {
    if (is_contained({"jit", "pjit"}, rest.take_front(end)))
      return "";
    rest = rest.drop_front(end + 1);
  }
  return rest;
}

/// Returns the user's scopes in the name of an op: jit(f)/while/body/vmap(layer)/attn/dot_general is layer/attn.
static std::string scopesOf(Location loc) {
  auto name = dyn_cast<NameLoc>(loc);
  if (!name)
    return "";
  SmallVector<StringRef> parts;
  name.getName().getValue().split(parts, '/');
  std::string scopes;
  for (StringRef part : ArrayRef(parts).drop_back()) {
    StringRef scope = withoutTransformations(part);
    if (!scope.empty() && !is_contained({"while", "body", "cond", "closed_call", "checkpoint", "remat"}, scope))
      scopes += (scopes.empty() ? "" : "/") + scope.str();
  }
  return scopes;
}

/// An op without a line of its own, such as those of jnp's functions, has the line of the call.
Location Translator::locationOf(Operation *op) {
  Location place = calls.empty() ? builder.getUnknownLoc() : calls.back().second;
  std::string scopes = scopesOf(op->getLoc());
  if (auto caller = dyn_cast<NameLoc>(place)) {
    scopes = caller.getName().str() + (scopes.empty() ? "" : "/") + scopes;
    place = caller.getChildLoc();
  }
  if (FileLineColLoc line = lineOf(op->getLoc()))
    place = line;
  return scopes.empty() ? place : NameLoc::get(builder.getStringAttr(scopes), place);
}

LogicalResult Translator::checkTypes(Operation *op, Location loc) {
  auto check = [&](Type type) -> LogicalResult {
    if (typeHere(type))
      return success();
    return emitError(loc) << op->getName().getStringRef() << ": " << type
                          << " is not supported; tensors of float32, float64, bfloat16, int32, int64 and bool with "
                             "static shapes are";
  };
  for (Type type : op->getOperandTypes())
    if (failed(check(type)))
      return failure();
  for (Type type : op->getResultTypes())
    if (failed(check(type)))
      return failure();
  return success();
}

static uint64_t hashOf(ArrayRef<double> numbers) {
  return xxh3_64bits(ArrayRef(reinterpret_cast<const uint8_t *>(numbers.data()), numbers.size() * sizeof(double)));
}

void Translator::remember(Value source, Known known) {
  if (auto *dense = std::get_if<Dense>(&known.value)) {
    auto [table, isNew] = tables.try_emplace(hashOf(*dense->numbers), *dense);
    if (!isNew && *table->second.numbers == *dense->numbers)
      *dense = table->second;
    else
      storedNumbers += dense->numbers->size();
    if (storedNumbers > kMaxStoredNumbers)
      return;
  }
  operands[source].known = std::move(known);
}

Value Translator::valueOf(Value source, Location loc) {
  Operand &operand = operands[source];
  RankedTensorType type = typeHere(source.getType());
  if (!operand.value && !operand.known) {
    emitError(loc) << "a value is used before it is defined";
    hasFailed = true;
  }
  if (type && type.getNumElements() == 0) {
    emitError(loc) << "a tensor without elements is supported only where tensors are joined";
    hasFailed = true;
    type = {};
  }
  if (!type || (!operand.value && !operand.known))
    return builder.create<arith::ConstantOp>(loc, builder.getZeroAttr(RankedTensorType::get({}, builder.getF32Type())));
  bool isTable = !operand.value && std::holds_alternative<Dense>(operand.known->value) && !operand.known->splat();
  if (isTable && type.getNumElements() > kMaxConstantElements) {
    operand.value = builder.create<arith::ConstantOp>(loc, elementsOf(*operand.known->numbers(), type));
    requirePattern(operand.value, type.getNumElements());
  }
  Value value = materialize(operand, type, builder, loc, hasFailed);
  if (operand.known)
    knownValues.try_emplace(value, *operand.known);
  return value;
}

/// Whether an op compares for equality: unsigned integers are equal if their bits are.
static bool comparesBits(Operation *op) {
  return op->getName().getStringRef() == "stablehlo.compare" &&
         is_contained({"EQ", "NE"}, wordOf(op->getAttr("comparison_direction"), "comparison_direction"));
}

LogicalResult Translator::translate(Operation *op) {
  Location loc = locationOf(op);
  StringRef name = op->getName().getStringRef();
  if (++translatedOps > kMaxOps)
    return emitError(loc) << "the program executes more than " << kMaxOps << " ops, with functions and loops";
  if (name == "stablehlo.rng_bit_generator" || name == "stablehlo.rng")
    return emitError(loc)
           << name
           << ": random numbers of the device are not supported; use keys of JAX's default generator, threefry2x32";
  if (name == "stablehlo.sort")
    return emitError(loc)
           << name
           << ": sorting is not supported; take the largest by lax.top_k, and dispatch tokens to experts "
              "by jax.nn.one_hot and jnp.cumsum";
  if (failed(checkTypes(op, loc)))
    return failure();
  for (Value operand : op->getOperands())
    if (Operand &given = operands[operand]; !given.value && !given.known)
      return emitError(loc) << name << ": a value is used before it is defined";
  if (std::optional<LogicalResult> result = translateControl(op, loc))
    return *result;
  const OpRow *row = rows.lookup(name);
  if (!row)
    return emitError(loc) << name << " is not supported; docs/Importing.md lists the ops that are";
  OpRow checked = *row;
  checked.keepsBits |= comparesBits(op);
  if (failed(checkOp(op, checked, loc)))
    return failure();
  return translateRow(op, *row, loc);
}

LogicalResult Translator::translateRow(Operation *op, const OpRow &row, Location loc) {
  SourceOp source(*this, op, builder, loc);
  auto isEmpty = [](Type type) { return cast<ShapedType>(type).getNumElements() == 0; };
  for (Value result : op->getResults()) {
    operands[result] = {};
    if (isEmpty(result.getType()))
      remember(result, known::constant(typeHere(result.getType()).getShape(), 0));
  }
  if (op->getNumResults() > 0 && all_of(op->getResultTypes(), isEmpty))
    return success();
  MaybeKnown known = row.evaluate && op->getNumResults() == 1 ? row.evaluate(source) : std::nullopt;
  if (known && known->shape == source.resultShape()) {
    remember(op->getResult(0), std::move(*known));
    // Integers and booleans are built when an op needs them; a table of numbers is built now, beside what is known.
    Operand &result = operands[op->getResult(0)];
    if (result.known && (!source.isFloatResult() || !row.build))
      return success();
    if (std::optional<double> all = result.known ? result.known->splat() : std::nullopt) {
      result.value = source.constant(source.resultType(), *all);
      return success();
    }
  }
  auto isWide = [](Type type) { return getElementTypeOrSelf(type).isUnsignedInteger(64); };
  if (any_of(op->getOperandTypes(), isWide) || any_of(op->getResultTypes(), isWide))
    return emitError(loc) << row.name << ": unsigned integers of 64 bits are supported only where they are known";
  if (!row.build)
    return emitError(loc) << row.name << ": is supported only of values that do not depend on inputs or parameters";
  Values results = row.build(source);
  if (hasFailed || results.size() != op->getNumResults() || is_contained(results, Value()))
    return failure();
  for (auto [number, value] : enumerate(results)) {
    if (value.getType() != source.resultType(number))
      return emitError(loc) << row.name << ": the result is " << value.getType() << " here, and "
                            << op->getResult(number).getType() << " in the program";
    Operand &result = operands[op->getResult(number)];
    result.value = value;
    if (result.known)
      knownValues.try_emplace(value, *result.known);
  }
  return success();
}

//===----------------------------------------------------------------------===//
// The function
//===----------------------------------------------------------------------===//

/// Erases ops without a use.
static void eraseUnused(func::FuncOp function) {
  for (Operation &op : make_early_inc_range(reverse(function.getBody().front())))
    if (isOpTriviallyDead(&op))
      op.erase();
}

/// Replaces |x|, whose gradient at 0 is 1 in JAX, where patterns have left it.
static void expandMagnitudes(func::FuncOp function) {
  for (auto op : make_early_inc_range(function.getBody().front().getOps<math::AbsFOp>())) {
    if (all_of(op->getUsers(), [](Operation *user) { return isa<arith::CmpFOp>(user); }))
      continue;
    OpBuilder builder(op);
    tg::TensorBuilder b(builder, op.getLoc());
    op.replaceAllUsesWith(FunctionBuilder(b, /*hasGradients=*/false).magnitude(op.getOperand()));
    op.erase();
  }
}

/// Replaces what stands for erfc and belongs to no GELU.
static void expandErfComplements(func::FuncOp function) {
  for (auto op : make_early_inc_range(function.getBody().front().getOps<arith::SubFOp>())) {
    if (!op->hasAttr(kErfComplement))
      continue;
    OpBuilder builder(op);
    tg::TensorBuilder b(builder, op.getLoc());
    Value x = op.getRhs().getDefiningOp<math::ErfOp>().getOperand();
    op->replaceAllUsesWith(FunctionBuilder(b, /*hasGradients=*/false).erfComplement(x).getDefiningOp());
    op.erase();
  }
}

/// Reports parts of patterns that no pattern has replaced.
LogicalResult Translator::checkPatterns() {
  for (Operation &op : function.getBody().front())
    if (auto message = op.getAttrOfType<StringAttr>(kPartOfPattern))
      return emitError(op.getLoc()) << message.getValue();
  return success();
}

Imported Translator::run() {
  OwningOpRef<ModuleOp> module = ModuleOp::create(builder.getUnknownLoc());
  builder.setInsertionPointToEnd(module->getBody());
  FailureOr<SmallVector<ResultUse>> found = findUpdates(program, options.states);
  if (failed(found))
    return {};
  uses = std::move(*found);
  function = builder.create<func::FuncOp>(module->getLoc(), "model", builder.getFunctionType({}, {}));
  builder.setInsertionPointToEnd(function.addEntryBlock());
  if (failed(declareArguments()))
    return {};
  calls.push_back({program.main, builder.getUnknownLoc()});
  Block &body = program.main.getBody().front();
  for (Operation &op : body.without_terminator())
    if (failed(translate(&op)))
      return {};
  if (failed(finish(body.getTerminator()->getOperands())))
    return {};
  splitStacked(function);
  // Equal expressions are one value, so that patterns find them; no op is built between this and the look-up of what is
  // known, so an address stands for the same op.
  IRRewriter rewriter(builder.getContext());
  DominanceInfo dominance(function);
  eliminateCommonSubExpressions(rewriter, dominance, function);
  KnownValues known;
  function.walk([&](Operation *op) {
    for (Value result : op->getResults())
      if (auto found = knownValues.find(result); found != knownValues.end())
        known.insert(*found);
  });
  // The gradients of a whole step read the parts of formulas, so composites would compute them a second time.
  Recognized recognized = isStep() ? recognizeIndices(function) : recognize(function, known);
  eraseUnused(function);
  if (!isStep()) {
    expandMagnitudes(function);
    expandErfComplements(function);
  }
  if (failed(checkPatterns()))
    return {};
  return {std::move(module), std::move(recognized)};
}

Imported braid::stablehlo::translate(Program &program, const ImportOptions &options) {
  return Translator(program, options).run();
}
