//===- Signature.cpp - arguments and results of the model -----------------===//

#include "lib/Import/InputRoles.h"
#include "lib/Import/StableHLO/TranslatorState.h"
#include "lib/Import/Units.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SetVector.h"

using namespace llvm;
using namespace mlir;
using namespace braid;
using namespace braid::stablehlo;

static Location placeOf(const Argument &argument) {
  return NameLoc::get(StringAttr::get(argument.value.getContext(), argument.name));
}

bool Translator::isStep() const {
  return any_of(uses, [](const ResultUse &use) { return use.isOfState; });
}

bool Translator::isState(const Argument &argument) const {
  return any_of(uses, [&](const ResultUse &use) { return use.argument == argument.value.getArgNumber(); });
}

/// A name that is a whole argument is no array of another one.
bool Translator::isFrozen(const Argument &argument) const {
  auto isArgument = [&](StringRef name) {
    return any_of(program.arguments, [&](const Argument &each) { return each.path.root == name; });
  };
  return is_contained(options.frozen, argument.path.root) ||
         (is_contained(options.frozen, argument.name) && !isArgument(argument.name));
}

//===----------------------------------------------------------------------===//
// Arguments
//===----------------------------------------------------------------------===//

void Translator::nameArgument(const Argument &argument, StringRef name, ArrayRef<NamedAttribute> attributes) {
  unsigned number = argument.value.getArgNumber();
  argumentNames[number] = name.str();
  argumentAttributes[number] = builder.getDictionaryAttr(attributes);
}

/// Whether a step takes its learning rate from the training loop by this argument.
static bool isLearningRate(const Argument &argument, RankedTensorType type) {
  StringRef name = StringRef(argument.name).rsplit('.').second;
  return type.getRank() == 0 && type.getElementType().isF32() &&
         is_contained({"lr", "learning_rate"}, name.empty() ? StringRef(argument.name) : name);
}

LogicalResult Translator::declareInput(const Argument &argument, RankedTensorType type, Location loc) {
  std::string typeName;
  raw_string_ostream(typeName) << type.getElementType();
  bool isStated = any_of(options.roles, [&](const InputRole &each) { return each.name == argument.name; });
  FailureOr<tg::Role> role = isStep() && isLearningRate(argument, type) ? FailureOr<tg::Role>(tg::Role::Lr)
                             : isUnsigned(argument.value.getType()) && !isStated
                                 ? FailureOr<tg::Role>(type.getRank() == 1 ? tg::Role::Shared : tg::Role::Features)
                                 : roleOf(argument.name, type.getElementType(), typeName, options, loc);
  if (failed(role))
    return failure();
  if (isStep() && type.getRank() == 0 && *role != tg::Role::Lr && *role != tg::Role::Shared)
    return emitError(loc) << "argument '" << argument.name
                          << "' is one number, and no row of a batch; a whole step takes its learning rate as lr, and "
                             "other numbers as constants, as states, or by --input="
                          << argument.name << "=shared";
  nameArgument(argument, argument.name,
               {builder.getNamedAttr("tg.input", builder.getStringAttr(argument.name)),
                builder.getNamedAttr("tg.role", tg::RoleAttr::get(builder.getContext(), *role))});
  return success();
}

/// A parameter without an update keeps the argument's name, so that it may have the keys of a parameter.
LogicalResult Translator::declareFrozen(const Argument &argument, RankedTensorType type, Location loc) {
  std::string name = argument.path.text();
  if (isState(argument))
    return emitError(loc) << "argument '" << argument.path.root << "' is frozen by --input, and a state of the step";
  if (!isa<FloatType>(type.getElementType()))
    return emitError(loc) << "argument '" << argument.name << "' is " << type << "; only floats are frozen parameters";
  auto param = tg::ParamAttr::get(builder.getContext(), builder.getStringAttr(name),
                                  initialValues(name, builder.getContext()), builder.getStringAttr(unitOf(name)), {},
                                  /*frozen=*/true, false, -1);
  nameArgument(argument, name, {builder.getNamedAttr("tg.param", param)});
  return success();
}

/// A state gets its attributes when the loss is known. Another float is a parameter unless the options give it a role,
/// or the program is a whole step, whose parameters are states. The name of an integer tells its role.
LogicalResult Translator::declareArgument(const Argument &argument) {
  MLIRContext *context = builder.getContext();
  Location loc = placeOf(argument);
  RankedTensorType type = typeHere(argument.value.getType());
  if (!type)
    return emitError(loc) << "argument '" << argument.name << "' is " << argument.value.getType()
                          << "; tensors of float32, float64, bfloat16, int32, int64 and bool with static shapes are "
                             "supported, and uint32 as in keys of random numbers";
  operands[argument.value].value = function.getBody().front().addArgument(type, function.getLoc());
  argumentNames.emplace_back();
  argumentAttributes.emplace_back();
  if (isFrozen(argument))
    return declareFrozen(argument, type, loc);
  if (isState(argument))
    return success();
  bool isStated = any_of(options.roles, [&](const InputRole &role) { return role.name == argument.name; });
  if (isStep() || isStated || !isa<FloatType>(type.getElementType()))
    return declareInput(argument, type, loc);
  auto param = tg::ParamAttr::get(context, builder.getStringAttr(argument.name), initialValues(argument.name, context),
                                  builder.getStringAttr(unitOf(argument.name)), {}, false, false, -1);
  nameArgument(argument, argument.name, {builder.getNamedAttr("tg.param", param)});
  return success();
}

