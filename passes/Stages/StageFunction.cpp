//===- StageFunction.cpp - builder of a function of some ranks ------------===//

#include "passes/Stages/StageFunction.h"
#include "dialects/Exec/Exec.h"
#include "lib/Schedule/Forward.h"
#include "passes/Base/Signature.h"

using namespace mlir;
using namespace braid;

DictionaryAttr braid::emptyIfNull(DictionaryAttr attributes, MLIRContext *context) {
  return attributes ? attributes : DictionaryAttr::get(context);
}

DictionaryAttr braid::stateAttributes(MLIRContext *context, StringRef name, tg::TensorKind kind, StringRef slots) {
  Builder builder(context);
  llvm::APFloat zero(0.0);
  auto zeros = tg::InitAttr::get(context, tg::InitKind::Zeros, zero, zero, /*layers=*/0);
  NamedAttrList attributes;
  attributes.set(tg::kState, tg::StateAttr::get(context, builder.getStringAttr(name), zeros, StringAttr(), kind,
                                                /*transposed=*/false, /*fused=*/-1));
  if (!slots.empty())
    attributes.set(exec::kSlots, FlatSymbolRefAttr::get(context, slots));
  return attributes.getDictionary(context);
}

DictionaryAttr braid::updateAttributes(MLIRContext *context, StringRef name) {
  Builder builder(context);
  return builder.getDictionaryAttr(builder.getNamedAttr(tg::kUpdates, builder.getStringAttr(name)));
}

StageFunction::StageFunction(func::FuncOp source, const StageAxis &axis, unsigned coordinate, StringRef name)
    : source(source),
      function(func::FuncOp::create(source.getLoc(), name, FunctionType::get(source.getContext(), {}, {}))),
      builder(OpBuilder::atBlockEnd(function.addEntryBlock())) {
  function->setAttr(comm::CommDialect::kProgram,
                    comm::ProgramAttr::get(source.getContext(), axis.mesh, axis.axis, {int64_t(coordinate)}));
}

BlockArgument StageFunction::addArgument(Type type, DictionaryAttr attributes, Location loc) {
  argumentAttributes.push_back(attributes);
  return function.front().addArgument(type, loc);
}

void StageFunction::addArgument(BlockArgument argument) {
  if (!values.contains(argument))
    values.map(argument, addArgument(argument.getType(),
                                     emptyIfNull(source.getArgAttrDict(argument.getArgNumber()), source.getContext()),
                                     argument.getLoc()));
}

void StageFunction::addResult(Value value, DictionaryAttr attributes) {
  returned.push_back(value);
  resultAttributes.push_back(attributes);
}

Value StageFunction::obtain(Value value, const StageMap &map) {
  if (Value known = values.lookupOrNull(value))
    return known;
  if (auto argument = dyn_cast<BlockArgument>(value))
    addArgument(argument);
  else
    clone(value.getDefiningOp(), map);
  return values.lookup(value);
}

void StageFunction::clone(Operation *op, const StageMap &map) {
  for (Value read : valuesReadBy(op))
    obtain(read, map);
  builder.clone(*op, values);
}

void StageFunction::finish() {
  builder.create<func::ReturnOp>(source.getLoc(), returned);
  updateType(function);
  function.setAllArgAttrs(argumentAttributes);
  function.setAllResultAttrs(resultAttributes);
  eraseDeadOps(function);
}
