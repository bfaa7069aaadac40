//===- Families.h - the families of language models -------------*- C++ -*-===//
#ifndef BRAID_LIB_MODEL_FAMILIES_H
#define BRAID_LIB_MODEL_FAMILIES_H

#include "lib/Model/DecoderConfig.h"
#include "lib/Model/Settings.h"
#include <optional>

namespace braid {

struct Family {
  /// The `model_type` of its `config.json`.
  llvm::StringLiteral type;
  /// What it is whatever the settings say, with the values of settings that are left out.
  void (*describe)(DecoderConfig &);
  /// Reads its settings.
  void (*read)(Settings &, DecoderConfig &);
};

/// Null if there is no such family.
const Family *findFamily(llvm::StringRef type);
/// Why a type is none of the families, which are named: it is no decoder of text, or is unknown; then with the family
/// that comes nearest.
std::string whyNoFamily(llvm::StringRef type);

/// Those with mixtures of experts, for the table (ExpertFamilies.cpp).
void describeMixtral(DecoderConfig &config);
void readMixtral(Settings &settings, DecoderConfig &config);
void describeQwen2Moe(DecoderConfig &config);
void readQwen2Moe(Settings &settings, DecoderConfig &config);
void describeQwen3Moe(DecoderConfig &config);
void readQwen3Moe(Settings &settings, DecoderConfig &config);

/// The rotary positions of a family, in either spelling: `rope_parameters`, or `rope_theta` and
/// `rope_scaling`.
struct RopeFamily {
  /// What the family called `rope_theta` and `partial_rotary_factor` once.
  std::optional<llvm::StringLiteral> olderTheta = std::nullopt, olderShare = std::nullopt;
  /// The share of a head that turns where no setting says it; without it, all of every head does.
  std::optional<double> share = std::nullopt;
};
void readRope(Settings &settings, DecoderConfig &config, const RopeFamily &family = {});
/// The same where layers with a window have frequencies of their own (Gemma 3).
void readRopeByLayer(Settings &settings, DecoderConfig &config);

} // namespace braid

#endif // BRAID_LIB_MODEL_FAMILIES_H
