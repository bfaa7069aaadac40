//===- TGDialect.cpp - registration, attributes, argument checks ----------===//

#include "dialects/Interfaces/TensorShape.h"
#include "dialects/TG/FileLayout.h"
#include "dialects/TG/ModelConfig.h"
#include "dialects/TG/Replays.h"
#include "dialects/TG/TG.h"
#include "dialects/TG/TGIndices.h"
#include "dialects/TG/TGRoutes.h"
#include "dialects/TG/TrainingFacts.h"
#include "dialects/TG/TypeSyntax.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/JSON.h"

using namespace mlir;
using namespace braid::tg;

#include "dialects/TG/TGDialect.cpp.inc"
#include "dialects/TG/TGEnums.cpp.inc"
#define GET_ATTRDEF_CLASSES
#include "dialects/TG/TGAttrs.cpp.inc"
#define GET_OP_CLASSES
#include "dialects/TG/TGOps.cpp.inc"

void TGDialect::initialize() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "dialects/TG/TGAttrs.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "dialects/TG/TGOps.cpp.inc"
      >();
  attachIndexRanges(*getContext());
  attachRoutes(*getContext());
}

Operation *TGDialect::materializeConstant(OpBuilder &builder, Attribute value, Type type, Location loc) {
  return arith::ConstantOp::materialize(builder, value, type, loc);
}

//===----------------------------------------------------------------------===//
// Attributes
//===----------------------------------------------------------------------===//

/// Parses an optional `, number`.
static ParseResult parseOptionalNumber(AsmParser &parser, double &number) {
  if (failed(parser.parseOptionalComma()))
    return success();
  return parser.parseFloat(number);
}

/// Parses flag keywords and `key = value` pairs, each after a comma, by calling `parseOne` on every keyword.
static ParseResult parseTrailing(AsmParser &parser, function_ref<ParseResult(StringRef)> parseOne) {
  while (succeeded(parser.parseOptionalComma())) {
    StringRef keyword;
    if (parser.parseKeyword(&keyword) || parseOne(keyword))
      return failure();
  }
  return parser.parseGreater();
}

static ParseResult parseQuoted(AsmParser &parser, StringAttr &attr) {
  std::string text;
  if (parser.parseEqual() || parser.parseString(&text))
    return failure();
  attr = StringAttr::get(parser.getContext(), text);
  return success();
}

static ParseResult parseDim(AsmParser &parser, int64_t &dim) {
  if (parser.parseEqual())
    return failure();
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseInteger(dim))
    return failure();
  return dim >= 0 ? success() : parser.emitError(loc) << "fused must be the number of a dim, found " << dim;
}

static constexpr StringLiteral kStateKinds = "moment, master, accumulator, running_statistic, cache, saved or message";

static ParseResult parseKind(AsmParser &parser, std::optional<TensorKind> &kind) {
  StringRef keyword;
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseEqual() || parser.parseKeyword(&keyword))
    return failure();
  kind = symbolizeTensorKind(keyword);
  return kind ? success() : parser.emitError(loc) << "unknown kind '" << keyword << "'; expected " << kStateKinds;
}

/// Parses `<kind (, a (, b))? (layers L)?>`.
Attribute InitAttr::parse(AsmParser &parser, Type) {
  StringRef keyword;
  double a = 0, b = 0;
  int64_t layers = 0;
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseLess() || parser.parseKeyword(&keyword))
    return {};
  std::optional<InitKind> kind = symbolizeInitKind(keyword);
  if (!kind) {
    parser.emitError(loc) << "unknown initializer '" << keyword
                          << "'; expected zeros, ones, constant, normal or uniform";
    return {};
  }
  if (parseOptionalNumber(parser, a) || parseOptionalNumber(parser, b))
    return {};
  if (succeeded(parser.parseOptionalKeyword("layers")) && parser.parseInteger(layers))
    return {};
  if (parser.parseGreater())
    return {};
  return parser.getChecked<InitAttr>(loc, parser.getContext(), *kind, APFloat(a), APFloat(b), layers);
}

/// Returns how many numbers the kind takes.
static unsigned numbersOf(InitKind kind) {
  if (kind == InitKind::Normal || kind == InitKind::Uniform)
    return 2;
  return kind == InitKind::Constant ? 1 : 0;
}

