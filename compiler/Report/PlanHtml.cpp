//===- PlanHtml.cpp - plan.html -------------------------------------------===//

#include "compiler/Report/Report.h"
#include "llvm/ADT/StringExtras.h"

using namespace braid;

/// `plan.html` of this folder, with placeholders for the data.
static constexpr llvm::StringLiteral kPage =
#include "PlanPage.inc"
    ;

/// Returns JSON that is safe in a script element: no name in it can end the element.
static std::string embedded(llvm::StringRef json) {
  std::string text;
  for (char character : json)
    text += character == '<' ? std::string("\\u003c") : std::string(1, character);
  return text;
}

std::string braid::planHtml(llvm::StringRef title, llvm::StringRef plan, llvm::StringRef actions) {
  std::string escaped, page;
  llvm::raw_string_ostream stream(escaped);
  llvm::printHTMLEscaped(title, stream);
  const std::pair<llvm::StringRef, std::string> texts[] = {
      {"title", escaped}, {"plan", embedded(plan)}, {"actions", embedded(actions)}};
  for (llvm::StringRef rest = kPage; !rest.empty();) {
    auto [before, marked] = rest.split("{{");
    auto [mark, after] = marked.split("}}");
    page += before;
    for (const auto &[name, text] : texts)
      page += name == mark ? text : "";
    rest = after;
  }
  return page;
}
