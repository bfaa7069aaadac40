//===- Signature.cpp - arguments and results of graph functions -----------===//

#include "passes/Graph/Signature.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace braid;

func::ReturnOp braid::returnOf(func::FuncOp function) {
  return cast<func::ReturnOp>(function.getBody().front().getTerminator());
}

std::optional<unsigned> braid::resultWithRole(func::FuncOp function, StringRef role) {
  for (unsigned i = 0; i < function.getNumResults(); ++i)
    if (auto attr = function.getResultAttrOfType<StringAttr>(i, tg::kRole); attr && attr == role)
      return i;
  return std::nullopt;
}

BlockArgument braid::argumentWithRole(func::FuncOp function, StringRef role) {
  for (BlockArgument argument : function.getArguments())
    if (auto attr = function.getArgAttrOfType<StringAttr>(argument.getArgNumber(), tg::kRole); attr && attr == role)
      return argument;
  return {};
}

tg::ParamAttr braid::parameterOf(BlockArgument argument) {
  auto function = cast<func::FuncOp>(argument.getOwner()->getParentOp());
  return function.getArgAttrOfType<tg::ParamAttr>(argument.getArgNumber(), tg::kParam);
}

BlockArgument braid::parameterNamed(func::FuncOp function, StringRef name) {
  for (BlockArgument argument : function.getArguments())
    if (auto param = parameterOf(argument); param && param.getName() == name)
      return argument;
  return {};
}

SmallVector<BlockArgument> braid::batchInputs(func::FuncOp function) {
  SmallVector<BlockArgument> inputs;
  for (BlockArgument argument : function.getArguments()) {
    auto role = function.getArgAttrOfType<StringAttr>(argument.getArgNumber(), tg::kRole);
    if (role && llvm::is_contained({"tokens", "targets", "features", "labels"}, role.getValue()))
      inputs.push_back(argument);
  }
  return inputs;
}

BlockArgument braid::addArgument(func::FuncOp function, Type type, StringRef attribute, Attribute value) {
  Builder builder(function.getContext());
  unsigned index = function.getNumArguments();
  function.insertArgument(index, type, builder.getDictionaryAttr(builder.getNamedAttr(attribute, value)),
                          function.getLoc());
  return function.getArgument(index);
}

BlockArgument braid::scalarInput(func::FuncOp function, StringRef name, Type element) {
  if (BlockArgument known = argumentWithRole(function, name))
    return known;
  Builder builder(function.getContext());
  BlockArgument argument =
      addArgument(function, RankedTensorType::get({}, element), tg::kInput, builder.getStringAttr(name));
  function.setArgAttr(argument.getArgNumber(), tg::kRole, builder.getStringAttr(name));
  return argument;
}

BlockArgument braid::addState(func::FuncOp function, Type type, StringRef name, StringRef cause, bool scratch,
                              BlockArgument like) {
  Builder builder(function.getContext());
  llvm::APFloat zero(0.0);
  auto zeros = tg::InitAttr::get(builder.getContext(), tg::InitKind::Zeros, zero, zero, /*layers=*/0);
  auto state = tg::StateAttr::get(builder.getContext(), builder.getStringAttr(name), zeros,
                                  builder.getStringAttr(cause), scratch, like && parameterOf(like).getTransposed());
  return addArgument(function, type, tg::kState, state);
}

void braid::addResult(func::FuncOp function, Value value, StringRef attribute, StringRef text) {
  Builder builder(function.getContext());
  returnOf(function).getOperandsMutable().append(value);
  function.insertResult(
      function.getNumResults(), value.getType(),
      builder.getDictionaryAttr(builder.getNamedAttr(attribute, builder.getStringAttr(text))));
}

void braid::eraseResults(func::FuncOp function, llvm::function_ref<bool(unsigned)> drop) {
  llvm::BitVector dropped(function.getNumResults());
  for (unsigned i = 0; i < function.getNumResults(); ++i)
    dropped[i] = drop(i);
  returnOf(function)->eraseOperands(dropped);
  function.eraseResults(dropped);
}

void braid::updateType(func::FuncOp function) {
  function.setFunctionType(FunctionType::get(function.getContext(), function.getBody().front().getArgumentTypes(),
                                             returnOf(function).getOperandTypes()));
}

void braid::eraseDeadOps(func::FuncOp function) {
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(function.getBody().front())))
    if (isOpTriviallyDead(&op))
      op.erase();
}

void braid::eraseUnusedInputs(func::FuncOp function) {
  llvm::BitVector unused(function.getNumArguments());
  for (BlockArgument argument : function.getArguments())
    unused[argument.getArgNumber()] =
        argument.use_empty() && function.getArgAttr(argument.getArgNumber(), tg::kInput);
  function.eraseArguments(unused);
}
