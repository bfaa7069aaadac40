//===- Families.h - the families of language models -------------*- C++ -*-===//
#ifndef BRAID_LIB_MODEL_FAMILIES_H
#define BRAID_LIB_MODEL_FAMILIES_H

#include "lib/Model/DecoderConfig.h"
#include "lib/Model/Settings.h"
#include <optional>

namespace braid {

struct Family {
  /// The family's `model_type` in `config.json`.
  llvm::StringLiteral type;
  /// Sets the fixed properties of the family, and the defaults of settings.
  void (*describe)(DecoderConfig &);
  /// Reads the family's settings.
  void (*read)(Settings &, DecoderConfig &);
};

/// Returns the family with this type, or null.
const Family *findFamily(llvm::StringRef type);
/// Returns why a type is not a supported family, and lists the families. Either its models are not text decoders, or
/// it is unknown; then names the closest family, too.
std::string unknownFamilyError(llvm::StringRef type);

/// The families with mixtures of experts, for the table (ExpertFamilies.cpp).
void describeMixtral(DecoderConfig &config);
void readMixtral(Settings &settings, DecoderConfig &config);
void describeQwen2Moe(DecoderConfig &config);
void readQwen2Moe(Settings &settings, DecoderConfig &config);
void describeQwen3Moe(DecoderConfig &config);
void readQwen3Moe(Settings &settings, DecoderConfig &config);

/// Rotary positions of a family, in either spelling: `rope_parameters`, or `rope_theta` and `rope_scaling`.
struct RopeFamily {
  /// Older names of `rope_theta` and `partial_rotary_factor` in this family.
  std::optional<llvm::StringLiteral> legacyTheta = std::nullopt, legacyShare = std::nullopt;
  /// Default share of a head that is rotated; no value means all of every head.
  std::optional<double> share = std::nullopt;
};
void readRope(Settings &settings, DecoderConfig &config, const RopeFamily &family = {});
/// Reads rotary positions for families whose layers with a window have their own frequencies (Gemma 3).
void readRopeByLayer(Settings &settings, DecoderConfig &config);

} // namespace braid

#endif // BRAID_LIB_MODEL_FAMILIES_H
