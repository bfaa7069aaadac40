//===- Sections.cpp - the sections of a generated program -----------------===//

#include "compiler/Codegen/Sections.h"
#include "dialects/Comm/Comm.h"
#include "lib/Memory/ContentNames.h"

using namespace mlir;
using namespace braid;
using namespace braid::codegen;

Sections::Sections(exec::ProgramOp program, const ArenaMap &arena) {
  for (auto action : program.getOps<exec::ActionOpInterface>())
    trains |=
        llvm::any_of(action.getActionOuts(), [&](Value out) { return !isa<exec::BufferOp>(arena.storageOf(out)); });
}

/// Collects the facts of the ops in an action.
static void addParts(Location loc, SmallVectorImpl<tg::FactsAttr> &parts) {
  size_t before = parts.size();
  if (auto fused = dyn_cast<FusedLoc>(loc))
    for (Location part : fused.getLocations())
      addParts(part, parts);
  if (tg::FactsAttr facts = tg::factsOf(loc); facts && parts.size() == before)
    parts.push_back(facts);
}

std::string Sections::begin(exec::ActionOpInterface action) {
  if (action.isOrdered() || comm::copyOf(action)) // the schedule chooses their position
    return "";
  SmallVector<tg::FactsAttr> parts;
  addParts(action->getLoc(), parts);
  StringAttr unit = parts.empty() ? StringAttr() : tg::unitOf(parts.front());
  std::string heading = unit ? unit.str() : layerOf(action->getLoc());
  if (trains && !parts.empty()) {
    auto earliest = [](tg::FactsAttr a, tg::FactsAttr b) { return a.getPhase() < b.getPhase(); };
    StringRef phase = tg::stringifyPhase((*llvm::min_element(parts, earliest)).getPhase());
    heading = phase.str() + (heading.empty() ? "" : ": ") + heading;
  }
  if (heading == current)
    return "";
  current = heading;
  return heading;
}
