//===- Choices.cpp - replays by names of units and values -----------------===//

#include "passes/Recompute/Choices.h"
#include "dialects/TG/Facts.h"
#include "dialects/TG/Replays.h"
#include "dialects/TG/ValueNames.h"
#include "lib/Input/Statements.h"
#include "lib/Schedule/Forward.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"

using namespace mlir;
using namespace braid;

static StringRef unitNameOf(Operation *op) {
  StringAttr unit = tg::unitOf(tg::factsOf(op));
  return unit ? unit.getValue() : StringRef();
}

std::string braid::nameOfForward(Operation *op) {
  StringRef name = tg::valueNameOf(op->getLoc());
  return (unitNameOf(op) + "/" + (name.empty() ? op->getName().stripDialect() : name)).str();
}

bool ReplayChoices::Choice::appliesTo(Operation *op) const {
  return glob.match(keep ? nameOfForward(op) : unitNameOf(op));
}

llvm::MapVector<StringAttr, SmallVector<Operation *>> braid::valuesByName(ModuleOp module) {
  llvm::MapVector<StringAttr, SmallVector<Operation *>> values;
  size_t numPrograms = 0;
  for (auto program : module.getOps<func::FuncOp>()) {
    if (program.isExternal() || !isTraining(program))
      continue;
    ++numPrograms;
    ForwardValues forward(program);
    for (Operation *op : forward.getOps())
      if (!isTransparent(op))
        values[StringAttr::get(op->getContext(), StringRef(nameOfForward(op)).rsplit('/').second)].push_back(op);
  }
  values.remove_if([&](const auto &named) {
    llvm::SmallPtrSet<Operation *, 4> programs;
    for (Operation *op : named.second)
      programs.insert(op->getParentOp());
    return programs.size() < numPrograms;
  });
  return values;
}

//===----------------------------------------------------------------------===//
// Parsing
//===----------------------------------------------------------------------===//

LogicalResult ReplayChoices::add(StringRef text, Location loc) {
  auto [pattern, what] = text.rsplit(':');
  pattern = pattern.trim();
  what = what.trim();
  std::optional<RecomputePolicy> policy = cli::choiceOf<RecomputePolicy>(what);
  if (policy == RecomputePolicy::Auto)
    policy.reset(); // needs a price, which no statement has
  auto keep = llvm::StringSwitch<std::optional<bool>>(what).Case("keep", true).Case("replay", false).Default({});
  if (pattern.empty() || (!policy && !keep))
    return emitError(loc) << "expected 'UNIT: none', attention, selective or full, or 'UNIT/VALUE: keep' or replay, "
                             "found '"
                          << text << "'";
  if (keep && !pattern.contains('/'))
    return emitError(loc) << "'" << what << "' applies to values; write '" << pattern << "/VALUE: " << what << "', or '"
                          << pattern << ": " << (*keep ? "none" : "full") << "' for the whole unit";
  llvm::Expected<llvm::GlobPattern> glob = parsePattern(pattern);
  if (!glob)
    return emitError(loc) << llvm::toString(glob.takeError());
  choices.push_back({pattern, std::move(*glob), loc, policy, keep});
  return success();
}

FailureOr<ReplayChoices> ReplayChoices::parse(std::string text, StringRef file, MLIRContext *context) {
  ReplayChoices read;
  read.text = std::make_shared<const std::string>(std::move(text));
  for (const Statement &statement : splitStatements(*read.text))
    if (failed(read.add(statement.text, FileLineColLoc::get(context, file, statement.line, 1))))
      return failure();
  return read;
}

//===----------------------------------------------------------------------===//
// Queries
//===----------------------------------------------------------------------===//

const ReplayChoices::Choice *ReplayChoices::choiceOf(Operation *op) const {
  return llvm::find_if(choices, [&](const Choice &choice) { return choice.keep && choice.appliesTo(op); });
}

std::optional<bool> ReplayChoices::isKept(Operation *op) const {
  if (const Choice *choice = choiceOf(op); choice != choices.end())
    return choice->keep;
  auto mark = op->getAttrOfType<BoolAttr>(tg::kKept);
  return mark ? std::optional(mark.getValue()) : std::nullopt;
}

std::optional<RecomputePolicy> ReplayChoices::policyOf(Operation *op) const {
  for (const Choice &choice : choices)
    if (choice.policy && choice.appliesTo(op))
      return choice.policy;
  return std::nullopt;
}

/// Returns the names that a statement could refer to, in forward order.
static std::string namesIn(const ForwardValues &values, bool ofValues) {
  SmallVector<std::string> names;
  StringRef first;
  for (Operation *op : values.getOps()) {
    StringRef unit = unitNameOf(op);
    first = first.empty() ? unit : first;
    // Lists values of one unit only, because other units have the same.
    if (unit.empty() || (ofValues && unit != first))
      continue;
    std::string name = ofValues ? nameOfForward(op) : unit.str();
    if (!llvm::is_contained(names, name))
      names.push_back(std::move(name));
  }
  return names.empty()
             ? "the program has none"
             : "the names are " + llvm::join(names, ", ") + (ofValues ? ", and the values of other units" : "");
}

LogicalResult ReplayChoices::check(func::FuncOp program, const ForwardValues &values) const {
  for (const Choice &choice : choices)
    if (llvm::none_of(values.getOps(), [&](Operation *op) { return choice.appliesTo(op); }))
      return emitError(choice.loc) << "no " << (choice.keep ? "value" : "unit") << " of forward is named '"
                                   << choice.pattern << "'; " << namesIn(values, choice.keep.has_value());
  for (Operation *op : values.getOps()) {
    const Choice *choice = choiceOf(op);
    bool isReplayed = isKept(op) == false, mayRepeat = values.mayRepeat(op);
    if (isReplayed && (!mayRepeat || values.escapesUnit(op)))
      return emitError(choice == choices.end() ? op->getLoc() : choice->loc)
             << "'" << nameOfForward(op) << "' of @" << program.getName() << " cannot be recomputed: "
             << (mayRepeat ? "another unit reads it" : "it is a reduction over ranks or has effects");
  }
  return success();
}
