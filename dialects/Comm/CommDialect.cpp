//===- CommDialect.cpp - registration, syntax of attributes and types -----===//

#include "dialects/Comm/Sharding.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace braid;
using namespace braid::comm;

#include "dialects/Comm/CommDialect.cpp.inc"
#include "dialects/Comm/CommEnums.cpp.inc"
#include "dialects/Comm/CommInterfaces.cpp.inc"
#define GET_ATTRDEF_CLASSES
#include "dialects/Comm/CommAttrs.cpp.inc"
#define GET_TYPEDEF_CLASSES
#include "dialects/Comm/CommTypes.cpp.inc"

void CommDialect::initialize() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "dialects/Comm/CommAttrs.cpp.inc"
      >();
  addTypes<
#define GET_TYPEDEF_LIST
#include "dialects/Comm/CommTypes.cpp.inc"
      >();
  registerOps();
}

//===----------------------------------------------------------------------===//
// Axes
//===----------------------------------------------------------------------===//

/// Parses the rest after the brace: `dp, tp}` or `dp, ?}`.
static ParseResult parseAxesAfterBrace(AsmParser &parser, AxesAttr &axes) {
  SmallVector<StringAttr> names;
  bool open = false, first = true;
  while (failed(parser.parseOptionalRBrace())) {
    if (!first && parser.parseComma())
      return failure();
    first = false;
    StringRef name;
    if (open)
      return parser.emitError(parser.getCurrentLocation()) << "expected '}' after '?'";
    if (succeeded(parser.parseOptionalQuestion()))
      open = true;
    else if (parser.parseKeyword(&name))
      return failure();
    else
      names.push_back(StringAttr::get(parser.getContext(), name));
  }
  axes = AxesAttr::get(parser.getContext(), names, open);
  return success();
}

static ParseResult parseAxes(AsmParser &parser, AxesAttr &axes) {
  return failure(parser.parseLBrace() || parseAxesAfterBrace(parser, axes));
}

Attribute AxesAttr::parse(AsmParser &parser, Type) {
  AxesAttr axes;
  return parseAxes(parser, axes) ? Attribute() : axes;
}

void AxesAttr::print(AsmPrinter &printer) const { printer << str(); }

std::string AxesAttr::str() const {
  std::string text;
  llvm::raw_string_ostream os(text);
  os << '{';
  llvm::interleaveComma(getNames(), os, [&](StringAttr name) { os << name.getValue(); });
  if (getOpen())
    os << (empty() ? "?" : ", ?");
  os << '}';
  return text;
}

//===----------------------------------------------------------------------===//
// Sharding
//===----------------------------------------------------------------------===//

static ParseResult parseReduction(AsmParser &parser, Reduction &reduction) {
  StringRef keyword;
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseKeyword(&keyword))
    return failure();
  std::optional<Reduction> kind = symbolizeReduction(keyword);
  if (!kind)
    return parser.emitError(loc) << "unknown reduction '" << keyword << "'; expected sum, mean, max or min";
  reduction = *kind;
  return success();
}

namespace {
/// The parts of a sharding after its mesh.
struct ShardingParts {
  SmallVector<AxesAttr> dims;
  AxesAttr partial, flat;
  Reduction reduction = Reduction::Sum;
  int64_t priority = 0;
  SmallVector<StringRef, 3> given;
};
} // namespace

/// Parses the rest after a comma: `{dp} {} {tp}`, or one of the named parts.
static ParseResult parsePart(AsmParser &parser, ShardingParts &parts) {
  SMLoc loc = parser.getCurrentLocation();
  if (parts.dims.empty() && succeeded(parser.parseOptionalLBrace())) {
    do {
      if (parseAxesAfterBrace(parser, parts.dims.emplace_back()))
        return failure();
    } while (succeeded(parser.parseOptionalLBrace()));
    return success();
  }
  StringRef keyword;
  if (parser.parseKeyword(&keyword))
    return failure();
  if (llvm::is_contained(parts.given, keyword))
    return parser.emitError(loc) << keyword << " is given twice; leave one of them out";
  parts.given.push_back(keyword);
  if (keyword == "partial")
    return failure(parseReduction(parser, parts.reduction) || parseAxes(parser, parts.partial));
  if (keyword == "flat")
    return parseAxes(parser, parts.flat);
  if (keyword == "priority")
    return parser.parseInteger(parts.priority);
  return parser.emitError(loc) << "expected axes, partial, flat or priority, found '" << keyword << "'";
}

/// Parses `<@mesh, {dp} {}, partial sum {tp}, flat {dp}, priority 1>`.
Attribute ShardingAttr::parse(AsmParser &parser, Type) {
  FlatSymbolRefAttr mesh;
  ShardingParts parts;
  parts.partial = parts.flat = AxesAttr::get(parser.getContext());
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseLess() || parser.parseAttribute(mesh))
    return {};
  while (succeeded(parser.parseOptionalComma()))
    if (parsePart(parser, parts))
      return {};
  if (parser.parseGreater())
    return {};
  return parser.getChecked<ShardingAttr>(loc, parser.getContext(), mesh, parts.dims, parts.partial, parts.reduction,
                                         parts.flat, parts.priority);
}

