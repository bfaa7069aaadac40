//===- ProfileJson.h - a profile as JSON ----------------------------------===//
#ifndef BRAID_CORE_PROFILEJSON_H
#define BRAID_CORE_PROFILEJSON_H

#include "core/Profile.h"

#include <nlohmann/json.hpp>

namespace braid {

// Returns seconds, FLOPs and bytes of one run: of each action, and of all actions with the same
// kernel, op, unit or phase.
nlohmann::ordered_json jsonOf(const Profile &profile, const MachineRates &rates);

// Writes to the profile's file.
void writeProfile(const Profile &profile, const nlohmann::ordered_json &json);

} // namespace braid
#endif // BRAID_CORE_PROFILEJSON_H
