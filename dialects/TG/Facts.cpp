//===- Facts.cpp - phase, unit and parameter of an op ---------------------===//

#include "dialects/TG/Facts.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"

using namespace mlir;
using namespace braid::tg;

//===----------------------------------------------------------------------===//
// Text
//===----------------------------------------------------------------------===//

/// `= one`, or `= [one, another]`.
static ParseResult parseOneOrMore(AsmParser &parser, function_ref<ParseResult()> parseOne) {
  if (parser.parseEqual())
    return failure();
  if (failed(parser.parseOptionalLSquare()))
    return parseOne();
  return failure(parser.parseCommaSeparatedList(parseOne) || parser.parseRSquare());
}

static ParseResult parseNames(AsmParser &parser, SmallVectorImpl<StringAttr> &names) {
  return parseOneOrMore(parser, [&]() -> ParseResult {
    std::string name;
    if (parser.parseString(&name))
      return failure();
    names.push_back(StringAttr::get(parser.getContext(), name));
    return success();
  });
}

static ParseResult parseKinds(AsmParser &parser, SmallVectorImpl<TensorKind> &kinds) {
  return parseOneOrMore(parser, [&]() -> ParseResult {
    FailureOr<TensorKind> kind = FieldParser<TensorKind>::parse(parser);
    if (failed(kind))
      return failure();
    kinds.push_back(*kind);
    return success();
  });
}

Attribute FactsAttr::parse(AsmParser &parser, Type) {
  SmallVector<StringAttr> units, of;
  SmallVector<TensorKind> as;
  if (parser.parseLess())
    return {};
  FailureOr<Phase> phase = FieldParser<Phase>::parse(parser);
  if (failed(phase))
    return {};
  while (succeeded(parser.parseOptionalComma())) {
    StringRef keyword;
    if (parser.parseKeyword(&keyword))
      return {};
    ParseResult parsed = keyword == "unit" ? parseNames(parser, units)
                         : keyword == "of" ? parseNames(parser, of)
                         : keyword == "as" ? parseKinds(parser, as)
                                           : parser.emitError(parser.getCurrentLocation())
                                                 << "expected unit, of or as, found '" << keyword << "'";
    if (parsed)
      return {};
  }
  return parser.parseGreater() ? FactsAttr() : getFacts(parser.getContext(), *phase, units, of, as);
}

template <typename T, typename Print>
static void printOneOrMore(AsmPrinter &printer, StringRef key, ArrayRef<T> all, Print print) {
  if (all.empty())
    return;
  printer << ", " << key << " = " << (all.size() > 1 ? "[" : "");
  llvm::interleaveComma(all, printer.getStream(), print);
  printer << (all.size() > 1 ? "]" : "");
}

void FactsAttr::print(AsmPrinter &printer) const {
  printer << '<' << stringifyPhase(getPhase());
  auto printName = [&](StringAttr name) { printer << name; };
  printOneOrMore(printer, "unit", getUnits(), printName);
  printOneOrMore(printer, "of", getOf(), printName);
  printOneOrMore(printer, "as", getAs(), [&](TensorKind kind) { printer << stringifyTensorKind(kind); });
  printer << '>';
}

//===----------------------------------------------------------------------===//
// Facts
//===----------------------------------------------------------------------===//

static SmallVector<StringAttr> sorted(ArrayRef<StringAttr> names) {
  SmallVector<StringAttr> result(names);
  llvm::sort(result, [](StringAttr a, StringAttr b) { return a.getValue() < b.getValue(); });
  result.erase(std::unique(result.begin(), result.end()), result.end());
  return result;
}

FactsAttr braid::tg::getFacts(MLIRContext *context, Phase phase, ArrayRef<StringAttr> units, ArrayRef<StringAttr> of,
                              ArrayRef<TensorKind> as) {
  SmallVector<TensorKind> kinds(as);
  llvm::sort(kinds);
  kinds.erase(std::unique(kinds.begin(), kinds.end()), kinds.end());
  return FactsAttr::get(context, phase, sorted(units), sorted(of), kinds);
}

static void appendMembers(Location loc, SmallVectorImpl<FactsAttr> &members) {
  if (auto fused = dyn_cast<FusedLoc>(loc)) {
    if (auto facts = dyn_cast_if_present<FactsAttr>(fused.getMetadata()))
      return members.push_back(facts);
    for (Location part : fused.getLocations())
      appendMembers(part, members);
  } else if (auto name = dyn_cast<NameLoc>(loc)) {
    appendMembers(name.getChildLoc(), members);
  } else if (auto call = dyn_cast<CallSiteLoc>(loc)) {
    appendMembers(call.getCallee(), members);
  }
}

