//===- UnitStages.cpp - units of each stage -------------------------------===//

#include "passes/Stages/UnitStages.h"
#include "dialects/TG/Facts.h"
#include "lib/Schedule/Forward.h"
#include "passes/Stages/StageMap.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace braid;

static constexpr StringLiteral kEmbed = "embed", kHead = "head";

std::string UnitStages::text(unsigned stage) const {
  SmallVector<StringRef> units;
  for (auto [unit, itsStage] : ofUnit)
    if (itsStage == stage)
      units.push_back(unit.getValue());
  std::string text = stage == 0 && units.front() != kEmbed ? kEmbed.str() + ", " : "";
  text += units.front().str() + (units.size() > 1 ? " to " + units.back().str() : "");
  return text + (stage == last() && units.back() != kHead ? ", " + kHead.str() : "");
}

SmallVector<StringAttr> braid::unitsInOrder(func::FuncOp program) {
  Dependence dependence(program);
  llvm::SetVector<StringAttr> units, atBothEnds;
  llvm::DenseMap<StringAttr, unsigned> numbers;
  // Number of the last unit that each value depends on.
  llvm::DenseMap<Value, unsigned> last;
  for (Operation &op : program.front().without_terminator()) {
    if (!dependence.isOfStage(&op) || tg::phaseOf(&op) != tg::Phase::Forward)
      continue;
    unsigned ofOperands = 0;
    for (Value read : valuesReadBy(&op))
      ofOperands = std::max(ofOperands, last.lookup(read));
    StringAttr unit = tg::unitOf(tg::factsOf(&op));
    unsigned own = 0;
    if (unit) {
      units.insert(unit);
      own = numbers.try_emplace(unit, numbers.size()).first->second;
      if (ofOperands > own)
        atBothEnds.insert(unit);
    }
    for (Value result : op.getResults())
      last[result] = std::max(ofOperands, own);
  }
  units.set_subtract(atBothEnds);
  return units.takeVector();
}

//===----------------------------------------------------------------------===//
// Stages from a text
//===----------------------------------------------------------------------===//

/// Returns the units that a part of the text names, such as `h.3` or `h.0-5`. Takes a range of more than
/// `maxUnits` units for a name.
static SmallVector<std::string> unitsNamed(StringRef part, size_t maxUnits) {
  auto [first, end] = part.rsplit('-');
  StringRef prefix = first.rtrim("0123456789");
  unsigned from, to;
  if (first.drop_front(prefix.size()).getAsInteger(10, from) || end.getAsInteger(10, to) || to < from ||
      to - from >= maxUnits)
    return {part.str()};
  return llvm::map_to_vector(llvm::seq_inclusive(from, to),
                             [&](unsigned number) { return prefix.str() + std::to_string(number); });
}

FailureOr<UnitStages> braid::readStages(func::FuncOp program, StringRef text, unsigned numStages) {
  auto fail = [&](const Twine &what) { return program.emitError() << "stages '" << text << "': " << what; };
  SmallVector<StringAttr> units = unitsInOrder(program);
  SmallVector<StringRef> groups;
  text.split(groups, '|');
  if (groups.size() != numStages)
    return fail("it names " + Twine(groups.size()) + " stages, but the ranks have " + Twine(numStages)), failure();
  UnitStages stages{numStages, {}};
  SmallVector<std::string> named;
  for (auto [stage, group] : llvm::enumerate(groups)) {
    SmallVector<StringRef> parts;
    group.split(parts, '+');
    size_t before = named.size();
    for (StringRef part : parts) {
      part = part.trim();
      // A model may have units with these names.
      bool isUnit = llvm::any_of(units, [&](StringAttr unit) { return unit.getValue() == part; });
      bool isEmbed = !isUnit && part == kEmbed, isHead = !isUnit && part == kHead;
      if ((isEmbed && stage != 0) || (isHead && stage + 1 != numStages))
        return fail("'" + part + "' belongs in the " + (isEmbed ? "first" : "last") + " stage"), failure();
      if (!isEmbed && !isHead)
        llvm::append_range(named, unitsNamed(part, units.size()));
    }
    if (named.size() == before)
      return fail("'" + group + "' has no unit; each stage needs one"), failure();
    for (const std::string &name : llvm::ArrayRef(named).drop_front(before)) {
      size_t number = &name - named.data();
      if (number >= units.size() || units[number].getValue() != name)
        return fail("'" + Twine(name) + "' is named where " +
                    (number < units.size() ? "'" + Twine(units[number].getValue()) + "'" : Twine("nothing")) +
                    " comes next; the units are " +
                    llvm::join(llvm::map_range(units, [](StringAttr unit) { return unit.getValue(); }), ", ")),
               failure();
      stages.ofUnit[units[number]] = stage;
    }
  }
  if (named.size() < units.size())
    return fail("the unit '" + Twine(units[named.size()].getValue()) + "' is in no stage"), failure();
  return stages;
}
