//===- ValueNames.cpp - names of values -----------------------------------===//

#include "dialects/TG/ValueNames.h"
#include "dialects/TG/Facts.h"
#include "dialects/TG/ProgramSignature.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace braid;
using namespace braid::tg;

StringRef braid::tg::valueNameOf(Location loc) {
  if (auto name = dyn_cast<NameLoc>(loc))
    return isValueName(name.getName()) ? name.getName().getValue().drop_front() : valueNameOf(name.getChildLoc());
  if (auto call = dyn_cast<CallSiteLoc>(loc))
    return valueNameOf(call.getCallee());
  if (auto fused = dyn_cast<FusedLoc>(loc); fused && !fused.getLocations().empty())
    return valueNameOf(fused.getLocations().front());
  return "";
}

Location braid::tg::withoutValueName(Location loc) {
  if (auto name = dyn_cast<NameLoc>(loc)) {
    Location child = withoutValueName(name.getChildLoc());
    return isValueName(name.getName()) ? child : NameLoc::get(name.getName(), child);
  }
  if (auto call = dyn_cast<CallSiteLoc>(loc))
    return CallSiteLoc::get(withoutValueName(call.getCallee()), call.getCaller());
  auto fused = dyn_cast<FusedLoc>(loc);
  if (!fused)
    return loc;
  auto parts = llvm::map_to_vector(fused.getLocations(), withoutValueName);
  return FusedLoc::get(parts, fused.getMetadata(), loc.getContext());
}

/// Adds a name below the facts, to the first part of a fused location, where `valueNameOf` looks.
static Location attachName(Location loc, StringAttr name) {
  auto fused = dyn_cast<FusedLoc>(loc);
  if (!fused || fused.getLocations().empty())
    return NameLoc::get(name, loc);
  SmallVector<Location> parts(fused.getLocations());
  parts.front() = attachName(parts.front(), name);
  return FusedLoc::get(parts, fused.getMetadata(), loc.getContext());
}

Location braid::tg::withValueName(Location loc, StringRef name) {
  while (!name.empty() && llvm::isDigit(name.back()))
    name = name.rtrim("0123456789").rtrim('_');
  Location bare = withoutValueName(loc);
  return name.empty() ? bare : attachName(bare, StringAttr::get(loc.getContext(), "%" + name));
}

Value braid::tg::named(StringRef name, Value value) {
  // The value may be an operand that was returned unchanged and already has a name.
  if (Operation *op = value.getDefiningOp(); op && valueNameOf(op->getLoc()).empty())
    op->setLoc(withValueName(op->getLoc(), name));
  return value;
}

static std::string nameOfArgument(BlockArgument argument) {
  auto function = dyn_cast<FunctionOpInterface>(argument.getOwner()->getParentOp());
  if (!function)
    return valueNameOf(argument.getLoc()).str();
  ArgumentAttrs attributes(function, argument.getArgNumber());
  if (attributes.parameter)
    return stringifyTensorKind(attributes.parameter.getKind()).str();
  if (StateAttr state = attributes.state)
    // The optimizer's name for the state, which follows the parameter's name and a dot.
    return state.getKind() == TensorKind::Moment ? state.getName().getValue().rsplit('.').second.str()
                                                 : stringifyTensorKind(state.getKind()).str();
  return attributes.role ? stringifyRole(attributes.role.getValue()).str() : "";
}

static std::string nameOfKind(FactsAttr facts) {
  std::optional<TensorKind> kind = kindOf(facts);
  return kind && *kind != TensorKind::Moment ? stringifyTensorKind(*kind).str() : "";
}

std::string braid::tg::nameOfOperand(Value value) {
  if (auto argument = dyn_cast<BlockArgument>(value))
    return nameOfArgument(argument);
  std::string kind = nameOfKind(factsOfTensor(value));
  bool isFirst = cast<OpResult>(value).getResultNumber() == 0; // the location names the first result
  return kind.empty() && isFirst ? valueNameOf(value.getLoc()).str() : kind;
}

std::string braid::tg::nameOfResult(Operation *op) {
  StringRef name = valueNameOf(op->getLoc());
  return name.empty() ? nameOfKind(factsOf(op)) : name.str();
}
