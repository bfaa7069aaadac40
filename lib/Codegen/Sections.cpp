//===- Sections.cpp - the sections of a generated program -----------------===//

#include "lib/Codegen/Sections.h"
#include "dialects/TG/TG.h"
#include "lib/Codegen/BufferNames.h"
#include "lib/Codegen/CppText.h"

using namespace mlir;
using namespace braid;
using namespace braid::codegen;

Sections::Sections(exec::ProgramOp program, const ArenaMap &arena) : arena(arena) {
  for (auto tensor : program->getParentOfType<ModuleOp>().getOps<exec::TensorOp>())
    if (auto param = dyn_cast<tg::ParamAttr>(tensor.getValue()); param && param.getUnit())
      units.insert(param.getUnit().getValue());
  for (auto action : program.getOps<exec::ActionOpInterface>())
    trains |=
        llvm::any_of(action.getActionOuts(), [&](Value out) { return isa<exec::TensorOp>(arena.storageOf(out)); });
  if (!trains)
    return;
  findForward(program);
  findUpdate(program);
}

//===----------------------------------------------------------------------===//
// Passes
//===----------------------------------------------------------------------===//

static bool isOneOf(StringRef name, ArrayRef<StringRef> names) { return llvm::is_contained(names, name); }

/// The storages of the forward pass's results, found as in lib/Schedule/Forward.h.
static DenseSet<Operation *> forwardResults(exec::ProgramOp program) {
  DenseSet<Operation *> results, sums;
  for (auto buffer : program.getOps<exec::BufferOp>())
    if (buffer.getIo() == StringRef("result") && isOneOf(buffer.getRole().value_or(""), {"loss", "logits", "count"}))
      results.insert(buffer);
  for (auto tensor : program->getParentOfType<ModuleOp>().getOps<exec::TensorOp>())
    if (auto state = dyn_cast<tg::StateAttr>(tensor.getValue()); state && state.isOfLoss())
      sums.insert(tensor);
  return results.empty() ? sums : results;
}

/// Walks backwards: an action is needed if it writes a storage that a needed action reads
/// later.
void Sections::findForward(exec::ProgramOp program) {
  DenseSet<Operation *> needed = forwardResults(program);
  for (Operation &op : llvm::reverse(program.getBody().front())) {
    auto action = dyn_cast<exec::ActionOpInterface>(op);
    if (!action ||
        !llvm::any_of(action.getActionOuts(), [&](Value out) { return needed.contains(arena.storageOf(out)); }))
      continue;
    forward.insert(&op);
    for (Value in : action.getActionIns())
      needed.insert(arena.storageOf(in));
  }
}

bool Sections::isUpdate(exec::ActionOpInterface action, const DenseSet<Operation *> &readByOthers) const {
  auto isState = [&](Value out) {
    auto tensor = dyn_cast<exec::TensorOp>(arena.storageOf(out));
    return tensor && tensor.getCategory() != exec::Category::Gradients;
  };
  constexpr exec::Category forUpdate[] = {exec::Category::Activations, exec::Category::Workspace};
  auto isForUpdate = [&](Value out) {
    auto buffer = dyn_cast<exec::BufferOp>(arena.storageOf(out));
    return buffer && !buffer.getIo() && llvm::is_contained(forUpdate, buffer.getCategory()) &&
           !readByOthers.contains(buffer);
  };
  OperandRange outs = action.getActionOuts();
  return llvm::any_of(outs, isState) || (!outs.empty() && llvm::all_of(outs, isForUpdate));
}

void Sections::findUpdate(exec::ProgramOp program) {
  DenseSet<Operation *> readByOthers;
  for (Operation &op : llvm::reverse(program.getBody().front())) {
    auto action = dyn_cast<exec::ActionOpInterface>(op);
    if (!action)
      continue;
    if (!forward.contains(&op) && isUpdate(action, readByOthers)) {
      update.insert(&op);
      continue;
    }
    for (Value in : action.getActionIns())
      readByOthers.insert(arena.storageOf(in));
  }
}

StringRef Sections::passOf(Operation *action) const {
  if (!trains)
    return "";
  return forward.contains(action) ? "forward" : update.contains(action) ? "update" : "backward";
}

//===----------------------------------------------------------------------===//
// Units
//===----------------------------------------------------------------------===//

std::string Sections::unitOf(Operation *action) const {
  std::string layer = layerText(action->getLoc());
  for (StringRef unit = layer; !unit.empty(); unit = unit.rsplit('.').first) {
    if (units.contains(unit))
      return unit.str();
    if (!unit.contains('.'))
      break;
  }
  return layer;
}

std::string Sections::begin(exec::ActionOpInterface action) {
  if (action.isOrdered())
    return "";
  StringRef pass = passOf(action);
  std::string unit = unitOf(action), heading = pass.str() + (pass.empty() || unit.empty() ? "" : ": ") + unit;
  if (heading == current)
    return "";
  current = heading;
  return heading;
}
