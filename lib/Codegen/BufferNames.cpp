//===- BufferNames.cpp - what lies in the arena, by name ------------------===//

#include "lib/Codegen/BufferNames.h"
#include "dialects/Comm/Comm.h"
#include "dialects/TG/TG.h"
#include "lib/Codegen/CppText.h"
#include "llvm/ADT/SmallPtrSet.h"

using namespace mlir;
using namespace braid;
using namespace braid::codegen;

StringRef codegen::nameOf(exec::TensorOp tensor) {
  if (auto param = dyn_cast<tg::ParamAttr>(tensor.getValue()))
    return param.getName();
  auto state = dyn_cast<tg::StateAttr>(tensor.getValue());
  return state ? StringRef(state.getName()) : tensor.getSymName();
}

//===----------------------------------------------------------------------===//
// Parameters and their gradients
//===----------------------------------------------------------------------===//

/// Whether the action writes one tensor for each that it reads, in order: a collective, a
/// start of one, or a slice for the rank.
static bool isTensorWise(exec::ActionOpInterface action) {
  bool isOfRanks = action.isOrdered() || isa<comm::SliceOp>(action.getOperation());
  return isOfRanks && action.getActionIns().size() == action.getActionOuts().size();
}

static bool reduces(Operation *action) {
  auto start = dyn_cast<comm::StartOp>(action);
  auto op = start ? start.getCollective() : dyn_cast<comm::CollectiveOpInterface>(action);
  return op && op.getReductionKind();
}

/// Names of gathered parameters propagate forwards from operands to results; names of
/// gradients, and of parts of new parameters, propagate backwards.
BufferNames::BufferNames(exec::ProgramOp program, const ArenaMap &arena) : arena(arena) {
  for (auto action : program.getOps<exec::ActionOpInterface>())
    nameGathered(action);
  for (Operation &op : llvm::reverse(program.getBody().front())) {
    if (auto launch = dyn_cast<exec::LaunchOp>(op))
      nameGradients(launch);
    else if (auto action = dyn_cast<exec::ActionOpInterface>(op))
      nameSent(action);
  }
}

void BufferNames::nameGathered(exec::ActionOpInterface action) {
  if (!isTensorWise(action) || reduces(action))
    return;
  for (auto [in, out] : llvm::zip(action.getActionIns(), action.getActionOuts())) {
    Operation *from = arena.storageOf(in), *to = arena.storageOf(out);
    auto tensor = dyn_cast<exec::TensorOp>(from);
    std::string name =
        tensor && isa<tg::ParamAttr>(tensor.getValue()) ? codegen::nameOf(tensor).str() : parameters.lookup(from);
    if (!name.empty() && isa<exec::BufferOp>(to))
      parameters[to] = name;
  }
}

/// The name of the gradient that updates `tensor`: a parameter, or an accumulator of
/// gradients.
static std::string gradientFor(exec::TensorOp tensor) {
  if (auto param = dyn_cast<tg::ParamAttr>(tensor.getValue()))
    return param.getOf().str() + ".grad";
  auto state = dyn_cast<tg::StateAttr>(tensor.getValue());
  return state && state.isAccumulator() ? state.getName().str() : "";
}

static int64_t elementsOf(Value ref) { return cast<exec::RefType>(ref.getType()).getTensorType().getNumElements(); }

/// If a launch that updates a tensor reads exactly one gradient of the same size, names that
/// gradient after the tensor.
void BufferNames::nameGradients(exec::LaunchOp launch) {
  size_t numIns = launch.getIns().size() / launch.getBatch(), numOuts = launch.getOuts().size() / launch.getBatch();
  for (uint64_t tuple = 0; tuple < launch.getBatch(); ++tuple)
    for (Value out : launch.getOuts().slice(tuple * numOuts, numOuts)) {
      auto tensor = dyn_cast<exec::TensorOp>(arena.storageOf(out));
      if (!tensor && (tensor = updated.lookup(arena.storageOf(out))))
        updates.insert(launch);
      std::string name = tensor ? gradientFor(tensor) : "";
      if (name.empty())
        continue;
      llvm::SmallPtrSet<Operation *, 2> read;
      for (Value in : launch.getIns().slice(tuple * numIns, numIns))
        if (auto buffer = dyn_cast<exec::BufferOp>(arena.storageOf(in)))
          if (buffer.getCategory() == exec::Category::Gradients && elementsOf(in) == elementsOf(out))
            read.insert(buffer);
      if (read.size() == 1)
        gradients[*read.begin()] = name;
    }
}

/// Names the operands of a collective whose results are gradients or new parameters.
void BufferNames::nameSent(exec::ActionOpInterface action) {
  if (!isTensorWise(action))
    return;
  for (auto [in, out] : llvm::zip(action.getActionIns(), action.getActionOuts())) {
    auto buffer = dyn_cast<exec::BufferOp>(arena.storageOf(in));
    auto tensor = dyn_cast<exec::TensorOp>(arena.storageOf(out));
    if (!buffer)
      continue;
    if (tensor && isa<tg::ParamAttr>(tensor.getValue()) && !reduces(action)) {
      updated[buffer] = tensor;
      parameters[buffer] = codegen::nameOf(tensor);
    }
    if (std::string name = gradients.lookup(arena.storageOf(out)); !name.empty())
      gradients[buffer] = name;
  }
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
    std::string known = gradients.lookup(buffer), at = "@" + std::to_string(number);
    if (known.empty() || updates.contains(action))
      known = parameters.lookup(buffer);
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
    return codegen::nameOf(tensor).str();
  auto buffer = cast<exec::BufferOp>(storage);
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
