//===- Descriptions.h - what is known of ops and attributes -----*- C++ -*-===//
#ifndef BRAID_TOOLS_BRAID_LSP_DESCRIPTIONS_H
#define BRAID_TOOLS_BRAID_LSP_DESCRIPTIONS_H

#include "llvm/ADT/StringRef.h"
#include <map>
#include <string>

namespace braid {

/// A section of docs/Dialects.md, which docs/reference.py makes of the descriptions in TableGen.
struct Description {
  llvm::StringRef summary; // a line
  std::string text;        // Markdown: name, summary, description, operands and results
};

/// By name: "tg.contract", "#tg.mask".
using Descriptions = std::map<std::string, Description, std::less<>>;

Descriptions readDescriptions();

} // namespace braid

#endif // BRAID_TOOLS_BRAID_LSP_DESCRIPTIONS_H
