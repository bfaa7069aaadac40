//===- FunctionAttributes.cpp - attributes of functions and parts ---------===//
//
// Checks `comm.program` of functions, `comm.sharding` and `comm.global` of arguments
// and results, and `comm.shardings` of ops.
//
//===----------------------------------------------------------------------===//

#include "dialects/Comm/HeldStarts.h"
#include "dialects/Comm/MovedValues.h"
#include "dialects/Comm/Programs.h"
#include "dialects/Comm/Sharding.h"
#include "dialects/Comm/TensorNames.h"
#include "dialects/Comm/Timing.h"
#include "dialects/Comm/Zigzag.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/ADT/SmallSet.h"

using namespace mlir;
using namespace braid;
using namespace braid::comm;

/// Checks `comm.program` against the mesh.
static LogicalResult verifyProgram(Operation *op, ProgramAttr program) {
  if (!isa<FunctionOpInterface, exec::ProgramOp, exec::TensorOp>(op))
    return op->emitOpError() << "has 'comm.program', which belongs on a function, or on a tensor that some ranks hold";
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

/// Checks `comm.global` of a part of type `tensor`. Without a sharding, the part must be the whole tensor.
static LogicalResult verifyGlobal(function_ref<InFlightDiagnostic()> emitError, Attribute attribute, bool isLocal,
                                  RankedTensorType tensor, DictionaryAttr all) {
  auto type = dyn_cast<TypeAttr>(attribute);
  auto global = type ? dyn_cast<RankedTensorType>(type.getValue()) : RankedTensorType();
  if (!global)
    return emitError() << "'comm.global' must be a tensor type, found " << attribute;
  if (!isLocal)
    return emitError() << "has 'comm.global' in a function without 'comm.program'";
  if (!all.contains(CommDialect::kSharding) && global != tensor)
    return emitError() << "has no 'comm.sharding', so its type must be the whole tensor " << global << ", but is "
                       << tensor;
  return success();
}

/// Checks that `tensor` is the type of the part of `global` that a rank of the program holds.
static LogicalResult verifyLocalType(function_ref<InFlightDiagnostic()> emitError, const Mesh &mesh,
                                     ShardingAttr sharding, RankedTensorType global, RankedTensorType tensor) {
  if (sharding.hasOpenDims())
    return emitError() << "has open axes in " << sharding << ", but the function is a rank's program; drop the '?'";
  if (RankedTensorType part = localType(global, sharding, mesh); part != tensor)
    return emitError() << "the part of " << global << " under " << sharding << " is " << part << ", but the type is "
                       << tensor << "; 'comm.global' gives the logical tensor";
  return success();
}

/// Checks `comm.sharding` and `comm.global` of `what`: an argument, a result or a range
/// of memory. `isLocal` is true if the type is that of a rank's part.
static LogicalResult verifyPart(Operation *op, NamedAttribute attribute, const Twine &what, bool isLocal, Type type,
                                DictionaryAttr all) {
  auto emitError = [&] { return op->emitError() << what << ": "; };
  StringRef name = attribute.getName();
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (name == CommDialect::kGlobal)
    return verifyGlobal(emitError, attribute.getValue(), isLocal, tensor, all);
  if (name != CommDialect::kSharding)
    return emitError() << "unknown attribute '" << name << "'; expected comm.sharding or comm.global";
  auto sharding = dyn_cast<ShardingAttr>(attribute.getValue());
  if (!sharding || !tensor)
    return emitError() << "'comm.sharding' must be #comm.sharding<...> on a tensor, found " << attribute.getValue()
                       << " on " << type;
  FailureOr<Mesh> mesh = Mesh::require(op, sharding.getMesh());
  if (failed(mesh))
    return failure();
  if (auto program = op->getAttrOfType<ProgramAttr>(CommDialect::kProgram);
      program && program.getMesh() != sharding.getMesh())
    return emitError() << "is sharded over " << sharding.getMesh() << ", but the function is a program on "
                       << program.getMesh();
  auto logical = all.getAs<TypeAttr>(CommDialect::kGlobal);
  auto global = logical ? dyn_cast<RankedTensorType>(logical.getValue()) : tensor;
  if (!global)
    return success(); // reported for comm.global
  if (failed(verifySharding(emitError, *mesh, sharding, global)))
    return failure();
  return isLocal ? verifyLocalType(emitError, *mesh, sharding, global, tensor) : success();
}

/// Checks a part in memory form, which keeps the attributes of arguments and results on
/// their memory: an exec.tensor, or an exec.buffer with a type.
static LogicalResult verifyPartInMemory(Operation *op, NamedAttribute attribute) {
  Type type;
  if (auto tensor = dyn_cast<exec::TensorOp>(op))
    type = tensor.getType();
  else if (auto buffer = dyn_cast<exec::BufferOp>(op); buffer && buffer.getType())
    type = *buffer.getType();
  if (!type)
    return op->emitOpError() << "has '" << attribute.getName().getValue()
                             << "', which belongs on an argument or result, or on the memory that holds it";
  auto name = cast<SymbolOpInterface>(op).getName();
  return verifyPart(op, attribute, "'" + name + "'", /*isLocal=*/true, type, op->getDiscardableAttrDictionary());
}

/// Checks `comm.factors` against the mesh. The number of factors depends on the op's rule and is not checked here.
static LogicalResult verifyFactors(Operation *op, Attribute value) {
  auto factors = dyn_cast<ShardingAttr>(value);
  if (!factors)
    return op->emitOpError() << "'comm.factors' must be #comm.sharding<...>, found " << value;
  FailureOr<Mesh> mesh = Mesh::require(op, factors.getMesh());
  if (failed(mesh))
    return failure();
  SmallVector<AxesAttr> lists(factors.getDims());
  lists.append({factors.getPartial(), factors.getFlat()});
  for (AxesAttr axes : lists)
    if (failed(verifyAxes([&] { return op->emitOpError(); }, *mesh, axes)))
      return failure();
  return success();
}

static LogicalResult verifyOfCollective(Operation *op, NamedAttribute attribute) {
  bool isUnit = attribute.getName() == CommDialect::kUnit;
  if (isa<CollectiveOpInterface>(op) &&
      (isUnit ? isa<StringAttr>(attribute.getValue()) : isa<UnitAttr>(attribute.getValue())))
    return success();
  return op->emitOpError() << (isUnit ? "'comm.unit' is a string" : "'comm.held_start' is a unit attribute")
                           << " on a collective, found " << attribute.getValue();
}

static LogicalResult verifyOfModule(Operation *op, NamedAttribute attribute) {
  if (attribute.getName() == CommDialect::kCtas) {
    auto ctas = dyn_cast<IntegerAttr>(attribute.getValue());
    if (isa<ModuleOp>(op) && ctas && ctas.getInt() > 0)
      return success();
    return op->emitOpError() << "'comm.ctas' is a number of 1 or more on a module, found " << attribute.getValue();
  }
  auto axes = dyn_cast<AxesAttr>(attribute.getValue());
  if (isa<ModuleOp>(op) && axes && !axes.empty() && !axes.getOpen())
    return success();
  return op->emitOpError() << "'comm.ring' names one axis or more on a module, found " << attribute.getValue();
}

static LogicalResult verifyZigzag(Operation *op, NamedAttribute attribute) {
  if (attribute.getName() == kHalf) {
    auto half = dyn_cast<IntegerAttr>(attribute.getValue());
    if (half && (half.getInt() == 0 || half.getInt() == 1))
      return success();
    return op->emitOpError() << "'comm.half' is 0 or 1, found " << attribute.getValue();
  }
  auto axes = dyn_cast<AxesAttr>(attribute.getValue());
  if (isa<ModuleOp>(op) && axes && axes.size() == 1 && !axes.getOpen())
    return success();
  return op->emitOpError() << "'comm.zigzag' names one axis on a module, found " << attribute.getValue();
}

LogicalResult CommDialect::verifyOperationAttribute(Operation *op, NamedAttribute attribute) {
  if (attribute.getName() == kProgram) {
    if (auto program = dyn_cast<ProgramAttr>(attribute.getValue()))
      return verifyProgram(op, program);
    return op->emitOpError() << "'comm.program' must be #comm.program<...>, found " << attribute.getValue();
  }
  if (attribute.getName() == kEntry) {
    if (isa<StringAttr>(attribute.getValue()) && isa<FunctionOpInterface, exec::ProgramOp>(op) && rankSubsetOf(op))
      return success();
    return op->emitOpError() << "'comm.entry' is a string on a function that 'comm.program' gives to some ranks, found "
                             << attribute.getValue();
  }
  if (attribute.getName() == kCell) {
    if (isa<CellAttr>(attribute.getValue()) && isa<FunctionOpInterface, exec::ProgramOp>(op) && rankSubsetOf(op))
      return success();
    return op->emitOpError() << "'comm.cell' is #comm.cell<...> on a function that 'comm.program' gives to some ranks, "
                             << "found " << attribute.getValue();
  }
  if (attribute.getName() == kFactors)
    return verifyFactors(op, attribute.getValue());
  if (attribute.getName() == kSharding || attribute.getName() == kGlobal)
    return verifyPartInMemory(op, attribute);
  if (attribute.getName() == kUnit || attribute.getName() == kHeldStart)
    return verifyOfCollective(op, attribute);
  if (attribute.getName() == kCtas || attribute.getName() == kRing)
    return verifyOfModule(op, attribute);
  if (attribute.getName() == kZigzag || attribute.getName() == kHalf)
    return verifyZigzag(op, attribute);
  if (attribute.getName() == kBesideCollective) {
    if (isa<exec::ActionOpInterface>(op) && isa<UnitAttr>(attribute.getValue()))
      return success();
    return op->emitOpError() << "'comm.beside_collective' is a unit attribute on an action, found "
                             << attribute.getValue();
  }
  if (attribute.getName() == kTiming || attribute.getName() == kTimingWithoutLimit)
    return verifyTiming(op, attribute.getValue());
  if (attribute.getName() == kTensors)
    return verifyTensorNames(op, attribute.getValue());
  if (attribute.getName() == kMoved)
    return verifyMovedValues(op, attribute.getValue());
  if (attribute.getName() != kShardings)
    return op->emitOpError() << "has the unknown attribute '" << attribute.getName().getValue() << "'";
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

LogicalResult CommDialect::verifyRegionArgAttribute(Operation *op, unsigned, unsigned index, NamedAttribute attribute) {
  auto function = dyn_cast<FunctionOpInterface>(op);
  if (!function)
    return op->emitOpError() << "has '" << attribute.getName().getValue()
                             << "', which belongs on a function's argument";
  return verifyPart(op, attribute, "argument #" + Twine(index), op->hasAttr(kProgram),
                    function.getArgumentTypes()[index], function.getArgAttrDict(index));
}

LogicalResult CommDialect::verifyRegionResultAttribute(Operation *op, unsigned, unsigned index,
                                                       NamedAttribute attribute) {
  auto function = dyn_cast<FunctionOpInterface>(op);
  if (!function)
    return op->emitOpError() << "has '" << attribute.getName().getValue() << "', which belongs on a function's result";
  return verifyPart(op, attribute, "result #" + Twine(index), op->hasAttr(kProgram), function.getResultTypes()[index],
                    function.getResultAttrDict(index));
}
