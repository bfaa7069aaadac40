//===- BufferNames.cpp - names of the contents of the arena ---------------===//

#include "compiler/Codegen/BufferNames.h"
#include "compiler/Codegen/CppText.h"
#include "dialects/TG/ValueNames.h"
#include "lib/Memory/Persistent.h"

using namespace mlir;
using namespace braid;
using namespace braid::codegen;

BufferNames::BufferNames(exec::ProgramOp program, const ArenaMap &arena) : arena(arena) {
  for (auto tensor : program->getParentOfType<ModuleOp>().getOps<exec::TensorOp>()) {
    values.insert(braid::nameOf(tensor));
    if (auto param = dyn_cast<tg::ParamAttr>(tensor.getValue()))
      tensors[{param.getOf().str(), param.getKind()}] = braid::nameOf(tensor).str();
    auto state = dyn_cast<tg::StateAttr>(tensor.getValue());
    if (state && state.getOf())
      tensors[{state.getOf().str(), state.getKind()}] = braid::nameOf(tensor).str();
  }
}

/// Returns the name of a tensor by its relation to a parameter; empty for unrelated tensors.
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

/// Returns the action's name for the value that it writes to an out, or "".
static std::string valueName(exec::ActionOpInterface action, unsigned out, const ArenaMap &arena) {
  auto launch = dyn_cast<exec::LaunchOp>(action.getOperation());
  if (!launch)
    return out == 0 ? tg::valueNameOf(action.getLoc()).str() : "";
  exec::KernelDefOp kernel = arena.kernelOf(launch);
  if (!kernel || launch.getBatch() > 1)
    return "";
  auto value = dyn_cast<OpResult>(kernel.getBody().front().getTerminator()->getOperand(out));
  return value && value.getResultNumber() == 0 ? tg::nameOfResult(value.getOwner()) : "";
}

std::string BufferNames::nameFor(exec::ActionOpInterface action, unsigned out, unsigned number) {
  unsigned numOuts = action.getActionOuts().size();
  std::string at = "@" + std::to_string(number), known = nameFor(tg::factsOfTensor(action.getLoc(), out, numOuts));
  std::string layer = layerText(action->getLoc()), value = valueName(action, out, arena);
  bool isOp = layer.empty() || StringRef(layer).starts_with("tg."); // the op of origin instead of a layer
  std::string name = !known.empty() ? known : value.empty() || isOp ? value : layer + "." + value;
  if (!name.empty())
    return values.insert(name).second ? name : name + at;
  return (layer.empty() ? action.getActionName() : layer) + at + (numOuts > 1 ? "#" + std::to_string(out) : "");
}

void BufferNames::enter(exec::ActionOpInterface action, unsigned number) {
  for (Operation *buffer : written)
    names[buffer].before = names[buffer].after;
  written.clear();
  OperandRange outs = action.getActionOuts();
  for (auto [index, out] : llvm::enumerate(outs)) {
    auto buffer = dyn_cast<exec::BufferOp>(arena.storageOf(out));
    if (!buffer || buffer.getIo())
      continue;
    Names &bufferNames = names[buffer];
    bufferNames.after = nameFor(action, index, number);
    if (!bufferNames.numWrites++)
      bufferNames.first = bufferNames.before = bufferNames.after;
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

std::string BufferNames::first(exec::BufferOp buffer) const {
  auto known = names.find(buffer);
  return known == names.end() ? buffer.getName().str() : known->second.first;
}

std::string BufferNames::history(exec::BufferOp buffer) const {
  auto known = names.find(buffer);
  unsigned laterWrites = known == names.end() ? 0 : known->second.numWrites - 1;
  return first(buffer) + (laterWrites ? ", then " + std::to_string(laterWrites) + " more" : "");
}