void InitAttr::print(AsmPrinter &printer) const {
  printer << '<' << stringifyInitKind(getKind());
  unsigned numbers = numbersOf(getKind());
  if (numbers > 0) {
    printer << ", ";
    printer.printFloat(getA());
  }
  if (numbers > 1) {
    printer << ", ";
    printer.printFloat(getB());
  }
  if (getLayers())
    printer << " layers " << getLayers();
  printer << '>';
}

LogicalResult InitAttr::verify(function_ref<InFlightDiagnostic()> emitError, InitKind kind, APFloat a, APFloat b,
                               int64_t layers) {
  if (kind == InitKind::Normal && b.isNegative() && !b.isZero())
    return emitError() << "normal initializer has the negative standard deviation " << b.convertToDouble();
  if (kind == InitKind::Uniform && !(a < b))
    return emitError() << "uniform initializer has the empty range " << a.convertToDouble() << " to "
                       << b.convertToDouble();
  if (layers < 0)
    return emitError() << "initializer has the negative layer count " << layers;
  return success();
}

Attribute ParamAttr::parse(AsmParser &parser, Type) {
  std::string name;
  InitAttr init;
  StringAttr unit, copyOf;
  bool frozen = false, transposed = false;
  int64_t fused = -1;
  if (parser.parseLess() || parser.parseString(&name) || parser.parseComma() || parser.parseAttribute(init))
    return {};
  auto parseOne = [&](StringRef keyword) -> ParseResult {
    if (keyword == "frozen")
      return frozen = true, success();
    if (keyword == "transposed")
      return transposed = true, success();
    if (keyword == "unit")
      return parseQuoted(parser, unit);
    if (keyword == "copy_of")
      return parseQuoted(parser, copyOf);
    if (keyword == "fused")
      return parseDim(parser, fused);
    return parser.emitError(parser.getCurrentLocation())
           << "expected unit, copy_of, frozen, transposed or fused, found '" << keyword << "'";
  };
  if (parseTrailing(parser, parseOne))
    return {};
  auto *context = parser.getContext();
  return ParamAttr::get(context, StringAttr::get(context, name), init, unit, copyOf, frozen, transposed, fused);
}

void ParamAttr::print(AsmPrinter &printer) const {
  printer << '<' << getName() << ", " << Attribute(getInit());
  if (getUnit())
    printer << ", unit = " << getUnit();
  if (getCopyOf())
    printer << ", copy_of = " << getCopyOf();
  if (getFrozen())
    printer << ", frozen";
  if (getTransposed())
    printer << ", transposed";
  if (getFused() >= 0)
    printer << ", fused = " << getFused();
  printer << '>';
}

Attribute StateAttr::parse(AsmParser &parser, Type) {
  std::string name;
  InitAttr init;
  StringAttr of;
  std::optional<TensorKind> kind;
  bool transposed = false;
  int64_t fused = -1;
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseLess() || parser.parseString(&name) || parser.parseComma() || parser.parseAttribute(init))
    return {};
  auto parseOne = [&](StringRef keyword) -> ParseResult {
    if (keyword == "transposed")
      return transposed = true, success();
    if (keyword == "of")
      return parseQuoted(parser, of);
    if (keyword == "kind")
      return parseKind(parser, kind);
    if (keyword == "fused")
      return parseDim(parser, fused);
    return parser.emitError(parser.getCurrentLocation())
           << "expected of, kind, transposed or fused, found '" << keyword << "'";
  };
  if (parseTrailing(parser, parseOne))
    return {};
  auto *context = parser.getContext();
  if (!kind) {
    parser.emitError(loc) << "state '" << name << "' has no kind; expected kind = " << kStateKinds;
    return {};
  }
  return parser.getChecked<StateAttr>(loc, context, StringAttr::get(context, name), init, of, *kind, transposed, fused);
}

