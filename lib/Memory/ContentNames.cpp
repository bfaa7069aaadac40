//===- ContentNames.cpp - names of the contents of buffers ----------------===//

#include "lib/Memory/ContentNames.h"
#include "dialects/TG/ProgramSignature.h"
#include "dialects/TG/ValueNames.h"
#include "lib/Memory/Persistent.h"

using namespace mlir;
using namespace braid;
using namespace braid::exec;

std::string braid::layerOf(Location location) {
  std::string layer;
  location->walk([&](Location inner) {
    auto name = dyn_cast<NameLoc>(inner);
    if (!name || tg::isValueName(name.getName()))
      return WalkResult::advance();
    layer = name.getName().str();
    // Ops from a decomposition keep the composite's name, around the op's own name.
    return isa<NameLoc>(name.getChildLoc()) ? WalkResult::advance() : WalkResult::interrupt();
  });
  return layer;
}

//===----------------------------------------------------------------------===//
// Persistent tensors
//===----------------------------------------------------------------------===//

void ContentNames::addPersistent(StringRef name, Attribute value) {
  reserve(name);
  if (auto param = dyn_cast_or_null<tg::ParamAttr>(value))
    tensors[{param.getOf().str(), param.getKind()}] = name;
  auto state = dyn_cast_or_null<tg::StateAttr>(value);
  if (state && state.getOf())
    tensors[{state.getOf().str(), state.getKind()}] = name;
}

ContentNames::ContentNames(Operation *program) {
  if (auto function = dyn_cast<FunctionOpInterface>(program)) {
    for (unsigned index = 0; index < function.getNumArguments(); ++index)
      if (tg::ArgumentAttrs argument(function, index); argument.persistent())
        addPersistent(argument.persistentName(), argument.persistent());
    return;
  }
  auto module = program->getParentOfType<ModuleOp>();
  for (auto tensor : module.getOps<TensorOp>())
    addPersistent(braid::nameOf(tensor), tensor.getValue());
  for (auto kernel : module.getOps<KernelDefOp>())
    kernels[kernel.getSymNameAttr()] = kernel;
}

//===----------------------------------------------------------------------===//
// Names
//===----------------------------------------------------------------------===//

/// Returns the name of a tensor by its relation to a parameter; empty for unrelated tensors.
std::string ContentNames::nameFrom(tg::FactsAttr facts) const {
  if (!facts || facts.getOf().empty())
    return "";
  std::string of = facts.getOf().front().str();
  if (tg::kindOf(facts) == tg::TensorKind::Gradient)
    return of + ".grad";
  auto tensor = tensors.find({of, *tg::kindOf(facts)});
  return tensor == tensors.end() ? of : tensor->second;
}

std::string ContentNames::valueName(ActionOpInterface action, unsigned result) const {
  Operation *kernel = isa<KernelOp>(action) ? action.getOperation() : nullptr;
  if (auto launch = dyn_cast<LaunchOp>(action.getOperation())) {
    kernel = kernels.lookup(launch.getKernelAttr().getAttr());
    if (!kernel || launch.getBatch() > 1)
      return "";
  }
  if (!kernel)
    return result == 0 ? tg::valueNameOf(action.getLoc()).str() : "";
  auto value = dyn_cast<OpResult>(kernel->getRegion(0).front().getTerminator()->getOperand(result));
  return value && value.getResultNumber() == 0 ? tg::nameOfResult(value.getOwner()) : "";
}

std::string ContentNames::nameOf(ActionOpInterface action, unsigned result) const {
  size_t count = std::max(action.getActionResults().size(), action.getActionOuts().size()); // on values, or in memory
  if (std::string name = nameFrom(tg::factsOfTensor(action.getLoc(), result, count)); !name.empty())
    return name;
  std::string layer = layerOf(action.getLoc()), value = valueName(action, result);
  bool isOp = layer.empty() || StringRef(layer).starts_with("tg.");
  if (!value.empty())
    return isOp ? value : layer + "." + value;
  return (layer.empty() ? action.getActionName() : layer) + (count > 1 ? "#" + std::to_string(result) : "");
}

std::string ContentNames::unique(ActionOpInterface action, unsigned result) {
  std::string name = nameOf(action, result), text = name;
  unsigned &count = counts[name];
  while (!known.insert(text).second)
    text = name + "@" + std::to_string(++count + 1);
  return text;
}
