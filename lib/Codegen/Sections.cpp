//===- Sections.cpp - the sections of a generated program -----------------===//

#include "lib/Codegen/Sections.h"
#include "dialects/TG/Facts.h"
#include "lib/Codegen/CppText.h"

using namespace mlir;
using namespace braid;
using namespace braid::codegen;

Sections::Sections(exec::ProgramOp program, const ArenaMap &arena) {
  for (auto action : program.getOps<exec::ActionOpInterface>())
    trains |=
        llvm::any_of(action.getActionOuts(), [&](Value out) { return isa<exec::TensorOp>(arena.storageOf(out)); });
}

std::string Sections::begin(exec::ActionOpInterface action) {
  SmallVector<tg::FactsAttr> members = tg::memberFacts(action->getLoc());
  if (action.isOrdered())
    return "";
  bool hasUnit = !members.empty() && !members.front().getUnits().empty();
  std::string heading = hasUnit ? members.front().getUnits().front().str() : layerText(action->getLoc());
  if (trains && !members.empty()) {
    StringRef phase = tg::stringifyPhase(tg::factsOf(action).getPhase());
    heading = phase.str() + (heading.empty() ? "" : ": ") + heading;
  }
  if (heading == current)
    return "";
  current = heading;
  return heading;
}