void ShardingAttr::print(AsmPrinter &printer) const {
  printer << '<' << Attribute(getMesh());
  if (!getDims().empty()) {
    printer << ", ";
    llvm::interleave(getDims(), printer, [&](AxesAttr axes) { axes.print(printer); }, " ");
  }
  if (isPartial()) {
    printer << ", partial " << stringifyReduction(getReduction()) << ' ';
    getPartial().print(printer);
  }
  if (isFlat()) {
    printer << ", flat ";
    getFlat().print(printer);
  }
  if (getPriority())
    printer << ", priority " << getPriority();
  printer << '>';
}

LogicalResult ShardingAttr::verify(function_ref<InFlightDiagnostic()> emitError, FlatSymbolRefAttr, ArrayRef<AxesAttr>,
                                   AxesAttr partial, Reduction, AxesAttr flat, int64_t priority) {
  if (partial.getOpen() || flat.getOpen())
    return emitError() << "the axes of partial and flat cannot be open; drop the '?'";
  if (priority < 0)
    return emitError() << "the priority " << priority << " is negative";
  return success();
}

ShardingAttr ShardingAttr::replicated(FlatSymbolRefAttr mesh, int64_t rank) {
  AxesAttr none = AxesAttr::get(mesh.getContext());
  return get(mesh.getContext(), mesh, SmallVector<AxesAttr>(rank, none), none, Reduction::Sum, none, 0);
}

ShardingAttr ShardingAttr::canonical() const {
  SmallVector<AxesAttr> dims;
  for (AxesAttr axes : getDims())
    dims.push_back(AxesAttr::get(getContext(), axes.getNames()));
  return get(getContext(), getMesh(), dims, getPartial(), isPartial() ? getReduction() : Reduction::Sum, getFlat(), 0);
}

bool ShardingAttr::hasOpenDims() const {
  return llvm::any_of(getDims(), [](AxesAttr axes) { return axes.getOpen(); });
}

bool ShardingAttr::isReplicated() const {
  return !isPartial() && !isFlat() && llvm::all_of(getDims(), [](AxesAttr axes) { return axes.empty(); });
}

ShardingAttr ShardingAttr::withDims(ArrayRef<AxesAttr> dims) const {
  return get(getContext(), getMesh(), dims, getPartial(), getReduction(), getFlat(), getPriority());
}

ShardingAttr ShardingAttr::withPartial(AxesAttr partial, Reduction reduction) const {
  return get(getContext(), getMesh(), getDims(), partial, partial.empty() ? Reduction::Sum : reduction, getFlat(),
             getPriority());
}

ShardingAttr ShardingAttr::withFlat(AxesAttr flat) const {
  return get(getContext(), getMesh(), getDims(), getPartial(), getReduction(), flat, getPriority());
}

ShardingAttr ShardingAttr::withPriority(int64_t priority) const {
  return get(getContext(), getMesh(), getDims(), getPartial(), getReduction(), getFlat(), priority);
}

//===----------------------------------------------------------------------===//
// Program and ticket
//===----------------------------------------------------------------------===//

/// Parses `<@mesh>` or `<@mesh, pp = [0, 1]>`.
Attribute ProgramAttr::parse(AsmParser &parser, Type) {
  FlatSymbolRefAttr mesh;
  StringAttr axis;
  SmallVector<int64_t> coordinates;
  if (parser.parseLess() || parser.parseAttribute(mesh))
    return {};
  if (succeeded(parser.parseOptionalComma())) {
    StringRef name;
    if (parser.parseKeyword(&name) || parser.parseEqual() ||
        parser.parseCommaSeparatedList(AsmParser::Delimiter::Square,
                                       [&] { return parser.parseInteger(coordinates.emplace_back()); }))
      return {};
    axis = StringAttr::get(parser.getContext(), name);
  }
  if (parser.parseGreater())
    return {};
  return ProgramAttr::get(parser.getContext(), mesh, axis, coordinates);
}

void ProgramAttr::print(AsmPrinter &printer) const {
  printer << '<' << Attribute(getMesh());
  if (getAxis()) {
    printer << ", " << getAxis().getValue() << " = [";
    llvm::interleaveComma(getCoordinates(), printer);
    printer << ']';
  }
  printer << '>';
}

Type TicketType::parse(AsmParser &parser) {
  SmallVector<Type> types;
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::LessGreater,
                                     [&] { return parser.parseType(types.emplace_back()); }))
    return {};
  return TicketType::get(parser.getContext(), types);
}

void TicketType::print(AsmPrinter &printer) const {
  printer << '<';
  llvm::interleaveComma(getTypes(), printer);
  printer << '>';
}
