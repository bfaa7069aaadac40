//===- Descriptions.h - descriptions of ops and attributes ------*- C++ -*-===//
#ifndef BRAID_TOOLS_BRAID_LSP_DESCRIPTIONS_H
#define BRAID_TOOLS_BRAID_LSP_DESCRIPTIONS_H

#include "llvm/ADT/StringRef.h"
#include <map>
#include <string>

namespace braid {

/// A section of docs/Dialects.md, which docs/reference.py generates from the descriptions in TableGen.
struct Description {
  llvm::StringRef summary; // a line
  std::string text;        // Markdown: name, summary, description, operands and results
};

/// Descriptions by name: "tg.contract", "#tg.mask".
using Descriptions = std::map<std::string, Description, std::less<>>;

Descriptions readDescriptions();

} // namespace braid

#endif // BRAID_TOOLS_BRAID_LSP_DESCRIPTIONS_H
