//===- Signature.cpp - arguments and results of graph functions -----------===//

#include "passes/Base/Signature.h"
#include "dialects/TG/Facts.h"
#include "dialects/TG/Roles.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace braid;

func::ReturnOp braid::returnOf(func::FuncOp function) {
  return cast<func::ReturnOp>(function.getBody().front().getTerminator());
}

std::optional<unsigned> braid::resultWithRole(func::FuncOp function, tg::Role role) {
  for (unsigned i = 0; i < function.getNumResults(); ++i)
    if (tg::ResultAttrs(function, i).hasRole(role))
      return i;
  return std::nullopt;
}

bool braid::isCounted(func::FuncOp function, unsigned result) {
  auto type = dyn_cast<RankedTensorType>(function.getResultTypes()[result]);
  return type && type.getRank() == 0 && isa<FloatType>(type.getElementType()) &&
         tg::ResultAttrs(function, result).output;
}

BlockArgument braid::argumentWithRole(func::FuncOp function, tg::Role role) {
  for (BlockArgument argument : function.getArguments())
    if (tg::RoleAttr found = tg::ArgumentAttrs(argument).role; found && found.getValue() == role)
      return argument;
  return {};
}

tg::FactsAttr braid::factsOfParameter(tg::ParamAttr parameter, tg::Phase phase) {
  return tg::getFacts(parameter.getContext(), phase, parameter.getUnit(), parameter.getOf(), parameter.getKind());
}

llvm::StringMap<BlockArgument> braid::parametersByOwner(func::FuncOp function) {
  llvm::StringMap<BlockArgument> parameters;
  for (BlockArgument argument : function.getArguments())
    if (tg::ParamAttr param = parameterOf(argument))
      parameters[param.getOf()] = argument;
  return parameters;
}

SmallVector<BlockArgument> braid::batchInputs(func::FuncOp function) {
  SmallVector<BlockArgument> inputs;
  for (BlockArgument argument : function.getArguments())
    if (tg::isOfBatch(tg::ArgumentAttrs(argument).role))
      inputs.push_back(argument);
  return inputs;
}

void braid::updateType(func::FuncOp function) {
  function.setFunctionType(FunctionType::get(function.getContext(), function.getBody().front().getArgumentTypes(),
                                             returnOf(function).getOperandTypes()));
}

//===----------------------------------------------------------------------===//
// Additions
//===----------------------------------------------------------------------===//

SignatureEditor::SignatureEditor(func::FuncOp function)
    : function(function), builder(function.getContext()), results(returnOf(function).getOperands()) {
  function.getAllArgAttrs(argumentAttributes);
  function.getAllResultAttrs(resultAttributes);
  for (auto [argument, attributes] : llvm::zip_equal(function.getArguments(), argumentAttributes)) {
    if (tg::RoleAttr role = tg::ArgumentAttrs(attributes).role)
      roles[role.getValue()] = argument;
    noteSharding(attributes);
  }
}

void SignatureEditor::noteSharding(DictionaryAttr attributes) {
  auto sharding = attributes.getAs<comm::ShardingAttr>(comm::CommDialect::kSharding);
  if (!sharding)
    return;
  sharding = sharding.withPartial(comm::AxesAttr::get(function.getContext()));
  if (StringAttr name = tg::nameOf(attributes))
    shardings[name] = sharding;
}

BlockArgument SignatureEditor::addArgument(Type type, ArrayRef<NamedAttribute> attributes) {
  argumentAttributes.push_back(builder.getDictionaryAttr(attributes));
  noteSharding(argumentAttributes.back());
  return function.getBody().front().addArgument(type, function.getLoc());
}

BlockArgument SignatureEditor::scalarInput(tg::Role role, Type element) {
  BlockArgument &scalar = roles[role];
  if (!scalar)
    scalar = addArgument(RankedTensorType::get({}, element),
                         {builder.getNamedAttr(tg::kInput, builder.getStringAttr(tg::stringifyRole(role))),
                          builder.getNamedAttr(tg::kRole, tg::RoleAttr::get(builder.getContext(), role))});
  return scalar;
}

BlockArgument SignatureEditor::addState(Type type, StringRef name, tg::TensorKind kind, BlockArgument parameter) {
  llvm::APFloat zero(0.0);
  auto zeros = tg::InitAttr::get(builder.getContext(), tg::InitKind::Zeros, zero, zero, /*layers=*/0);
  tg::ParamAttr like = parameter ? parameterOf(parameter) : tg::ParamAttr();
  auto state =
      tg::StateAttr::get(builder.getContext(), builder.getStringAttr(name), zeros, like ? like.getOf() : StringAttr(),
                         kind, like && like.getTransposed(), like ? like.getFused() : -1);
  SmallVector<NamedAttribute> attributes{builder.getNamedAttr(tg::kState, state)};
  comm::ShardingAttr sharding = like ? shardings.lookup(like.getName()) : comm::ShardingAttr();
  if (sharding)
    attributes.push_back(builder.getNamedAttr(comm::CommDialect::kSharding, sharding));
  return addArgument(type, attributes);
}

void SignatureEditor::addResult(Value value, StringRef attribute, StringRef text) {
  results.push_back(value);
  SmallVector<NamedAttribute> attributes{builder.getNamedAttr(attribute, builder.getStringAttr(text))};
  comm::ShardingAttr sharding = attribute == tg::kOutput ? comm::ShardingAttr() : shardings.lookup(text);
  if (sharding)
    attributes.push_back(builder.getNamedAttr(comm::CommDialect::kSharding, sharding));
  resultAttributes.push_back(builder.getDictionaryAttr(attributes));
}

void SignatureEditor::addResult(Value value, tg::Role role) {
  results.push_back(value);
  resultAttributes.push_back(
      builder.getDictionaryAttr(builder.getNamedAttr(tg::kRole, tg::RoleAttr::get(builder.getContext(), role))));
}

void SignatureEditor::finish() {
  returnOf(function).getOperandsMutable().assign(results);
  updateType(function);
  function.setAllArgAttrs(argumentAttributes);
  function.setAllResultAttrs(resultAttributes);
}

void braid::addResult(func::FuncOp function, Value value, StringRef attribute, StringRef text) {
  SignatureEditor editor(function);
  editor.addResult(value, attribute, text);
  editor.finish();
}

void braid::addResult(func::FuncOp function, Value value, tg::Role role) {
  SignatureEditor editor(function);
  editor.addResult(value, role);
  editor.finish();
}

//===----------------------------------------------------------------------===//
// Removals
//===----------------------------------------------------------------------===//

void braid::eraseResults(func::FuncOp function, llvm::function_ref<bool(unsigned)> drop) {
  llvm::BitVector dropped(function.getNumResults());
  for (unsigned i = 0; i < function.getNumResults(); ++i)
    dropped[i] = drop(i);
  returnOf(function)->eraseOperands(dropped);
  function.eraseResults(dropped);
}

void braid::eraseDeadOps(Block &block) {
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(block)))
    if (isOpTriviallyDead(&op))
      op.erase();
}

void braid::eraseUnusedInputs(func::FuncOp function) {
  llvm::BitVector unused(function.getNumArguments());
  for (BlockArgument argument : function.getArguments())
    unused[argument.getArgNumber()] = argument.use_empty() && tg::ArgumentAttrs(argument).input;
  function.eraseArguments(unused);
}
