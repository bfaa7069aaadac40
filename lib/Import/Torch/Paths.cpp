//===- Paths.cpp - names of inputs and outputs in Python ------------------===//

#include "lib/Import/Torch/Paths.h"
#include "lib/Input/ParserLimits.h"
#include "llvm/ADT/STLExtras.h"

using namespace llvm;
using namespace braid;

/// Upper limit of nested containers.
static constexpr int kMaxDepth = 32;

static const json::Array *childrenOf(const json::Value &spec) {
  const json::Object *object = spec.getAsObject();
  return object ? object->getArray("children_spec") : nullptr;
}

/// Returns the keys of a dict's or dataclass's parts, or nothing.
static std::vector<std::string> keysOf(const json::Object &spec, size_t count) {
  std::vector<std::string> keys;
  std::optional<StringRef> context = spec.getString("context");
  Expected<json::Value> parsed = parseJson(context.value_or("null"));
  if (!parsed) {
    consumeError(parsed.takeError());
    return keys;
  }
  if (const json::Array *names = parsed->getAsArray())
    for (const json::Value &name : *names)
      if (std::optional<StringRef> key = name.getAsString())
        keys.push_back(key->str());
  return keys.size() == count ? keys : std::vector<std::string>();
}

/// Appends the paths of the leaves. Returns false if the text is no tree of containers.
static bool addLeaves(const json::Value &spec, const std::string &path, std::vector<std::string> &paths, int depth) {
  const json::Object *object = spec.getAsObject();
  const json::Array *children = childrenOf(spec);
  if (!object || !children || depth > kMaxDepth)
    return false;
  if (children->empty() && !object->getString("type")) {
    paths.push_back(path);
    return true;
  }
  std::vector<std::string> keys = keysOf(*object, children->size());
  for (auto [number, child] : enumerate(*children)) {
    std::string name = keys.empty() ? std::to_string(number) : keys[number];
    if (!addLeaves(child, path.empty() ? name : path + "." + name, paths, depth + 1))
      return false;
  }
  return true;
}

std::vector<std::string> braid::torch::pathsOf(StringRef text, ArrayRef<std::string> arguments, bool isInputs) {
  Expected<json::Value> root = parseJson(text);
  if (!root) {
    consumeError(root.takeError());
    return {};
  }
  const json::Array *versioned = root->getAsArray();
  if (!versioned || versioned->size() != 2)
    return {};
  const json::Value &spec = (*versioned)[1];
  std::vector<std::string> paths;
  if (!isInputs)
    return addLeaves(spec, "", paths, 0) ? paths : std::vector<std::string>();
  // The positional arguments, and those by name.
  const json::Array *parts = childrenOf(spec);
  const json::Array *positional = parts && parts->size() == 2 ? childrenOf((*parts)[0]) : nullptr;
  if (!positional || positional->size() > arguments.size())
    return {};
  for (auto [argument, child] : llvm::zip(arguments, *positional))
    if (!addLeaves(child, argument, paths, 0))
      return {};
  return addLeaves((*parts)[1], "", paths, 0) ? paths : std::vector<std::string>();
}
