//===- Facts.cpp - phase, unit and parameter of a tensor -----------------===//

#include "dialects/TG/Facts.h"
#include "dialects/Interfaces/ShardingRule.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"

using namespace mlir;
using namespace braid;
using namespace braid::tg;

//===----------------------------------------------------------------------===//
// Parsing
//===----------------------------------------------------------------------===//

static ParseResult parseName(AsmParser &parser, StringAttr &name) {
  std::string text;
  ParseResult parsed = parser.parseString(&text);
  name = StringAttr::get(parser.getContext(), text);
  return parsed;
}

/// Parses `"one"` or `["one", "another"]`.
static ParseResult parseNames(AsmParser &parser, SmallVectorImpl<StringAttr> &names) {
  auto parseNext = [&] { return parseName(parser, names.emplace_back()); };
  if (failed(parser.parseOptionalLSquare()))
    return parseNext();
  return failure(parser.parseCommaSeparatedList(parseNext) || parser.parseRSquare());
}

static ParseResult parseKind(AsmParser &parser, std::optional<TensorKind> &kind) {
  FailureOr<TensorKind> parsed = FieldParser<TensorKind>::parse(parser);
  if (succeeded(parsed))
    kind = *parsed;
  return failure(failed(parsed));
}

Attribute FactsAttr::parse(AsmParser &parser, Type) {
  StringAttr unit;
  SmallVector<StringAttr> of;
  std::optional<TensorKind> as;
  if (parser.parseLess())
    return {};
  FailureOr<Phase> phase = FieldParser<Phase>::parse(parser);
  if (failed(phase))
    return {};
  while (succeeded(parser.parseOptionalComma())) {
    StringRef keyword;
    if (parser.parseKeyword(&keyword) || parser.parseEqual())
      return {};
    ParseResult parsed = keyword == "unit" ? parseName(parser, unit)
                         : keyword == "of" ? parseNames(parser, of)
                         : keyword == "as" ? parseKind(parser, as)
                                           : parser.emitError(parser.getCurrentLocation())
                                                 << "expected unit, of or as, found '" << keyword << "'";
    if (parsed)
      return {};
  }
  if (of.empty() == as.has_value())
    return parser.emitError(parser.getCurrentLocation(),
                            "'of' and 'as' need each other: give both the parameter and the kind of its tensor"),
           Attribute();
  return parser.parseGreater() ? FactsAttr() : getFacts(parser.getContext(), *phase, unit, of, as);
}

void FactsAttr::print(AsmPrinter &printer) const {
  printer << '<' << stringifyPhase(getPhase());
  if (unitOf(*this))
    printer << ", unit = " << unitOf(*this);
  if (!getOf().empty()) {
    printer << ", of = " << (getOf().size() > 1 ? "[" : "");
    llvm::interleaveComma(getOf(), printer.getStream(), [&](StringAttr name) { printer << name; });
    printer << (getOf().size() > 1 ? "]" : "");
  }
  if (kindOf(*this))
    printer << ", as = " << stringifyTensorKind(*kindOf(*this));
  printer << '>';
}

//===----------------------------------------------------------------------===//
// Facts
//===----------------------------------------------------------------------===//

StringAttr braid::tg::unitOf(FactsAttr facts) {
  return facts && !facts.getUnits().empty() ? facts.getUnits().front() : StringAttr();
}

std::optional<TensorKind> braid::tg::kindOf(FactsAttr facts) {
  return facts && !facts.getAs().empty() ? std::optional(facts.getAs().front()) : std::nullopt;
}

bool braid::tg::isParameter(FactsAttr facts) {
  std::optional<TensorKind> kind = kindOf(facts);
  return kind == TensorKind::Parameter || kind == TensorKind::WorkingCopy;
}

bool braid::tg::isGradient(FactsAttr facts) {
  std::optional<TensorKind> kind = kindOf(facts);
  return (kind == TensorKind::Gradient || kind == TensorKind::Accumulator) && facts.getPhase() != Phase::Forward;
}

FactsAttr braid::tg::getFacts(MLIRContext *context, Phase phase, StringAttr unit, ArrayRef<StringAttr> of,
                              std::optional<TensorKind> as) {
  SmallVector<StringAttr> names(of);
  llvm::sort(names, [](StringAttr a, StringAttr b) { return a.getValue() < b.getValue(); });
  names.erase(std::unique(names.begin(), names.end()), names.end());
  return FactsAttr::get(context, phase, unit ? ArrayRef(unit) : ArrayRef<StringAttr>(), names,
                        as ? ArrayRef(*as) : ArrayRef<TensorKind>());
}

