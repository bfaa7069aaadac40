//===- BufferNames.cpp - what lies in the arena, by name ------------------===//

#include "lib/Codegen/BufferNames.h"
#include "lib/Codegen/CppText.h"
#include "lib/Memory/Persistent.h"

using namespace mlir;
using namespace braid;
using namespace braid::codegen;

BufferNames::BufferNames(exec::ProgramOp program, const ArenaMap &arena) : arena(arena) {
  for (auto tensor : program->getParentOfType<ModuleOp>().getOps<exec::TensorOp>()) {
    if (auto param = dyn_cast<tg::ParamAttr>(tensor.getValue()))
      tensors[{param.getOf().str(), param.getKind()}] = braid::nameOf(tensor).str();
    auto state = dyn_cast<tg::StateAttr>(tensor.getValue());
    if (state && state.getOf())
      tensors[{state.getOf().str(), state.getKind()}] = braid::nameOf(tensor).str();
  }
}

/// The name of a tensor by what it is; empty for what is nothing to any parameter.
std::string BufferNames::nameFor(tg::FactsAttr facts) const {
  if (!facts || facts.getOf().empty())
    return "";
  std::string of = facts.getOf().front().str();
  if (tg::kindOf(facts) == tg::TensorKind::Gradient)
    return of + ".grad";
  auto tensor = tensors.find({of, *tg::kindOf(facts)});
  return tensor == tensors.end() ? of : tensor->second;
}

//===----------------------------------------------------------------------===//
// Names
//===----------------------------------------------------------------------===//

void BufferNames::enter(exec::ActionOpInterface action, unsigned number) {
  for (Operation *buffer : written)
    names[buffer].before = names[buffer].after;
  written.clear();
  OperandRange outs = action.getActionOuts();
  std::string layer = layerText(action->getLoc());
  if (layer.empty())
    layer = action.getActionName();
  for (auto [index, out] : llvm::enumerate(outs)) {
    auto buffer = dyn_cast<exec::BufferOp>(arena.storageOf(out));
    if (!buffer || buffer.getIo())
      continue;
    std::string known = nameFor(tg::factsOfTensor(action.getLoc(), index, outs.size()));
    std::string at = "@" + std::to_string(number);
    if (known.empty() && outs.size() > 1)
      at += "#" + std::to_string(index);
    Names &its = names[buffer];
    its.after = (known.empty() ? layer : known) + at;
    if (!its.numWrites++)
      its.first = its.before = its.after;
    written.push_back(buffer);
  }
}

std::string BufferNames::nameOf(Value ref, bool ofWritten) const {
  Operation *storage = arena.storageOf(ref);
  if (auto tensor = dyn_cast<exec::TensorOp>(storage))
    return braid::nameOf(tensor).str();
  auto buffer = dyn_cast<exec::BufferOp>(storage);
  if (!buffer)
    return arena.nameOf(ref).str();
  auto known = names.find(buffer);
  std::string name = known == names.end() ? buffer.getName().str()
                     : ofWritten          ? known->second.after
                                          : known->second.before;
  int64_t offset = ref.getDefiningOp<exec::RefOp>().getOffset();
  return offset ? name + " + " + std::to_string(offset) : name;
}

std::string BufferNames::history(exec::BufferOp buffer) const {
  auto known = names.find(buffer);
  if (known == names.end())
    return buffer.getName().str();
  unsigned more = known->second.numWrites - 1;
  return known->second.first + (more ? ", then " + std::to_string(more) + " more" : "");
}
