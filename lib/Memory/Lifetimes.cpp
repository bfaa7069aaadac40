//===- Lifetimes.cpp - when storages are live, and their names ------------===//

#include "lib/Memory/Lifetimes.h"

using namespace mlir;
using namespace braid;
using namespace braid::exec;
using Kind = Storage::Kind;

/// The name that a location carries, if it does.
static StringRef nameIn(Location loc) {
  StringRef name;
  loc->walk([&](Location inner) {
    if (auto named = dyn_cast<NameLoc>(inner)) {
      name = named.getName().strref();
      return WalkResult::interrupt();
    }
    return WalkResult::advance();
  });
  return name;
}

std::string braid::tensorName(Operation *action, unsigned result) {
  StringRef located = nameIn(action->getLoc());
  std::string name = located.empty() ? cast<ActionOpInterface>(action).getActionName() : located.str();
  if (cast<ActionOpInterface>(action).getActionResults().size() > 1)
    name += "#" + std::to_string(result);
  return name;
}

/// Live from before the first action to after the last, or not at all so far.
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
    // Until its end the work may read and write at any time.
    int64_t time = index, last = times.at(action.getActionEnd());
    for (Value operand : action.getActionIns()) {
      Storage &storage = places.storages[places.places.at(operand).storage];
      storage.last = std::max(storage.last, last);
    }
    for (OpResult value : action.getActionResults()) {
      Storage &storage = places.storages[places.places.at(value).storage];
      if (storage.first == end) {
        storage.writer = action;
        if (storage.name.empty())
          storage.name = tensorName(action, value.getResultNumber());
      }
      storage.first = std::min(storage.first, time);
      storage.last = std::max(storage.last, last);
    }
  }
}
