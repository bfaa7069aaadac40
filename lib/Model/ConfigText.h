//===- ConfigText.h - the config.json that a graph takes along --*- C++ -*-===//
#ifndef BRAID_LIB_MODEL_CONFIGTEXT_H
#define BRAID_LIB_MODEL_CONFIGTEXT_H

#include "llvm/ADT/StringRef.h"
#include <string>

namespace braid {

/// The config.json of a preset, in a line; empty for a model of no family.
std::string presetConfigText(llvm::StringRef preset);

/// The text of a valid config.json, or of the one in a folder, in a line.
std::string configTextOf(llvm::StringRef path);

/// The text of a graph whose module has the text of a config.json as its `tg.config`; the graph as it
/// is where there is none.
std::string withConfig(std::string graph, llvm::StringRef config);

} // namespace braid

#endif // BRAID_LIB_MODEL_CONFIGTEXT_H
