//===- UnitStages.cpp - which units a stage has ---------------------------===//

#include "passes/Stages/UnitStages.h"
#include "dialects/TG/Facts.h"
#include "lib/Schedule/Forward.h"
#include "passes/Recompute/ReplayPrices.h"
#include "passes/Stages/Dependence.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include <limits>

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

/// Those of forward, in its order.  A unit that others stand in the middle of, such as tied embeddings,
/// is none: it is at both ends.
static SmallVector<StringAttr> unitsOf(func::FuncOp program) {
  Dependence dependence(program);
  llvm::SetVector<StringAttr> units, atBothEnds;
  llvm::DenseMap<StringAttr, unsigned> numbers;
  // The last unit that each value depends on.
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
// Balance
//===----------------------------------------------------------------------===//

/// The seconds of each unit, forward and back; what no unit has is with the first where it comes
/// before all of them in forward, else with the last.
static SmallVector<double> secondsOfUnits(func::FuncOp program, ArrayRef<StringAttr> units, const TargetInfo &target) {
  llvm::DenseMap<StringAttr, unsigned> numbers;
  for (auto [number, unit] : llvm::enumerate(units))
    numbers[unit] = number;
  OpSeconds seconds(target);
  SmallVector<double> ofUnits(units.size(), 0);
  bool hasBegun = false;
  for (Operation &op : program.front().without_terminator()) {
    auto unit = numbers.find(tg::unitOf(tg::factsOf(&op)));
    hasBegun |= unit != numbers.end();
    ofUnits[unit != numbers.end() ? unit->second : hasBegun ? units.size() - 1 : 0] += seconds.of(&op);
  }
  return ofUnits;
}

/// The beginnings of `parts` ranges whose largest sum is the least; of those the one with the
/// least sum of squares.  O(parts * n^2).
static SmallVector<unsigned> balance(ArrayRef<double> weights, unsigned parts) {
  struct Best {
    double largest = std::numeric_limits<double>::infinity(), squares = largest;
    unsigned from = 0;
    bool operator<(const Best &other) const {
      return std::tie(largest, squares) < std::tie(other.largest, other.squares);
    }
  };
  unsigned n = weights.size();
  std::vector<std::vector<Best>> best(parts + 1, std::vector<Best>(n + 1));
  best[0][0] = {0, 0, 0};
  for (unsigned part = 1; part <= parts; ++part)
    for (unsigned end = part; end <= n; ++end) {
      double sum = 0;
      for (unsigned begin = end; begin-- > part - 1;) {
        sum += weights[begin];
        const Best &before = best[part - 1][begin];
        best[part][end] =
            std::min(best[part][end], Best{std::max(before.largest, sum), before.squares + sum * sum, begin});
      }
    }
  SmallVector<unsigned> begins(parts);
  for (unsigned part = parts, end = n; part > 0; --part)
    end = begins[part - 1] = best[part][end].from;
  return begins;
}

static LogicalResult checkNumber(func::FuncOp program, ArrayRef<StringAttr> units, unsigned numStages) {
  if (units.size() >= numStages)
    return success();
  return program.emitError() << "has " << units.size() << (units.size() == 1 ? " unit that is" : " units that are")
                             << " not at both ends ("
                             << llvm::join(llvm::map_range(units, [](StringAttr unit) { return unit.getValue(); }),
                                           ", ")
                             << "), but is cut in " << numStages
                             << " stages, each of which needs one: take fewer ranks or chunks";
}

FailureOr<UnitStages> braid::balanceStages(func::FuncOp program, unsigned numStages, const TargetInfo &target) {
  SmallVector<StringAttr> units = unitsOf(program);
  if (failed(checkNumber(program, units, numStages)))
    return failure();
  SmallVector<unsigned> begins = balance(secondsOfUnits(program, units, target), numStages);
  UnitStages stages{numStages, {}};
  for (auto [number, unit] : llvm::enumerate(units))
    stages.ofUnit[unit] = llvm::upper_bound(begins, number) - begins.begin() - 1;
  return stages;
}

//===----------------------------------------------------------------------===//
// As a text says
//===----------------------------------------------------------------------===//

/// The units that a part of the text names: `h.3`, or `h.0-5`.  A range of more than there are is none.
static SmallVector<std::string> unitsNamed(StringRef part, size_t most) {
  auto [first, end] = part.rsplit('-');
  StringRef prefix = first.rtrim("0123456789");
  unsigned from, to;
  if (first.drop_front(prefix.size()).getAsInteger(10, from) || end.getAsInteger(10, to) || to < from ||
      to - from >= most)
    return {part.str()};
  return llvm::map_to_vector(llvm::seq_inclusive(from, to),
                             [&](unsigned number) { return prefix.str() + std::to_string(number); });
}

FailureOr<UnitStages> braid::readStages(func::FuncOp program, StringRef text, unsigned numStages) {
  auto fail = [&](const Twine &what) { return program.emitError() << "stages '" << text << "': " << what; };
  SmallVector<StringAttr> units = unitsOf(program);
  SmallVector<StringRef> groups;
  text.split(groups, '|');
  if (groups.size() != numStages)
    return fail("there are " + Twine(groups.size()) + ", but the ranks have " + Twine(numStages)), failure();
  UnitStages stages{numStages, {}};
  SmallVector<std::string> named;
  for (auto [stage, group] : llvm::enumerate(groups)) {
    SmallVector<StringRef> parts;
    group.split(parts, '+');
    size_t before = named.size();
    for (StringRef part : parts) {
      part = part.trim();
      // A model may have units of these names.
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
    return fail("the unit '" + Twine(units[named.size()].getValue()) + "' is in none of them"), failure();
  return stages;
}
