//===- Lifetimes.cpp - live ranges and names of storages ------------------===//

#include "lib/Memory/Lifetimes.h"
#include "dialects/Comm/Comm.h"
#include "dialects/TG/Facts.h"
#include "dialects/TG/ValueNames.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace braid;
using namespace braid::exec;
using Kind = Storage::Kind;

/// Returns the name of a layer or an op in a location; empty if it has none.
static StringRef nameIn(Location loc) {
  StringRef name;
  loc->walk([&](Location inner) {
    if (auto named = dyn_cast<NameLoc>(inner); named && !tg::isValueName(named.getName())) {
      name = named.getName().strref();
      return WalkResult::interrupt();
    }
    return WalkResult::advance();
  });
  return name;
}

/// Returns the name that the author of the graph or of a decomposition gives the value, else "".
static std::string valueName(Operation *action, unsigned result) {
  auto kernel = dyn_cast<KernelOp>(action);
  if (!kernel)
    return result == 0 ? tg::valueNameOf(action->getLoc()).str() : "";
  Operation *maker = kernel.getBlock()->getTerminator()->getOperand(result).getDefiningOp();
  return maker ? tg::nameOfResult(maker) : "";
}

std::string braid::tensorName(Operation *action, unsigned result) {
  size_t count = std::max(cast<ActionOpInterface>(action).getActionResults().size(),
                          cast<ActionOpInterface>(action).getActionOuts().size()); // on values, or in memory
  tg::FactsAttr facts = tg::factsOfTensor(action->getLoc(), result, count);
  std::optional<tg::TensorKind> kind = tg::kindOf(facts);
  if (kind && !facts.getOf().empty() &&
      llvm::is_contained({tg::TensorKind::Gradient, tg::TensorKind::Parameter}, *kind))
    return (facts.getOf().front().getValue() + (*kind == tg::TensorKind::Gradient ? ".grad" : "")).str();
  StringRef layer = nameIn(action->getLoc());
  std::string value = valueName(action, result);
  if (!value.empty())
    return layer.empty() || layer.starts_with("tg.") ? value : (layer + "." + value).str();
  std::string name = layer.empty() ? cast<ActionOpInterface>(action).getActionName() : layer.str();
  if (count > 1)
    name += "#" + std::to_string(result);
  return name;
}

static bool isWrittenToHost(Operation *action) {
  comm::CopyOp copy = comm::copyOf(action);
  return copy && copy.getTo() == comm::Memory::Host;
}

/// Initializes the live range: arguments live from before the first action, results until after the last, and
/// all others not at all so far.
static void begin(Storage &storage, int64_t end) {
  storage.first = storage.kind == Kind::Input || storage.kind == Kind::Persistent ? -1 : end;
  storage.last = storage.kind == Kind::Result || storage.kind == Kind::Persistent ? end : -1;
}

void braid::findLifetimes(Block &block, Places &places) {
  DenseMap<Operation *, int64_t> times;
  for (auto action : block.getOps<ActionOpInterface>()) {
    times[action] = places.actions.size();
    places.actions.push_back(action);
  }
  int64_t end = places.actions.size();
  for (Storage &storage : places.storages)
    begin(storage, end);
  for (auto [index, action] : llvm::enumerate(places.actions)) {
    // The action may read and write at any time until its end.
    int64_t time = index, last = times.at(action.getActionEnd());
    auto use = [&, action = index](Value value) -> Storage & {
      Storage &storage = places.storages[places.places.at(value).storage];
      if (storage.users.empty() || storage.users.back() != action)
        storage.users.push_back(action);
      storage.last = std::max(storage.last, last);
      return storage;
    };
    for (Value operand : action.getActionIns())
      use(operand);
    for (OpResult value : action.getActionResults()) {
      Storage &storage = use(value);
      if (storage.first == end) {
        storage.writer = action;
        storage.isOnHost = storage.kind == Kind::Transient && isWrittenToHost(action);
        if (storage.name.empty())
          storage.name = tensorName(action, value.getResultNumber());
      }
      storage.first = std::min(storage.first, time);
      storage.lastWriter = time;
    }
  }
}

int64_t braid::workspaceBytes(ArrayRef<ActionOpInterface> actions, const TargetInfo &target) {
  int64_t bytes = 0;
  for (ActionOpInterface action : actions)
    bytes = std::max(bytes, action.getWorkspaceBytes(target.workspace));
  return bytes;
}

std::vector<LiveBuffer> braid::liveBuffers(const Places &places, int64_t workspace, const TargetInfo &target) {
  std::vector<LiveBuffer> buffers;
  LiveBuffer scratch{static_cast<int64_t>(llvm::alignTo(workspace, target.alignment)),
                     false,
                     false,
                     {},
                     /*isAtBase=*/true};
  for (auto [index, action] : llvm::enumerate(places.actions))
    if (ActionOpInterface(action).getWorkspaceBytes(target.workspace) > 0)
      scratch.users.push_back(index);
  if (!scratch.users.empty())
    buffers.push_back(std::move(scratch));
  for (const Storage &storage : places.storages)
    if (storage.kind != Kind::Persistent && !storage.isOnHost &&
        (storage.kind != Kind::Transient || !storage.users.empty()))
      buffers.push_back({static_cast<int64_t>(llvm::alignTo(storage.bytes, target.alignment)),
                         storage.kind == Kind::Input, storage.kind == Kind::Result, storage.users, /*isAtBase=*/false,
                         storage.kind == Kind::Transient ? storage.lastWriter : -1});
  return buffers;
}