/// Returns whether an attribute is facts, or a list with facts or, for tensors without them, a unit attribute.
static bool isFacts(Attribute metadata) {
  if (auto list = dyn_cast_if_present<ArrayAttr>(metadata))
    return llvm::all_of(list, llvm::IsaPred<FactsAttr, UnitAttr>);
  return isa_and_present<FactsAttr>(metadata);
}

/// Returns the facts that a location carries, a list of them, or null.
static Attribute factsIn(Location loc) {
  if (auto name = dyn_cast<NameLoc>(loc))
    return factsIn(name.getChildLoc());
  if (auto call = dyn_cast<CallSiteLoc>(loc))
    return factsIn(call.getCallee());
  auto fused = dyn_cast<FusedLoc>(loc);
  if (!fused || isFacts(fused.getMetadata()))
    return fused ? fused.getMetadata() : Attribute();
  for (Location part : fused.getLocations())
    if (Attribute carried = factsIn(part))
      return carried;
  return {};
}

FactsAttr braid::tg::factsOf(Location loc) {
  Attribute carried = factsIn(loc);
  auto list = dyn_cast_if_present<ArrayAttr>(carried);
  if (!list)
    return cast_if_present<FactsAttr>(carried);
  auto first = llvm::find_if(list, llvm::IsaPred<FactsAttr>);
  return first == list.end() ? FactsAttr() : cast<FactsAttr>(*first);
}

FactsAttr braid::tg::factsOfTensor(Location loc, unsigned index, unsigned count) {
  Attribute carried = factsIn(loc);
  auto list = dyn_cast_if_present<ArrayAttr>(carried);
  if (!list)
    return cast_if_present<FactsAttr>(carried);
  return list.size() == count ? dyn_cast<FactsAttr>(list[index]) : FactsAttr();
}

FactsAttr braid::tg::factsOfTensor(Value value) {
  auto result = dyn_cast<OpResult>(value);
  return result ? factsOfTensor(result.getLoc(), result.getResultNumber(), result.getOwner()->getNumResults())
                : FactsAttr();
}

SmallVector<FactsAttr> braid::tg::factsOfTensors(ValueRange values) {
  return llvm::map_to_vector(values, [](Value value) { return factsOfTensor(value); });
}

LogicalResult braid::tg::requireFacts(Operation *op) {
  if (factsOf(op))
    return success();
  return op->emitOpError() << "has no facts, so its phase (forward, backward or update) is unknown; run "
                              "tg-derive-facts on programs read from text";
}

std::optional<Phase> braid::tg::phaseOf(Operation *op) {
  FactsAttr facts = factsOf(op);
  return facts ? std::optional(facts.getPhase()) : std::nullopt;
}

//===----------------------------------------------------------------------===//
// Locations
//===----------------------------------------------------------------------===//

static Location withoutFacts(Location loc) {
  if (auto fused = dyn_cast<FusedLoc>(loc)) {
    SmallVector<Location> parts(llvm::map_range(fused.getLocations(), withoutFacts));
    return FusedLoc::get(parts, isFacts(fused.getMetadata()) ? Attribute() : fused.getMetadata(), loc.getContext());
  }
  if (auto name = dyn_cast<NameLoc>(loc))
    return NameLoc::get(name.getName(), withoutFacts(name.getChildLoc()));
  if (auto call = dyn_cast<CallSiteLoc>(loc))
    return CallSiteLoc::get(withoutFacts(call.getCallee()), call.getCaller());
  return loc;
}

/// Adds facts to a location. The parts of a fused location keep theirs, which describe the ops it was made from.
static Location attachFacts(Location loc, Attribute facts) {
  auto fused = dyn_cast<FusedLoc>(loc);
  if (fused && facts && !fused.getMetadata())
    return FusedLoc::get(fused.getLocations(), facts, loc.getContext());
  Location bare = withoutFacts(loc);
  return facts ? FusedLoc::get(ArrayRef(bare), facts, loc.getContext()) : bare;
}

Location braid::tg::withFacts(Location loc, FactsAttr facts) { return attachFacts(loc, facts); }

Location braid::tg::withFacts(Location loc, ArrayRef<FactsAttr> ofEach) {
  if (ofEach.empty())
    return attachFacts(loc, factsOf(loc));
  // Without facts of a tensor, the op keeps its phase.
  if (FactsAttr own = factsOf(loc); own && llvm::none_of(ofEach, [](FactsAttr facts) { return bool(facts); }))
    return attachFacts(loc, getFacts(loc.getContext(), own.getPhase(), unitOf(own)));
  if (llvm::all_equal(ofEach))
    return attachFacts(loc, ofEach.front());
  Builder builder(loc.getContext());
  auto list = llvm::map_to_vector(
      ofEach, [&](FactsAttr facts) -> Attribute { return facts ? Attribute(facts) : builder.getUnitAttr(); });
  return attachFacts(loc, builder.getArrayAttr(list));
}

