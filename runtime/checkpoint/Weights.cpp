//===- Weights.cpp - parameters in files of this and of other programs ----===//

#include "checkpoint/Weights.h"

#include "base/Error.h"
#include "base/Json.h"
#include "base/NumberTypes.h"
#include "checkpoint/PieceReader.h"

#include <algorithm>
#include <filesystem>
#include <set>

using namespace braid;
namespace fs = std::filesystem;

//===----------------------------------------------------------------------===//
// Folders
//===----------------------------------------------------------------------===//

bool braid::isWeightsFolder(const std::string &path) {
  std::error_code error;
  return fs::is_directory(path, error) &&
         (fs::exists(fs::path(path) / kWeightsFile, error) || fs::exists(fs::path(path) / kWeightsIndex, error));
}

std::map<std::string, std::string> braid::readWeightsIndex(const std::string &path) {
  constexpr uint64_t maxBytes = 64 << 20;
  const std::string where = concat("'", path, "' is not a usable index of weights: ");
  const File file = File::openForReading(path);
  if (file.size() > maxBytes)
    fail(where, "it has ", file.size(), " bytes, above the limit of ", maxBytes);
  std::string text(file.size(), '\0');
  file.readAt(0, text.data(), text.size());
  const nlohmann::json root = parseJson(text, where);
  if (!root.is_object() || !root.contains("weight_map") || !root["weight_map"].is_object())
    fail(where, "it has no object 'weight_map'");
  std::map<std::string, std::string> files;
  for (const auto &[tensor, name] : root["weight_map"].items()) {
    if (!name.is_string())
      fail(where, "the file of tensor '", tensor, "' is ", name.dump(), ", which is not a name");
    const std::string is = name.get<std::string>();
    if (is.empty() || is != fs::path(is).filename().string())
      fail(where, "tensor '", tensor, "' is in '", is, "', which is not a file of the same folder");
    files[tensor] = is;
  }
  return files;
}

//===----------------------------------------------------------------------===//
// Names
//===----------------------------------------------------------------------===//

std::vector<const br_tensor *> braid::parametersOf(std::span<const br_tensor> tensors) {
  std::set<std::string_view> names;
  for (const br_tensor &t : tensors)
    if (t.category == BR_PARAMETERS)
      names.insert(nameInFile(t));
  std::vector<const br_tensor *> parameters;
  for (const br_tensor &t : tensors)
    if (names.count(nameInFile(t)))
      parameters.push_back(&t);
  return parameters;
}

namespace {

// Checkpoints hold more than parameters, which is not what their names are compared for.
bool isCheckpoint(const SavedTensors &saved) {
  auto format = saved.metadata().find("format");
  return format != saved.metadata().end() && format->second.starts_with("braid-checkpoint-");
}

// Up to its first point, what most parameters' names begin with: "transformer."; empty if the
// file has names that begin so, or none of the parameters without it.
std::string missingPrefix(const SavedTensors &saved, const std::vector<const br_tensor *> &parameters) {
  std::map<std::string, size_t> counts;
  for (const br_tensor *t : parameters)
    if (const size_t point = nameInFile(*t).find('.'); point != std::string_view::npos)
      ++counts[std::string(nameInFile(*t).substr(0, point + 1))];
  auto most = std::max_element(counts.begin(), counts.end(), [](auto &a, auto &b) { return a.second < b.second; });
  if (most == counts.end())
    return "";
  for (const auto &[name, tensor] : saved.tensors())
    if (name.starts_with(most->first))
      return "";
  const auto isThere = [&](const br_tensor *t) {
    return nameInFile(*t).starts_with(most->first) &&
           saved.find(std::string(nameInFile(*t).substr(most->first.size())));
  };
  return std::any_of(parameters.begin(), parameters.end(), isThere) ? most->first : "";
}

// What libraries keep among weights although it follows from the configuration.
bool isDerived(std::string_view name) {
  for (std::string_view end :
       {".attn.bias", ".attn.masked_bias", ".rotary_emb.inv_freq", ".attention.bias", ".attention.masked_bias"})
    if (name.ends_with(end))
      return true;
  return false;
}

// "3 tensors ('a', 'b', 'c')", of the first few.
std::string listed(const std::vector<std::string> &names) {
  constexpr size_t shown = 8;
  std::string text = concat(names.size(), names.size() == 1 ? " tensor (" : " tensors (");
  for (size_t i = 0; i < std::min(shown, names.size()); ++i)
    text += concat(i ? ", '" : "'", names[i], "'");
  return text + (names.size() > shown ? concat(" and ", names.size() - shown, " more)") : ")");
}

// What keeps weights from fitting a model.
struct Misfits {
  std::vector<std::string> missing, additional, others;

  void compare(const br_tensor &t, const std::string &name, const SavedTensor &there) {
    if (there.shape != shapeOf(t))
      others.push_back(concat("tensor '", name, "' has shape ", formatShape(there.shape), " there and ",
                              formatShape(shapeOf(t)), " in the model"));
    else if (!isConvertible(there.dtype, t.dtype))
      others.push_back(concat("tensor '", name, "' has type ", there.dtype, ", which cannot become the model's ",
                              typeName(t.dtype)));
  }

  std::string text() const {
    std::string text;
    auto add = [&](const std::string &what) { text += (text.empty() ? "" : "; ") + what; };
    if (!missing.empty())
      add("it lacks " + listed(missing));
    if (!additional.empty())
      add(concat("it has ", listed(additional), " that the model lacks"));
    for (const std::string &other : others)
      add(other);
    return text;
  }
};

} // namespace

std::map<std::string_view, std::string> braid::matchParameters(const SavedTensors &saved, const char *model,
                                                               const std::vector<const br_tensor *> &parameters,
                                                               bool areAll) {
  const bool isForeign = !isCheckpoint(saved);
  const std::string prefix = isForeign ? missingPrefix(saved, parameters) : "";
  std::map<std::string_view, std::string> names;
  std::set<std::string> known;
  Misfits misfits;
  for (const br_tensor *t : parameters) {
    const std::string_view own = nameInFile(*t);
    const bool isFirst = !names.count(own);
    std::string name(!prefix.empty() && own.starts_with(prefix) ? own.substr(prefix.size()) : own);
    const SavedTensor *there = saved.find(name);
    if (!there && isFirst)
      misfits.missing.push_back(name);
    else if (there && isFirst)
      misfits.compare(*t, name, *there);
    known.insert(name);
    names.emplace(own, std::move(name));
  }
  for (const auto &[name, tensor] : saved.tensors())
    if (isForeign && areAll && !known.count(name) && !isDerived(name))
      misfits.additional.push_back(name);
  if (const std::string text = misfits.text(); !text.empty())
    fail("'", saved.path(), "' does not have the parameters of model '", model, "': ", text);
  return names;
}
