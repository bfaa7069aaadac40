//===- ConfigCheck.cpp - whether weights are of the same configuration ----===//

#include "train/ConfigCheck.h"

#include "base/Error.h"
#include "base/Json.h"

#include <algorithm>
#include <iterator>
#include <string_view>

using namespace braid;
using nlohmann::ordered_json;

namespace {

// Where the file comes from, how libraries run it, and what training chooses for itself.
bool isWithoutEffect(std::string_view key) {
  constexpr std::string_view names[] = {"architectures", "_name_or_path",        "dtype",
                                        "torch_dtype",   "transformers_version", "use_cache",
                                        "auto_map",      "initializer_range",    "vocab_size"};
  return std::find(std::begin(names), std::end(names), key) != std::end(names) || key.ends_with("_token_id") ||
         key.find("drop") != key.npos || key.find("attn_implementation") != key.npos;
}

} // namespace

std::vector<std::string> braid::configDifferences(const br_model &model, const std::string &folder) {
  std::vector<std::string> differences;
  const std::string path = folder + "/config.json";
  if (!isThere(path))
    return differences;
  const ordered_json there = readConfig(path);
  const ordered_json own = parseConfig(model.config ? model.config : "", "the model's config.json: ");
  if (!there.is_object() || !own.is_object())
    return differences;
  for (const auto &[key, value] : own.items())
    if (auto other = there.find(key); other != there.end() && *other != value && !isWithoutEffect(key))
      differences.push_back(concat(key, " is ", other->dump(), " there and ", value.dump(), " in the model"));
  return differences;
}