LogicalResult StateAttr::verify(function_ref<InFlightDiagnostic()> emitError, StringAttr name, InitAttr, StringAttr of,
                                TensorKind kind, bool, int64_t) {
  switch (kind) {
  case TensorKind::Master:
  case TensorKind::Moment:
    if (!of)
      return emitError() << "state " << name << " is a " << stringifyTensorKind(kind)
                         << " of no parameter; name the parameter by of = \"...\"";
    return success();
  case TensorKind::RunningStatistic:
  case TensorKind::Cache:
  case TensorKind::Saved:
  case TensorKind::Message:
    if (of)
      return emitError() << "state " << name << " is a " << stringifyTensorKind(kind) << " of the parameter " << of
                         << "; a " << stringifyTensorKind(kind) << " belongs to no parameter; drop 'of'";
    return success();
  case TensorKind::Accumulator:
    return success();
  case TensorKind::Parameter:
  case TensorKind::WorkingCopy:
  case TensorKind::Gradient:
    break;
  }
  return emitError() << "state " << name << " has the kind " << stringifyTensorKind(kind) << "; expected "
                     << kStateKinds;
}

void StateAttr::print(AsmPrinter &printer) const {
  printer << '<' << getName() << ", " << Attribute(getInit());
  if (getOf())
    printer << ", of = " << getOf();
  printer << ", kind = " << stringifyTensorKind(getKind());
  if (getTransposed())
    printer << ", transposed";
  if (getFused() >= 0)
    printer << ", fused = " << getFused();
  printer << '>';
}

//===----------------------------------------------------------------------===//
// Attributes of arguments and results
//===----------------------------------------------------------------------===//

StringAttr braid::tg::nameOf(DictionaryAttr attributes) {
  if (!attributes)
    return {};
  if (auto param = attributes.getAs<ParamAttr>(kParam))
    return param.getName();
  if (auto state = attributes.getAs<StateAttr>(kState))
    return state.getName();
  return attributes.getAs<StringAttr>(kInput);
}

LogicalResult braid::tg::verifyStates(ArrayRef<Attribute> attributes, function_ref<InFlightDiagnostic()> emitError) {
  DenseMap<StringAttr, ParamAttr> parameters;
  DenseSet<StringAttr> names;
  for (Attribute attribute : attributes) {
    auto param = dyn_cast_or_null<ParamAttr>(attribute);
    if (param)
      parameters[param.getOf()] = param;
    auto state = dyn_cast_or_null<StateAttr>(attribute);
    StringAttr name = param ? param.getName() : state ? state.getName() : StringAttr();
    if (name && !names.insert(name).second)
      return emitError() << "two parameters or states are named " << name << "; rename one of them";
  }
  for (Attribute attribute : attributes) {
    auto state = dyn_cast_or_null<StateAttr>(attribute);
    if (!state || !state.getOf())
      continue;
    ParamAttr param = parameters.lookup(state.getOf());
    if (!param)
      return emitError() << "state " << state.getName() << " is the " << stringifyTensorKind(state.getKind()) << " of "
                         << state.getOf() << ", which is not a parameter";
    if (state.getKind() == TensorKind::Master && param.getKind() != TensorKind::WorkingCopy)
      return emitError() << "state " << state.getName() << " is the master of " << param.getName()
                         << ", which is not a working copy (copy_of = " << state.getOf() << ")";
  }
  return success();
}

LogicalResult braid::tg::verifyStates(FunctionOpInterface function) {
  SmallVector<Attribute> attributes;
  for (unsigned i = 0; i < function.getNumArguments(); ++i)
    for (StringRef name : {kParam, kState})
      attributes.push_back(function.getArgAttr(i, name));
  return verifyStates(attributes, [&] { return function.emitError(); });
}

/// Returns why files cannot hold a tensor of this name; empty if they can.
static StringRef problemOfName(StringRef name) {
  if (name.empty())
    return "is empty";
  if (name.contains('\0'))
    return "contains a NUL";
  if (!llvm::json::isUTF8(name))
    return "is not UTF-8";
  return name == "__metadata__" ? "is reserved for metadata in safetensors files" : "";
}

static LogicalResult verifyName(Operation *op, const Twine &what, StringRef attribute, StringRef name) {
  StringRef problem = problemOfName(name);
  if (problem.empty())
    return success();
  return op->emitError() << what << ": the name of '" << attribute << "' " << problem << "; choose another name";
}

