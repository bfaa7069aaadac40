//===- Weights.cpp - folders of weights from other programs ---------------===//

#include "checkpoint/Weights.h"

#include "base/Error.h"
#include "base/Json.h"

#include <filesystem>
#include <set>

using namespace braid;
namespace fs = std::filesystem;

bool braid::isWeightsFolder(const std::string &path) {
  std::error_code error;
  return fs::is_directory(path, error) &&
         (fs::exists(fs::path(path) / kWeightsFile, error) || fs::exists(fs::path(path) / kWeightsIndex, error));
}

std::map<std::string, std::string> braid::readWeightsIndex(const std::string &path) {
  constexpr uint64_t maxBytes = 64 << 20;
  const std::string where = concat("'", path, "' is not a usable index of weights: ");
  const nlohmann::json root = parseJson(readText(path, maxBytes), where);
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

// Only safetensors are read: files of Python objects may run code.
std::string braid::describeOtherWeights(const std::string &folder) {
  constexpr const char *others[] = {"pytorch_model.bin", "pytorch_model.bin.index.json", "consolidated.00.pth",
                                    "tf_model.h5", "flax_model.msgpack"};
  std::error_code error;
  for (const char *name : others)
    if (fs::exists(fs::path(folder) / name, error))
      return concat("; it has ", name,
                    ", and only safetensors are read: load the folder with Transformers' from_pretrained and write it "
                    "again with save_pretrained");
  if (fs::exists(fs::path(folder) / "adapter_model.safetensors", error))
    return "; it has adapter_model.safetensors, which is of an adapter: merge it into its model first, with PEFT's "
           "merge_and_unload";
  std::set<std::string> names;
  for (const fs::directory_entry &entry : fs::directory_iterator(folder, error))
    if (entry.path().extension() == ".safetensors")
      names.insert(entry.path().filename().string());
  if (names.empty())
    return "";
  return concat("; it has ", *names.begin(), names.size() > 1 ? concat(" and ", names.size() - 1, " more") : "",
                ": call the file with all weights ", kWeightsFile, ", or name it, or add the ", kWeightsIndex,
                " that belongs to several");
}
