//===- CommDialect.cpp - registration, attributes of functions ------------===//

#include "dialects/Comm/Sharding.h"
#include "mlir/IR/DialectImplementation.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/ADT/SmallSet.h"
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

/// `dp, tp}` or `dp, ?}`: what follows the brace.
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

void AxesAttr::print(AsmPrinter &printer) const {
  printer << '{';
  llvm::interleaveComma(getNames(), printer, [&](StringAttr name) { printer << name.getValue(); });
  if (getOpen())
    printer << (empty() ? "?" : ", ?");
  printer << '}';
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

/// What follows a comma: `{dp} {} {tp}`, or one of the named parts.
static ParseResult parsePart(AsmParser &parser, SmallVectorImpl<AxesAttr> &dims, AxesAttr &partial,
                             Reduction &reduction, AxesAttr &flat, int64_t &priority) {
  SMLoc loc = parser.getCurrentLocation();
  if (dims.empty() && succeeded(parser.parseOptionalLBrace())) {
    do {
      if (parseAxesAfterBrace(parser, dims.emplace_back()))
        return failure();
    } while (succeeded(parser.parseOptionalLBrace()));
    return success();
  }
  StringRef keyword;
  if (parser.parseKeyword(&keyword))
    return failure();
  if (keyword == "partial")
    return failure(parseReduction(parser, reduction) || parseAxes(parser, partial));
  if (keyword == "flat")
    return parseAxes(parser, flat);
  if (keyword == "priority")
    return parser.parseInteger(priority);
  return parser.emitError(loc) << "expected axes, partial, flat or priority, found '" << keyword << "'";
}

/// `<@mesh, {dp} {}, partial sum {tp}, flat {dp}, priority 1>`
Attribute ShardingAttr::parse(AsmParser &parser, Type) {
  FlatSymbolRefAttr mesh;
  SmallVector<AxesAttr> dims;
  AxesAttr none = AxesAttr::get(parser.getContext()), partial = none, flat = none;
  Reduction reduction = Reduction::Sum;
  int64_t priority = 0;
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseLess() || parser.parseAttribute(mesh))
    return {};
  while (succeeded(parser.parseOptionalComma()))
    if (parsePart(parser, dims, partial, reduction, flat, priority))
      return {};
  if (parser.parseGreater())
    return {};
  return parser.getChecked<ShardingAttr>(loc, parser.getContext(), mesh, dims, partial, reduction, flat, priority);
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
    return emitError() << "the axes of partial and flat cannot be open";
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

//===----------------------------------------------------------------------===//
// Program and ticket
//===----------------------------------------------------------------------===//

/// `<@mesh>` or `<@mesh, pp = [0, 1]>`
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

//===----------------------------------------------------------------------===//
// Attributes of functions, arguments and results
//===----------------------------------------------------------------------===//

/// Checks `comm.program` against the mesh.
static LogicalResult verifyProgram(Operation *op, ProgramAttr program) {
  if (!isa<FunctionOpInterface, exec::ProgramOp>(op))
    return op->emitOpError() << "has 'comm.program', which belongs on a function";
  FailureOr<Mesh> mesh = Mesh::require(op, program.getMesh());
  if (failed(mesh) || !program.getAxis())
    return mesh;
  if (!mesh->has(program.getAxis()))
    return op->emitError() << "'comm.program' names the axis '" << program.getAxis().getValue()
                           << "', which is not in the mesh " << mesh->str();
  llvm::SmallSet<int64_t, 8> seen;
  for (int64_t coordinate : program.getCoordinates()) {
    if (coordinate < 0 || coordinate >= mesh->sizeOf(program.getAxis()))
      return op->emitError() << "'comm.program' names coordinate " << coordinate << " of axis '"
                             << program.getAxis().getValue() << "' in the mesh " << mesh->str();
    if (!seen.insert(coordinate).second)
      return op->emitError() << "'comm.program' names coordinate " << coordinate << " twice";
  }
  if (program.getCoordinates().empty())
    return op->emitError() << "'comm.program' names no coordinate of axis '" << program.getAxis().getValue() << "'";
  return success();
}

/// Checks `comm.sharding` and `comm.global` of `what`, an argument, a result or a
/// range of memory; `isLocal` where the type is that of a rank's part.
static LogicalResult verifyPart(Operation *op, NamedAttribute attribute, const Twine &what, bool isLocal, Type type,
                                DictionaryAttr all) {
  auto emitError = [&] { return op->emitError() << what << ": "; };
  StringRef name = attribute.getName();
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (name == CommDialect::kGlobal) {
    auto global = dyn_cast<TypeAttr>(attribute.getValue());
    if (!global || !isa<RankedTensorType>(global.getValue()))
      return emitError() << "'comm.global' must be a tensor type, found " << attribute.getValue();
    if (!isLocal)
      return emitError() << "has 'comm.global' in a function without 'comm.program'";
    return success();
  }
  if (name != CommDialect::kSharding)
    return emitError() << "unknown attribute '" << name << "'; expected comm.sharding or comm.global";
  auto sharding = dyn_cast<ShardingAttr>(attribute.getValue());
  if (!sharding || !tensor)
    return emitError() << "'comm.sharding' must be #comm.sharding<...> on a tensor, found " << attribute.getValue()
                       << " on " << type;
  FailureOr<Mesh> mesh = Mesh::require(op, sharding.getMesh());
  if (failed(mesh))
    return failure();
  auto logical = all ? all.getAs<TypeAttr>(CommDialect::kGlobal) : TypeAttr();
  auto global = logical ? dyn_cast<RankedTensorType>(logical.getValue()) : tensor;
  if (!global)
    return success(); // the error is that of comm.global
  if (failed(verifySharding(emitError, *mesh, sharding, global)))
    return failure();
  if (isLocal && sharding.hasOpenDims())
    return emitError() << "has open axes in " << sharding << ", but the function is a rank's program; drop the '?'";
  if (isLocal && localType(global, sharding, *mesh) != tensor)
    return emitError() << "the part of " << global << " under " << sharding << " is "
                       << localType(global, sharding, *mesh) << ", but the type is " << tensor;
  return success();
}

/// Memory form keeps the attributes of arguments and results on what holds them: an
/// exec.tensor, or an exec.buffer with a type.
static LogicalResult verifyPartInMemory(Operation *op, NamedAttribute attribute) {
  Type type;
  if (auto tensor = dyn_cast<exec::TensorOp>(op))
    type = tensor.getType();
  else if (auto buffer = dyn_cast<exec::BufferOp>(op); buffer && buffer.getType())
    type = *buffer.getType();
  if (!type)
    return op->emitOpError() << "has '" << attribute.getName() << "', which belongs on an argument or result, or on "
                             << "the memory that holds it";
  auto name = cast<SymbolOpInterface>(op).getName();
  return verifyPart(op, attribute, "'" + name + "'", /*isLocal=*/true, type, op->getDiscardableAttrDictionary());
}

LogicalResult CommDialect::verifyOperationAttribute(Operation *op, NamedAttribute attribute) {
  if (attribute.getName() == kProgram) {
    if (auto program = dyn_cast<ProgramAttr>(attribute.getValue()))
      return verifyProgram(op, program);
    return op->emitOpError() << "'comm.program' must be #comm.program<...>, found " << attribute.getValue();
  }
  if (attribute.getName() == kFactors) {
    if (isa<ShardingAttr>(attribute.getValue()))
      return success();
    return op->emitOpError() << "'comm.factors' must be #comm.sharding<...>, found " << attribute.getValue();
  }
  if (attribute.getName() == kSharding || attribute.getName() == kGlobal)
    return verifyPartInMemory(op, attribute);
  if (attribute.getName() != kShardings)
    return op->emitOpError() << "has the unknown attribute '" << attribute.getName() << "'";
  auto shardings = dyn_cast<ArrayAttr>(attribute.getValue());
  if (!shardings || shardings.size() != op->getNumResults())
    return op->emitOpError() << "'comm.shardings' must have a sharding for each of " << op->getNumResults()
                             << " results";
  auto emitError = [&] { return op->emitOpError(); };
  for (auto [value, type] : llvm::zip_equal(shardings, op->getResultTypes())) {
    auto sharding = dyn_cast<ShardingAttr>(value);
    auto tensor = dyn_cast<RankedTensorType>(type);
    if (!sharding || !tensor)
      return op->emitOpError() << "'comm.shardings' holds " << value << " for a result of type " << type;
    FailureOr<Mesh> mesh = Mesh::require(op, sharding.getMesh());
    if (failed(mesh) || failed(verifySharding(emitError, *mesh, sharding, tensor)))
      return failure();
  }
  return success();
}

LogicalResult CommDialect::verifyRegionArgAttribute(Operation *op, unsigned, unsigned index,
                                                    NamedAttribute attribute) {
  auto function = dyn_cast<FunctionOpInterface>(op);
  if (!function)
    return op->emitOpError() << "has '" << attribute.getName() << "', which belongs on a function's argument";
  return verifyPart(op, attribute, "argument #" + Twine(index), op->hasAttr(kProgram), function.getArgumentTypes()[index],
                    function.getArgAttrDict(index));
}

LogicalResult CommDialect::verifyRegionResultAttribute(Operation *op, unsigned, unsigned index,
                                                       NamedAttribute attribute) {
  auto function = dyn_cast<FunctionOpInterface>(op);
  if (!function)
    return op->emitOpError() << "has '" << attribute.getName() << "', which belongs on a function's result";
  return verifyPart(op, attribute, "result #" + Twine(index), op->hasAttr(kProgram), function.getResultTypes()[index],
                    function.getResultAttrDict(index));
}
