//===- ConfigCheck.cpp - compare weights with the model -------------------===//

#include "train/ConfigCheck.h"

#include "base/Error.h"
#include "base/Format.h"
#include "base/Json.h"
#include "base/Message.h"

#include <algorithm>
#include <iterator>
#include <sstream>
#include <string_view>

using namespace braid;
using nlohmann::ordered_json;

namespace {

// Whether a setting, such as dropout, affects training only.
bool isOfTraining(std::string_view key) { return key.find("drop") != key.npos; }

// Whether a setting only says where the file comes from or how a library runs the model.
bool isWithoutEffect(std::string_view key) {
  constexpr std::string_view names[] = {"architectures", "_name_or_path",        "dtype",
                                        "torch_dtype",   "transformers_version", "use_cache",
                                        "auto_map",      "initializer_range",    "vocab_size"};
  return std::find(std::begin(names), std::end(names), key) != std::end(names) || key.ends_with("_token_id") ||
         key.find("attn_implementation") != key.npos;
}

ordered_json ownConfig(const br_model &model) {
  return parseConfig(model.config ? model.config : "", "the model's config.json: ");
}

void compareConfigs(const ordered_json &saved, const ordered_json &own, ModelDifferences &differences) {
  if (!saved.is_object() || !own.is_object())
    return;
  for (const auto &[key, value] : own.items())
    if (auto other = saved.find(key); other != saved.end() && *other != value && !isWithoutEffect(key))
      (isOfTraining(key) ? differences.ofTraining : differences.computed)
          .push_back(concat(key, " is ", other->dump(), " in the file, but ", value.dump(), " in the model"));
}

// Returns the number of ops of each kind.
std::map<std::string, int64_t> operationsOf(const std::string &text) {
  std::map<std::string, int64_t> counts;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);)
    if (const size_t blank = line.find(' '); blank != line.npos)
      counts[line.substr(blank + 1)] += std::atoll(line.c_str());
  return counts;
}

void compareOperations(const std::string &saved, const std::string &own, std::vector<std::string> &differences) {
  constexpr size_t maxDifferences = 4;
  std::map<std::string, int64_t> left = operationsOf(saved), right = operationsOf(own), all = left;
  all.insert(right.begin(), right.end());
  for (const auto &[operation, count] : all)
    if (const int64_t savedCount = left[operation], ownCount = right[operation];
        savedCount != ownCount && differences.size() < maxDifferences)
      differences.push_back(
          concat("'", operation, "' is ", savedCount, " times in the file, but ", ownCount, " times in the model"));
  if (differences.empty())
    differences.push_back("the operations are the same in another order");
}

} // namespace

std::vector<std::string> braid::configDifferences(const br_model &model, const std::string &folder) {
  ModelDifferences differences;
  const std::string path = folder + "/config.json";
  if (fileExists(path))
    compareConfigs(readConfig(path), ownConfig(model), differences);
  return differences.computed;
}

ModelDifferences braid::modelDifferences(const br_model &model, const std::map<std::string, std::string> &saved) {
  ModelDifferences differences;
  auto find = [&](const char *key) {
    auto at = saved.find(key);
    return at == saved.end() ? std::string() : at->second;
  };
  const std::string hash = find("model_hash"), config = find("config");
  differences.isKnown = !hash.empty();
  if (model.config && !config.empty())
    compareConfigs(parseConfig(config, "the checkpoint's config: "), ownConfig(model), differences);
  // Operations are compared only if no setting differs: a setting names a difference better than its
  // effects.
  if (model.operations && !hash.empty() && hash != formatHash(model.model_hash) && differences.computed.empty())
    compareOperations(find("operations"), model.operations, differences.computed);
  return differences;
}

std::string braid::joined(const std::vector<std::string> &differences) {
  std::string text;
  for (const std::string &difference : differences)
    text += (text.empty() ? "" : "; ") + difference;
  return text;
}

void braid::warnOfOtherModel(const br_model &model, const std::map<std::string, std::string> &saved,
                             const std::string &path) {
  ModelDifferences differences = modelDifferences(model, saved);
  std::vector<std::string> &all = differences.computed;
  all.insert(all.end(), differences.ofTraining.begin(), differences.ofTraining.end());
  if (!all.empty())
    warn(concat("'", path, "' is of another model: ", joined(all)));
}
