//===- Lifetimes.cpp - live ranges and names of storages ------------------===//

#include "lib/Memory/Lifetimes.h"
#include "dialects/Comm/Comm.h"
#include "lib/Memory/ContentNames.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace braid;
using namespace braid::exec;
using Kind = Storage::Kind;

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
  ContentNames names(block.getParentOp());
  for (Storage &storage : places.storages) {
    begin(storage, end);
    names.reserve(storage.name);
  }
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
      std::string name = storage.kind == Kind::Transient ? names.unique(action, value.getResultNumber()) : storage.name;
      if (storage.first == end) {
        storage.writer = action;
        storage.isOnHost = storage.kind == Kind::Transient && isWrittenToHost(action);
        if (storage.name.empty())
          storage.name = std::move(name);
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
