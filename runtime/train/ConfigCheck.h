//===- ConfigCheck.h - whether weights are of the same configuration ------===//
//
// Weights of the same shapes may be of another model: with another base of its rotary
// positions, another activation, another epsilon.  Where both sides have a config.json, they
// are compared.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_TRAIN_CONFIGCHECK_H
#define BRAID_TRAIN_CONFIGCHECK_H

#include "braid_rt.h"

#include <string>
#include <vector>

namespace braid {

// "rope_theta is 500000.0 there and 10000.0 in the model", of each setting that both have, and
// that changes what is computed.
std::vector<std::string> configDifferences(const br_model &model, const std::string &folder);

} // namespace braid
#endif // BRAID_TRAIN_CONFIGCHECK_H