Location braid::tg::withPhase(Location loc, Phase phase) {
  return withFacts(loc, getFacts(loc.getContext(), phase, unitOf(factsOf(loc))));
}

Location braid::tg::withTensor(Location loc, ArrayRef<StringAttr> of, TensorKind as) {
  FactsAttr facts = factsOf(loc);
  assert(facts && "an op has a phase before it makes a tensor of a parameter");
  return withFacts(loc, getFacts(loc.getContext(), facts.getPhase(), unitOf(facts), of, as));
}

Location braid::tg::withoutTensor(Location loc) {
  FactsAttr facts = factsOf(loc);
  return facts ? withPhase(loc, facts.getPhase()) : loc;
}

Location braid::tg::withName(Location loc, StringAttr name) {
  return attachFacts(NameLoc::get(name, withoutFacts(loc)), factsIn(loc));
}

Location braid::tg::locationOf(Value value) {
  return isa<BlockArgument>(value) ? value.getLoc() : withFacts(value.getLoc(), factsOfTensor(value));
}

Location braid::tg::fusedLocation(ArrayRef<Operation *> ops, ValueRange replaced) {
  auto locations = llvm::map_to_vector(ops, [](Operation *op) { return op->getLoc(); });
  return withFacts(FusedLoc::get(ops.front()->getContext(), locations), factsOfTensors(replaced));
}

//===----------------------------------------------------------------------===//
// Parameters and kinds of tensors
//===----------------------------------------------------------------------===//

/// Returns whether an op only moves elements: it is linear and neither adds nor repeats
/// along a dim. It may insert zeros between elements, or leave elements out.
static bool placesElements(const ShardingRule &rule) {
  bool isLinear = llvm::any_of(rule.linear, [](const auto &set) { return set.size() == 1 && set.front() == 0; });
  llvm::DenseSet<unsigned> read, made;
  auto addParallel = [&](llvm::DenseSet<unsigned> &set, const ShardingRule::TensorFactors &dims) {
    for (const ShardingRule::DimFactors &dim : dims)
      for (unsigned factor : dim)
        if (rule.factors[factor].kind != FactorKind::Whole)
          set.insert(factor);
  };
  addParallel(read, rule.operands.front());
  addParallel(made, rule.results.front());
  return isLinear && read == made;
}

bool braid::tg::movesElements(Operation *op) {
  if (op->getNumOperands() != 1 || op->getNumResults() != 1 || op->getNumRegions() != 0)
    return false;
  auto from = dyn_cast<ShapedType>(op->getOperand(0).getType()), to = dyn_cast<ShapedType>(op->getResult(0).getType());
  if (!from || !to || !from.hasStaticShape() || !to.hasStaticShape())
    return false;
  if (from.getNumElements() == to.getNumElements())
    return true;
  std::optional<ShardingRule> rule = shardingRuleOf(op);
  return rule && placesElements(*rule);
}

/// Returns the parameters of all slices of a value if each slice is of kind `as`; else an empty list.
static SmallVector<StringAttr> ownersOfParts(Value value, TensorKind as) {
  SmallVector<StringAttr> owners;
  for (Operation *user : value.getUsers()) {
    FactsAttr facts = movesElements(user) ? factsOfTensor(user->getResult(0)) : FactsAttr();
    if (kindOf(facts) != as)
      return {};
    llvm::append_range(owners, facts.getOf());
  }
  return owners;
}

void braid::tg::setTensor(Value value, ArrayRef<StringAttr> of, TensorKind as) {
  SmallVector<StringAttr> owners(of);
  for (std::optional<Phase> phase; Operation *op = value.getDefiningOp(); value = op->getOperand(0)) {
    SmallVector<FactsAttr> all = factsOfTensors(op->getResults());
    FactsAttr &facts = all[cast<OpResult>(value).getResultNumber()];
    if (!facts || (phase && (facts.getPhase() != *phase || kindOf(facts))))
      return;
    phase = facts.getPhase();
    facts = getFacts(op->getContext(), *phase, unitOf(facts), owners, as);
    op->setLoc(withFacts(op->getLoc(), all));
    if (!movesElements(op))
      return;
    owners = ownersOfParts(op->getOperand(0), as);
    if (owners.empty())
      return;
  }
}

void braid::tg::replaceAndTransferFacts(Operation *op, ValueRange values) {
  for (auto [result, value] : llvm::zip_equal(op->getResults(), values)) {
    FactsAttr was = factsOfTensor(result), is = factsOfTensor(value);
    if (kindOf(was) && is && !kindOf(is))
      setTensor(value, was.getOf(), *kindOf(was));
  }
  op->replaceAllUsesWith(values);
  op->erase();
}
