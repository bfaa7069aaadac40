//===- ModelConfig.h - the config.json that a graph was made from -*- C++ -*-===//
//
// A module may keep the text of the `config.json` of its model, one line, as the attribute
// `tg.config`.  Nothing is computed from it: it goes into the training binary, whose `export`
// writes it beside the weights, so that other programs know what the weights are of.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_DIALECTS_TG_MODELCONFIG_H
#define BRAID_DIALECTS_TG_MODELCONFIG_H

#include "llvm/ADT/StringRef.h"

namespace braid::tg {
inline constexpr llvm::StringLiteral kConfig = "tg.config";
} // namespace braid::tg

#endif // BRAID_DIALECTS_TG_MODELCONFIG_H
