//===- Descriptions.cpp - sections of the page of dialects ----------------===//

#include "tools/braid-lsp/Descriptions.h"
#include "llvm/ADT/SmallVector.h"

using namespace llvm;
using namespace braid;

static constexpr StringLiteral kPage =
#include "DialectsPage.inc"
    ;

Descriptions braid::readDescriptions() {
  static constexpr StringLiteral kHeading = "\n### `";
  Descriptions found;
  for (StringRef rest = kPage.split(kHeading).second; !rest.empty();) {
    StringRef section;
    std::tie(section, rest) = rest.split(kHeading);
    auto [name, body] = section.split("`\n");
    // Cuts off a following chapter and the list of interfaces, whose links only work within the page.
    body = body.split("\n## ").first.split("\nInterfaces: ").first.trim();
    found[name.str()] = {body.split('\n').first, ("**" + name + "**\n\n" + body).str()};
  }
  return found;
}
