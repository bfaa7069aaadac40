//===- ConfigCheck.cpp - whether weights are of the same configuration ----===//

#include "train/ConfigCheck.h"

#include "base/Error.h"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string_view>

using namespace braid;
using nlohmann::json;

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
  std::ifstream file(folder + "/config.json");
  const json there = json::parse(file, nullptr, /*allow_exceptions=*/false);
  const json own = json::parse(model.config ? model.config : "", nullptr, /*allow_exceptions=*/false);
  std::vector<std::string> differences;
  if (!there.is_object() || !own.is_object())
    return differences;
  for (const auto &[key, value] : own.items())
    if (auto other = there.find(key); other != there.end() && *other != value && !isWithoutEffect(key))
      differences.push_back(concat(key, " is ", other->dump(), " there and ", value.dump(), " in the model"));
  return differences;
}
