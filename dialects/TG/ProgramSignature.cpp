//===- ProgramSignature.cpp - arguments and results of programs -----------===//

#include "dialects/TG/ProgramSignature.h"

using namespace mlir;
using namespace braid::tg;

template <typename AttrT> static AttrT read(DictionaryAttr attributes, StringRef name) {
  return attributes ? attributes.getAs<AttrT>(name) : AttrT();
}

/// Returns the attributes of an argument of a function; null for other values.
static DictionaryAttr attributesOf(Value value) {
  auto argument = dyn_cast_if_present<BlockArgument>(value);
  auto function = argument ? dyn_cast<FunctionOpInterface>(argument.getOwner()->getParentOp()) : FunctionOpInterface();
  return function ? function.getArgAttrDict(argument.getArgNumber()) : DictionaryAttr();
}

ArgumentAttrs::ArgumentAttrs(DictionaryAttr attributes)
    : parameter(read<ParamAttr>(attributes, kParam)), state(read<StateAttr>(attributes, kState)),
      input(read<StringAttr>(attributes, kInput)), role(read<RoleAttr>(attributes, kRole)) {}

ArgumentAttrs::ArgumentAttrs(FunctionOpInterface function, unsigned argument)
    : ArgumentAttrs(function.getArgAttrDict(argument)) {}

ArgumentAttrs::ArgumentAttrs(Value value) : ArgumentAttrs(attributesOf(value)) {}

StringAttr ArgumentAttrs::persistentName() const {
  return parameter ? parameter.getName() : state ? state.getName() : StringAttr();
}

ResultAttrs::ResultAttrs(DictionaryAttr attributes)
    : updates(read<StringAttr>(attributes, kUpdates)), gradientOf(read<StringAttr>(attributes, kGradOf)),
      output(read<StringAttr>(attributes, kOutput)), role(read<RoleAttr>(attributes, kRole)) {}

ResultAttrs::ResultAttrs(FunctionOpInterface function, unsigned result)
    : ResultAttrs(function.getResultAttrDict(result)) {}

std::string ResultAttrs::text() const {
  std::string text;
  llvm::raw_string_ostream os(text);
  for (auto [name, value] :
       {std::pair<StringRef, Attribute>(kUpdates, updates), {kGradOf, gradientOf}, {kRole, role}, {kOutput, output}})
    if (value && os.str().empty())
      os << name << " = " << value;
  return text;
}

ParamAttr braid::tg::parameterOf(Value value) { return read<ParamAttr>(attributesOf(value), kParam); }

StateAttr braid::tg::stateOf(Value value) { return read<StateAttr>(attributesOf(value), kState); }

StringAttr braid::tg::updatedTensorName(OpOperand &use) {
  Operation *user = use.getOwner();
  auto function = dyn_cast_if_present<FunctionOpInterface>(user->getParentOp());
  if (!function || !user->hasTrait<OpTrait::IsTerminator>())
    return {};
  return function.getResultAttrOfType<StringAttr>(use.getOperandNumber(), kUpdates);
}

ProgramSignature::ProgramSignature(FunctionOpInterface program)
    : terminator(program.getFunctionBody().front().getTerminator()) {
  for (BlockArgument argument : program.getArguments())
    if (StringAttr name = ArgumentAttrs(program, argument.getArgNumber()).persistentName())
      byName[name] = argument;
  for (unsigned result = 0; result < program.getNumResults(); ++result) {
    results.emplace_back(program, result);
    if (BlockArgument argument = updatedArgument(result))
      updates[argument] = result;
  }
}

BlockArgument ProgramSignature::parameterOfGradient(unsigned result) const {
  BlockArgument argument = byName.lookup(results[result].gradientOf);
  return parameterOf(argument) ? argument : BlockArgument();
}

void ProgramSignature::forEachUpdate(llvm::function_ref<void(OpOperand &, BlockArgument)> visit) const {
  for (OpOperand &returned : terminator->getOpOperands())
    if (BlockArgument old = updatedArgument(returned.getOperandNumber()))
      visit(returned, old);
}

bool ProgramSignature::updatesParameters() const {
  return llvm::any_of(updates, [](const auto &update) { return parameterOf(update.first) != nullptr; });
}

OpOperand *ProgramSignature::updateOf(BlockArgument argument) const {
  auto found = updates.find(argument);
  return found == updates.end() ? nullptr : &terminator->getOpOperand(found->second);
}
