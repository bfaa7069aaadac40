//===- SharedMemory.cpp - tensors that share memory in PyTorch ------------===//

#include "lib/Import/Torch/SharedMemory.h"
#include "llvm/ADT/STLExtras.h"

using namespace llvm;
using namespace braid::torch;

StringRef SharedMemory::canonical(StringRef name) const {
  auto found = sameAs.find(name);
  return found == sameAs.end() ? name : StringRef(found->second);
}

void SharedMemory::addView(StringRef name, View view) {
  view.base = canonical(view.base).str();
  views[name] = std::move(view);
}

const View *SharedMemory::viewOf(StringRef name) const {
  auto found = views.find(canonical(name));
  return found == views.end() ? nullptr : &found->second;
}

StringRef SharedMemory::rootOf(StringRef name) const {
  StringRef root = canonical(name);
  while (const View *view = viewOf(root))
    root = view->base;
  return root;
}

StringRef SharedMemory::overwrittenBy(StringRef name) const {
  auto found = stale.find(canonical(name));
  return found == stale.end() ? StringRef() : StringRef(found->second);
}

void SharedMemory::overwrite(StringRef target, StringRef result, bool isSameTensor, StringRef op) {
  StringRef root = rootOf(target);
  // The tensors from the target to the one that the write can be followed to.
  SmallVector<StringRef> followed{canonical(target)};
  for (const View *view = viewOf(target); view && view->isFollowed; view = viewOf(view->base))
    followed.push_back(view->base);
  for (const auto &entry : views)
    if (!is_contained(followed, entry.first()) && rootOf(entry.first()) == root)
      stale[entry.first()] = op.str();
  if (!is_contained(followed, root))
    stale[root] = op.str();
  if (isSameTensor)
    sameAs[result] = canonical(target).str();
  else
    addView(result, {target.str(), std::nullopt, false});
}
