//===- RopeSettings.cpp - rotary positions in a config.json ---------------===//
//
// Transformers 5 writes `rope_parameters`, an object with all settings; older versions
// write `rope_theta` and `rope_scaling`.  A file may have either, or both if they agree.
//
//===----------------------------------------------------------------------===//

#include "lib/Model/Families.h"
#include "lib/Model/Model.h"

using namespace llvm;
using namespace braid;

/// Reads the scaling that an object describes, as text of a #tg.rope_scaling.
static void readScaling(Settings &settings, int64_t positions, std::string &scaling) {
  const json::Value *kind = settings.find("rope_type"), *older = settings.find("type");
  if (kind && older && *kind != *older)
    return settings.fail("'rope_type' is " + Settings::text(*kind) + ", but 'type' is " + Settings::text(*older));
  kind = kind ? kind : older;
  StringRef type = kind ? kind->getAsString().value_or("") : "default";
  if (type == "default")
    return;
  if (type != "linear" && type != "llama3")
    return settings.fail("the rope type " + Settings::text(*kind) + " is not supported; use default, linear or llama3");
  double factor = 0, low = 0, high = 0;
  settings.read("factor", factor, 1.0, 1e6);
  settings.check(factor > 0, "the rope type " + type + " needs 'factor'");
  scaling = type.str() + " " + model::number(factor);
  if (type == "linear")
    return;
  settings.read("low_freq_factor", low, 1e-6, 1e6);
  settings.read("high_freq_factor", high, 1e-6, 1e6);
  settings.read("original_max_position_embeddings", positions);
  settings.check(0 < low && low < high, "the rope type llama3 needs 'low_freq_factor' below 'high_freq_factor'");
  scaling += " low " + model::number(low) + " high " + model::number(high) + " positions " + std::to_string(positions);
}

/// Returns the object of a setting; null if it is absent.
static const json::Object *objectOf(Settings &settings, StringRef key) {
  const json::Value *found = settings.find(key);
  if (!found)
    return nullptr;
  if (!found->getAsObject())
    settings.fail("'" + key + "' must be an object, found " + Settings::text(*found));
  return found->getAsObject();
}

namespace {
/// The rotary positions of one spelling.
struct Rotation {
  RopeConfig rope;
  double share = 1;
};
} // namespace

/// Reads the settings of an object, which override those outside of it.
static void readObject(Settings &settings, StringRef key, const json::Object &object, int64_t positions, bool isPartial,
                       Rotation &rotation) {
  Settings inner(object, settings.place() + ": '" + key.str() + "'");
  inner.read("rope_theta", rotation.rope.theta, 1e-3, 1e12);
  if (isPartial)
    inner.read("partial_rotary_factor", rotation.share, 0.0, 1.0 + 1e-9);
  readScaling(inner, positions, rotation.rope.scaling);
  settings.finish(inner);
}

/// Reads one number under either of two names.
static void readEither(Settings &settings, std::optional<StringLiteral> older, StringRef newer, double &value,
                       double min, double below) {
  if (!older)
    return settings.read(newer, value, min, below);
  double first = value;
  settings.read(*older, first, min, below);
  value = first;
  settings.read(newer, value, min, below);
  settings.check(!settings.has(*older) || first == value,
                 "'" + *older + "' and '" + newer + "' disagree; leave one of them out");
}

/// Sets the number of rotated dims in a head.
static void setDims(Settings &settings, const DecoderConfig &config, RopeConfig &rope, double share) {
  rope.dims = static_cast<int64_t>(static_cast<double>(config.headSize) * share);
  settings.check(rope.dims >= 2 && rope.dims % 2 == 0, "rotary positions need an even number of a head's " +
                                                           Twine(config.headSize) + " to turn, found " +
                                                           Twine(rope.dims));
}

void braid::readRope(Settings &settings, DecoderConfig &config, const RopeFamily &family) {
  bool isPartial = family.share.has_value();
  Rotation rotation{config.rope, family.share.value_or(1)};
  readEither(settings, family.legacyTheta, "rope_theta", rotation.rope.theta, 1e-3, 1e12);
  if (isPartial)
    readEither(settings, family.legacyShare, "partial_rotary_factor", rotation.share, 0.0, 1.0 + 1e-9);
  const json::Object *scaling = objectOf(settings, "rope_scaling"), *all = objectOf(settings, "rope_parameters");
  Rotation older = rotation, newer = rotation;
  if (scaling)
    readObject(settings, "rope_scaling", *scaling, config.positions, isPartial, older);
  if (all)
    readObject(settings, "rope_parameters", *all, config.positions, isPartial, newer);
  auto agree = [&](StringRef key, bool isSame) {
    settings.check(!all || !settings.has(key) || isSame,
                   "'rope_parameters' and '" + key + "' disagree; leave one of them out");
  };
  agree("rope_scaling", older.rope == newer.rope && older.share == newer.share);
  for (StringRef key : {StringRef("rope_theta"), StringRef(family.legacyTheta.value_or(""))})
    agree(key, rotation.rope.theta == newer.rope.theta);
  for (StringRef key : {StringRef("partial_rotary_factor"), StringRef(family.legacyShare.value_or(""))})
    agree(key, !isPartial || rotation.share == newer.share);
  const Rotation &chosen = all ? newer : older;
  config.rope = chosen.rope;
  setDims(settings, config, config.rope, chosen.share);
}

/// Reads the rotary positions of one kind of layer.
static void readLayers(Settings &settings, StringRef key, const json::Object &object, int64_t positions,
                       RopeConfig &rope) {
  Rotation rotation{rope};
  readObject(settings, key, object, positions, /*isPartial=*/false, rotation);
  rope = rotation.rope;
}

void braid::readRopeByLayer(Settings &settings, DecoderConfig &config) {
  settings.read("rope_theta", config.rope.theta, 1e-3, 1e12);
  settings.read("rope_local_base_freq", config.windowRope.theta, 1e-3, 1e12);
  if (const json::Object *object = objectOf(settings, "rope_scaling"))
    readLayers(settings, "rope_scaling", *object, config.positions, config.rope);
  if (const json::Object *object = objectOf(settings, "rope_parameters")) {
    for (StringRef key : {"rope_theta", "rope_local_base_freq", "rope_scaling"})
      settings.check(!settings.has(key),
                     "'rope_parameters' and '" + key + "' are two spellings of one setting; leave one of them out");
    Settings inner(*object, settings.place() + ": 'rope_parameters'");
    if (const json::Object *full = objectOf(inner, "full_attention"))
      readLayers(inner, "full_attention", *full, config.positions, config.rope);
    if (const json::Object *sliding = objectOf(inner, "sliding_attention"))
      readLayers(inner, "sliding_attention", *sliding, config.positions, config.windowRope);
    settings.finish(inner);
  }
  setDims(settings, config, config.rope, 1);
  setDims(settings, config, config.windowRope, 1);
}