SmallVector<FactsAttr> braid::tg::memberFacts(Location loc) {
  SmallVector<FactsAttr> members;
  appendMembers(loc, members);
  return members;
}

FactsAttr braid::tg::factsOf(Location loc) {
  SmallVector<FactsAttr> members = memberFacts(loc);
  if (members.size() < 2)
    return members.empty() ? FactsAttr() : members.front();
  Phase phase = members.front().getPhase();
  SmallVector<StringAttr> units, of;
  SmallVector<TensorKind> as;
  for (FactsAttr member : members) {
    phase = std::min(phase, member.getPhase());
    llvm::append_range(units, member.getUnits());
    llvm::append_range(of, member.getOf());
    llvm::append_range(as, member.getAs());
  }
  return getFacts(loc.getContext(), phase, units, of, as);
}

LogicalResult braid::tg::requireFacts(Operation *op) {
  if (factsOf(op))
    return success();
  return op->emitOpError() << "has no facts, so nothing says whether it is forward, backward or update; run "
                              "tg-derive-facts on a program that comes as text";
}

std::optional<Phase> braid::tg::phaseOf(Operation *op) {
  FactsAttr facts = factsOf(op);
  return facts ? std::optional(facts.getPhase()) : std::nullopt;
}

std::optional<Phase> braid::tg::latestPhaseOf(Operation *op) {
  std::optional<Phase> latest;
  for (FactsAttr member : memberFacts(op->getLoc()))
    latest = latest ? std::max(*latest, member.getPhase()) : member.getPhase();
  return latest;
}

bool braid::tg::makes(Operation *op, TensorKind kind) {
  FactsAttr facts = factsOf(op);
  return facts && llvm::is_contained(facts.getAs(), kind);
}

StringAttr braid::tg::parameterFor(Operation *op, TensorKind kind) {
  FactsAttr facts = factsOf(op);
  bool isOne = facts && facts.getOf().size() == 1 && llvm::is_contained(facts.getAs(), kind);
  return isOne ? facts.getOf().front() : StringAttr();
}

//===----------------------------------------------------------------------===//
// Locations
//===----------------------------------------------------------------------===//

static Location withoutFacts(Location loc) {
  if (auto fused = dyn_cast<FusedLoc>(loc)) {
    bool isFacts = isa_and_present<FactsAttr>(fused.getMetadata());
    SmallVector<Location> parts(llvm::map_range(fused.getLocations(), withoutFacts));
    return FusedLoc::get(parts, isFacts ? Attribute() : fused.getMetadata(), loc.getContext());
  }
  if (auto name = dyn_cast<NameLoc>(loc))
    return NameLoc::get(name.getName(), withoutFacts(name.getChildLoc()));
  if (auto call = dyn_cast<CallSiteLoc>(loc))
    return CallSiteLoc::get(withoutFacts(call.getCallee()), call.getCaller());
  return loc;
}

Location braid::tg::withFacts(Location loc, FactsAttr facts) {
  Location bare = withoutFacts(loc);
  return facts ? FusedLoc::get(ArrayRef(bare), facts, loc.getContext()) : bare;
}

Location braid::tg::withPhase(Location loc, Phase phase) {
  FactsAttr facts = factsOf(loc);
  return withFacts(loc, getFacts(loc.getContext(), phase, facts ? facts.getUnits() : ArrayRef<StringAttr>()));
}

Location braid::tg::withTensor(Location loc, ArrayRef<StringAttr> of, TensorKind as) {
  FactsAttr facts = factsOf(loc);
  assert(facts && "an op has a phase before it makes a tensor of a parameter");
  return withFacts(loc, getFacts(loc.getContext(), facts.getPhase(), facts.getUnits(), of, {as}));
}

Location braid::tg::withName(Location loc, StringAttr name) {
  return withFacts(NameLoc::get(name, withoutFacts(loc)), factsOf(loc));
}

Location braid::tg::madeFrom(ArrayRef<Operation *> ops) {
  Location first = ops.front()->getLoc();
  SmallVector<Location> locations{first};
  for (Operation *op : ops.drop_front())
    locations.push_back(withFacts(UnknownLoc::get(op->getContext()), factsOf(op)));
  Location all = FusedLoc::get(first.getContext(), locations);
  bool isMixed = llvm::any_of(ops, [&](Operation *op) { return phaseOf(op) != phaseOf(ops.front()); });
  return isMixed ? all : withFacts(first, factsOf(all));
}
