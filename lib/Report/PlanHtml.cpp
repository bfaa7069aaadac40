//===- PlanHtml.cpp - plan.html -------------------------------------------===//

#include "lib/Report/Report.h"
#include "llvm/ADT/StringRef.h"

using namespace braid;

/// `plan.html` of this folder, with marks where the data go.
static constexpr llvm::StringLiteral kPage =
#include "PlanPage.inc"
    ;

/// JSON that may stand in a script element: no name that is in it can end the element.
static std::string embedded(llvm::StringRef json) {
  std::string text;
  for (char character : json)
    text += character == '<' ? std::string("\\u003c") : std::string(1, character);
  return text;
}

std::string braid::planHtml(llvm::StringRef plan, llvm::StringRef actions) {
  auto [top, rest] = kPage.split("{{plan}}");
  auto [between, bottom] = rest.split("{{actions}}");
  return top.str() + embedded(plan) + between.str() + embedded(actions) + bottom.str();
}