LogicalResult TGDialect::verifyOperationAttribute(Operation *op, NamedAttribute attribute) {
  StringRef name = attribute.getName();
  if (name == kRepeated || name == kReplays) {
    auto number = dyn_cast<IntegerAttr>(attribute.getValue());
    return number && number.getType().isInteger(64) && number.getInt() >= 0
               ? success()
               : op->emitOpError() << "has '" << name << "' = " << attribute.getValue()
                                   << ", which must be a number of type i64, 0 or more";
  }
  if (name == kKept)
    return isa<BoolAttr>(attribute.getValue()) ? success()
                                               : op->emitOpError() << "has '" << name << "' = " << attribute.getValue()
                                                                   << ", which must be true or false";
  if (name == kTraining)
    return verifyTraining(op, attribute.getValue());
  if (name == kConfig)
    return isa<ModuleOp>(op) && isa<StringAttr>(attribute.getValue())
               ? success()
               : op->emitOpError() << "has '" << name << "' = " << attribute.getValue()
                                   << ", which must be the text of a config.json on a module";
  return op->emitOpError() << "has '" << attribute.getName() << "', which belongs on a function's argument or result";
}

LogicalResult TGDialect::verifyRegionArgAttribute(Operation *op, unsigned, unsigned index, NamedAttribute attribute) {
  StringRef name = attribute.getName();
  Attribute value = attribute.getValue();
  auto wrong = [&](StringRef expected) {
    return op->emitError() << "argument #" << index << ": '" << name << "' must be " << expected << ", found " << value;
  };
  auto named = [&](StringRef text) { return verifyName(op, "argument #" + Twine(index), name, text); };
  Type type = cast<FunctionOpInterface>(op).getArgumentTypes()[index];
  if (std::string problem = problemOfShape(type); !problem.empty())
    return op->emitError() << "argument #" << index << " of type " << type << " " << problem;
  if (FileLayout layout = fileLayoutOf(value); layout.fused >= 0)
    // The flat range that a rank holds of a tensor has one dim.
    if (int64_t rank = cast<RankedTensorType>(type).getRank();
        layout.transposed || (rank > 1 && layout.fused + 1 >= rank))
      return op->emitError() << "argument #" << index << " of type " << type << " is fused at dim " << layout.fused
                             << (layout.transposed ? " and transposed, which exclude each other; drop one of them"
                                                   : ", but has no dim behind it to fuse with");
  if (name == kParam)
    return isa<ParamAttr>(value) ? named(cast<ParamAttr>(value).getName()) : wrong("#tg.param<...>");
  if (name == kState)
    return isa<StateAttr>(value) ? named(cast<StateAttr>(value).getName()) : wrong("#tg.state<...>");
  if (name == kRole)
    return isa<RoleAttr>(value) ? success() : wrong("#tg.role<...>");
  if (name == kInput)
    return isa<StringAttr>(value) ? named(cast<StringAttr>(value)) : wrong("a string");
  if (name == "tg.decay_group")
    return isa<StringAttr>(value) ? success() : wrong("a string");
  if (name == "tg.grad")
    return isa<UnitAttr>(value) ? success() : wrong("a unit attribute");
  if (name == "tg.seed")
    return isa<IntegerAttr>(value) ? success() : wrong("a result number");
  return op->emitError() << "argument #" << index << ": unknown attribute '" << name
                         << "'; expected tg.param, tg.state, tg.input, tg.role, tg.grad or tg.seed";
}

LogicalResult TGDialect::verifyRegionResultAttribute(Operation *op, unsigned, unsigned index,
                                                     NamedAttribute attribute) {
  StringRef name = attribute.getName();
  Attribute value = attribute.getValue();
  auto wrong = [&](StringRef expected) {
    return op->emitError() << "result #" << index << ": '" << name << "' must be " << expected << ", found " << value;
  };
  if (name == kRole)
    return isa<RoleAttr>(value) ? success() : wrong("#tg.role<...>");
  if (name == kOutput || name == kUpdates || name == kGradOf)
    return isa<StringAttr>(value) ? success() : wrong("a string");
  return op->emitError() << "result #" << index << ": unknown attribute '" << name
                         << "'; expected tg.role, tg.output, tg.updates or tg.grad_of";
}