LogicalResult Translator::declareArguments() {
  for (const Argument &argument : program.arguments)
    if (failed(declareArgument(argument)))
      return failure();
  return success();
}

//===----------------------------------------------------------------------===//
// Results
//===----------------------------------------------------------------------===//

/// Returns the values that a value depends on, and itself.
static llvm::SetVector<Value> sourcesOf(Value value) {
  llvm::SetVector<Value> sources;
  sources.insert(value);
  for (unsigned next = 0; next < sources.size(); ++next)
    if (Operation *op = sources[next].getDefiningOp())
      sources.insert(op->operand_begin(), op->operand_end());
  return sources;
}

std::string Translator::finishState(const Argument &argument, bool isRead, bool isUnchanged) {
  MLIRContext *context = builder.getContext();
  if (isRead && isa<FloatType>(typeHere(argument.value.getType()).getElementType())) {
    auto param =
        tg::ParamAttr::get(context, builder.getStringAttr(argument.name), initialValues(argument.name, context),
                           builder.getStringAttr(unitOf(argument.name)), {}, isUnchanged, false, -1);
    nameArgument(argument, argument.name, {builder.getNamedAttr("tg.param", param)});
    return argument.name;
  }
  std::string name = argument.path.text();
  nameArgument(argument, name, {builder.getNamedAttr("tg.state", stateOfProgram(name, 0, context))});
  return name;
}

bool Translator::readsState(Value value) {
  llvm::SetVector<Value> sources = sourcesOf(value);
  return any_of(program.arguments, [&](const Argument &argument) {
    Value here = operands[argument.value].value;
    return isState(argument) && tg::isFloat(here) && sources.contains(here);
  });
}

FailureOr<std::optional<size_t>> Translator::lossOf(ArrayRef<ModelOutput> outputs) {
  std::optional<size_t> loss, other;
  for (size_t number = outputs.size(); number-- > 0;) {
    Value value = outputs[number].value;
    if (uses[number].isOfState || !tg::isFloat(value) || tg::typeOf(value).getRank() != 0)
      continue;
    const LeafPath &path = program.results[number];
    if (!readsState(value))
      other = number;
    else if (path.leaf == "loss" || path.root == "loss")
      return std::optional<size_t>(number);
    else
      loss = number;
  }
  if (!loss && other)
    return emitError(function.getLoc()) << "result '" << program.results[*other].text()
                                        << "' is a float without dims, but depends on no parameter, so it is no loss; "
                                           "return the loss of jax.value_and_grad from the step";
  return loss;
}

/// Gives states their attributes: those that the loss reads are parameters. An unchanged state has no new value. The
/// loss becomes the first output.
LogicalResult Translator::finishStates(std::vector<ModelOutput> &outputs) {
  FailureOr<std::optional<size_t>> loss = lossOf(outputs);
  if (failed(loss))
    return failure();
  llvm::SetVector<Value> read = *loss ? sourcesOf(outputs[**loss].value) : llvm::SetVector<Value>();
  std::vector<ModelOutput> kept;
  for (auto [number, output, use] : enumerate(outputs, uses)) {
    if (!use.isOfState)
      kept.insert(number == *loss ? kept.begin() : kept.end(), output);
    if (!use.argument)
      continue;
    const Argument &argument = program.arguments[*use.argument];
    Value old = operands[argument.value].value;
    if (output.value != old && read.contains(old) && read.contains(output.value) && tg::isFloat(old))
      return emitError(placeOf(argument))
             << "the loss, result '" << program.results[**loss].text() << "', depends on the new value of '"
             << argument.name << "'; compute it in front of the update, as jax.value_and_grad does";
    std::string name = finishState(argument, read.contains(old), output.value == old);
    if (output.value != old)
      kept.push_back({output.value, name, /*isUpdate=*/true});
  }
  outputs = std::move(kept);
  return success();
}

LogicalResult Translator::checkNames() {
  llvm::StringMap<const Argument *> argumentOfName;
  for (auto [name, argument] : zip_equal(argumentNames, program.arguments)) {
    auto [other, isNew] = argumentOfName.try_emplace(name, &argument);
    auto pathOf = [](const Argument &argument) { return cast<NameLoc>(argument.value.getLoc()).getName().getValue(); };
    if (!isNew)
      return emitError(placeOf(argument)) << "arguments '" << pathOf(*other->second) << "' and '" << pathOf(argument)
                                          << "' are both called '" << name << "' here; rename one of them";
  }
  return success();
}

LogicalResult Translator::finish(ValueRange results) {
  std::vector<ModelOutput> outputs;
  for (auto [number, result] : enumerate(results)) {
    std::string name = ("output" + Twine(number)).str();
    Value value = valueOf(result, NameLoc::get(builder.getStringAttr(name)));
    if (!value || hasFailed)
      return failure();
    outputs.push_back({value, name});
  }
  if ((isStep() && failed(finishStates(outputs))) || failed(checkNames()))
    return failure();
  return finishModel(function, argumentAttributes, outputs, "return the loss from the function, as jax.grad takes it");
}
