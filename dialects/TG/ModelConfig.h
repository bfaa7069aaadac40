//===- ModelConfig.h - the config.json behind a graph -----------*- C++ -*-===//
//
// A module may keep its model's `config.json`, as one line of text, in the attribute
// `tg.config`. It does not affect the computation. The training binary contains it, and its
// `export` command writes it beside the weights, so that other programs can load them.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_DIALECTS_TG_MODELCONFIG_H
#define BRAID_DIALECTS_TG_MODELCONFIG_H

#include "llvm/ADT/StringRef.h"

namespace braid::tg {
inline constexpr llvm::StringLiteral kConfig = "tg.config";
} // namespace braid::tg

#endif // BRAID_DIALECTS_TG_MODELCONFIG_H
