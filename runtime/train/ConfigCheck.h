//===- ConfigCheck.h - whether weights are of the same model --------------===//
//
// Weights of the same shapes may be of another model: with other heads, another base of its rotary
// positions, another activation, another epsilon.  Folders have a config.json, checkpoints the config and the
// operations of the graph that they were trained with; what both sides have is compared.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_TRAIN_CONFIGCHECK_H
#define BRAID_TRAIN_CONFIGCHECK_H

#include "braid_rt.h"

#include <map>
#include <string>
#include <vector>

namespace braid {

// "rope_theta is 500000.0 there and 10000.0 in the model", of each setting that both have, and
// that changes what is computed.
std::vector<std::string> configDifferences(const br_model &model, const std::string &folder);

// How the model of a checkpoint differs.  Dropout is a matter of training alone.
struct ModelDifferences {
  std::vector<std::string> computed, ofTraining;
  bool isKnown = true; // whether the checkpoint says what it is of
};
// `saved` is the checkpoint's metadata.
ModelDifferences modelDifferences(const br_model &model, const std::map<std::string, std::string> &saved);

// Warns of all differences from the checkpoint at `path`, on the first rank.
void warnOfOtherModel(const br_model &model, const std::map<std::string, std::string> &saved, const std::string &path);
std::string joined(const std::vector<std::string> &differences);

} // namespace braid
#endif // BRAID_TRAIN_CONFIGCHECK_H
