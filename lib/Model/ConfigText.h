//===- ConfigText.h - the config.json that a graph carries ------*- C++ -*-===//
#ifndef BRAID_LIB_MODEL_CONFIGTEXT_H
#define BRAID_LIB_MODEL_CONFIGTEXT_H

#include "llvm/ADT/StringRef.h"
#include <string>

namespace braid {

/// Returns the config.json of a preset in one line; empty for a model without a family.
std::string presetConfigText(llvm::StringRef preset);

/// Returns the text of a valid config.json in one line. `path` may be a folder that contains it.
std::string configTextOf(llvm::StringRef path);

/// Returns the text of a graph whose module has the config.json text as its `tg.config`; the
/// unchanged graph if `config` is empty.
std::string withConfig(std::string graph, llvm::StringRef config);

} // namespace braid

#endif // BRAID_LIB_MODEL_CONFIGTEXT_H
