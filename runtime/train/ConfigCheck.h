//===- ConfigCheck.h - compare weights with the model ---------------------===//
//
// Weights of equal shapes may belong to another model: the number of heads, the rotary base, the activation
// or an epsilon may differ. A weights folder has a config.json; a checkpoint has the config and the
// operations of the graph that it was trained with. Settings that both sides have are compared.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_TRAIN_CONFIGCHECK_H
#define BRAID_TRAIN_CONFIGCHECK_H

#include "braid_rt.h"

#include <map>
#include <string>
#include <vector>

namespace braid {

// Returns a text for each setting with different values on both sides, such as "rope_theta is 500000.0
// in the file, but 10000.0 in the model". Skips settings that only one side has or that do not change the results.
std::vector<std::string> configDifferences(const br_model &model, const std::string &folder);

// Differences between the model of a checkpoint and this model. Dropout affects training only.
struct ModelDifferences {
  std::vector<std::string> computed, ofTraining;
  bool isKnown = true; // whether the checkpoint describes its model
};
// Compares the model with `saved`, the metadata of a checkpoint.
ModelDifferences modelDifferences(const br_model &model, const std::map<std::string, std::string> &saved);

// On the first rank, warns of all differences from the checkpoint at `path`.
void warnOfOtherModel(const br_model &model, const std::map<std::string, std::string> &saved, const std::string &path);
std::string joined(const std::vector<std::string> &differences);

} // namespace braid
#endif // BRAID_TRAIN_CONFIGCHECK_H
