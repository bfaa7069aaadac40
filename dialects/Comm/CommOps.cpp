//===- CommOps.cpp - the ops around collectives ---------------------------===//
//
// Syntax of dims, pairs and mesh axes; the mesh; annotations; slices; start and
// wait.  Collectives are in Collectives.cpp.
//
//===----------------------------------------------------------------------===//

#include "dialects/Comm/Sharding.h"
#include "llvm/ADT/SmallPtrSet.h"

using namespace mlir;
using namespace braid;
using namespace braid::comm;

//===----------------------------------------------------------------------===//
// Syntax
//===----------------------------------------------------------------------===//

/// `dp = 2`, in `[...]`
static ParseResult parseMeshAxes(OpAsmParser &parser, ArrayAttr &names, DenseI64ArrayAttr &sizes) {
  SmallVector<Attribute> keywords;
  SmallVector<int64_t> numbers;
  auto parseOne = [&]() -> ParseResult {
    StringRef name;
    if (parser.parseKeyword(&name) || parser.parseEqual() || parser.parseInteger(numbers.emplace_back()))
      return failure();
    keywords.push_back(parser.getBuilder().getStringAttr(name));
    return success();
  };
  if (parser.parseCommaSeparatedList(OpAsmParser::Delimiter::Square, parseOne))
    return failure();
  names = parser.getBuilder().getArrayAttr(keywords);
  sizes = parser.getBuilder().getDenseI64ArrayAttr(numbers);
  return success();
}

static void printMeshAxes(OpAsmPrinter &printer, Operation *, ArrayAttr names, DenseI64ArrayAttr sizes) {
  printer << '[';
  llvm::interleaveComma(llvm::zip(names, sizes.asArrayRef()), printer, [&](auto axis) {
    printer << cast<StringAttr>(std::get<0>(axis)).getValue() << " = " << std::get<1>(axis);
  });
  printer << ']';
}

static ParseResult parseNumberOrFlat(OpAsmParser &parser, int64_t &dim) {
  if (succeeded(parser.parseOptionalKeyword("flat")))
    return dim = kFlat, success();
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseInteger(dim))
    return failure();
  return dim < 0 ? parser.emitError(loc) << "expected a dim or flat, found " << dim : ParseResult(success());
}

static void printNumberOrFlat(OpAsmPrinter &printer, int64_t dim) {
  if (dim == kFlat)
    printer << "flat";
  else
    printer << dim;
}

static ParseResult parseDim(OpAsmParser &parser, IntegerAttr &dim) {
  int64_t number;
  if (parseNumberOrFlat(parser, number))
    return failure();
  dim = parser.getBuilder().getI64IntegerAttr(number);
  return success();
}

static void printDim(OpAsmPrinter &printer, Operation *, IntegerAttr dim) { printNumberOrFlat(printer, dim.getInt()); }

static ParseResult parseDims(OpAsmParser &parser, DenseI64ArrayAttr &dims) {
  SmallVector<int64_t> numbers;
  if (parser.parseCommaSeparatedList(OpAsmParser::Delimiter::Square,
                                     [&] { return parseNumberOrFlat(parser, numbers.emplace_back()); }))
    return failure();
  dims = parser.getBuilder().getDenseI64ArrayAttr(numbers);
  return success();
}

static void printDims(OpAsmPrinter &printer, Operation *, DenseI64ArrayAttr dims) {
  printer << '[';
  llvm::interleaveComma(dims.asArrayRef(), printer, [&](int64_t dim) { printNumberOrFlat(printer, dim); });
  printer << ']';
}

/// `0 -> 1`, in `[...]`
static ParseResult parsePairs(OpAsmParser &parser, DenseI64ArrayAttr &pairs) {
  SmallVector<int64_t> numbers;
  auto parseOne = [&]() -> ParseResult {
    return failure(parser.parseInteger(numbers.emplace_back()) || parser.parseArrow() ||
                   parser.parseInteger(numbers.emplace_back()));
  };
  if (parser.parseCommaSeparatedList(OpAsmParser::Delimiter::Square, parseOne))
    return failure();
  pairs = parser.getBuilder().getDenseI64ArrayAttr(numbers);
  return success();
}

static void printPairs(OpAsmPrinter &printer, Operation *, DenseI64ArrayAttr pairs) {
  printer << '[';
  for (int64_t i = 0; i + 1 < pairs.size(); i += 2)
    printer << (i ? ", " : "") << pairs[i] << " -> " << pairs[i + 1];
  printer << ']';
}

#define GET_OP_CLASSES
#include "dialects/Comm/CommOps.cpp.inc"

void CommDialect::registerOps() {
  addOperations<
#define GET_OP_LIST
#include "dialects/Comm/CommOps.cpp.inc"
      >();
}

//===----------------------------------------------------------------------===//
// Mesh
//===----------------------------------------------------------------------===//

LogicalResult MeshOp::verify() {
  if (getNames().size() != getSizes().size() || getNames().empty())
    return emitOpError() << "has " << getNames().size() << " names for " << getSizes().size() << " sizes";
  SmallPtrSet<Attribute, 4> seen;
  for (auto [name, size] : llvm::zip(getNames(), getSizes())) {
    if (!seen.insert(name).second)
      return emitOpError() << "names the axis " << name << " twice";
    if (size < 1)
      return emitOpError() << "gives the axis " << name << " the size " << size;
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Places in the mesh and annotations
//===----------------------------------------------------------------------===//

/// The mesh of an op, once its axes are known to be there.
static FailureOr<Mesh> verifiedMesh(Operation *op, FlatSymbolRefAttr symbol, AxesAttr axes) {
  FailureOr<Mesh> mesh = Mesh::require(op, symbol);
  if (failed(mesh) || failed(verifyAxes([&] { return op->emitOpError(); }, *mesh, axes)))
    return failure();
  return mesh;
}

static LogicalResult verifyAnnotation(Operation *op, ShardingAttr sharding) {
  FailureOr<Mesh> mesh = Mesh::require(op, sharding.getMesh());
  if (failed(mesh))
    return failure();
  return verifySharding([&] { return op->emitOpError(); }, *mesh, sharding,
                        cast<RankedTensorType>(op->getResult(0).getType()));
}

LogicalResult AxisIndexOp::verifySymbolUses(SymbolTableCollection &) {
  return verifiedMesh(*this, getMeshAttr(), getAxes());
}

LogicalResult ConstrainOp::verifySymbolUses(SymbolTableCollection &) { return verifyAnnotation(*this, getSharding()); }
LogicalResult ReshardOp::verifySymbolUses(SymbolTableCollection &) { return verifyAnnotation(*this, getSharding()); }

ShardingRule ConstrainOp::getShardingRule() { return elementwiseRule(*this).linearIn(0); }

SmallVector<Value> ConstrainOp::buildVJP(OpBuilder &builder, ArrayRef<Value> resultGradients, ArrayRef<bool>) {
  if (!resultGradients[0])
    return {Value()};
  return {builder.create<ConstrainOp>(getLoc(), resultGradients[0], getSharding())};
}

//===----------------------------------------------------------------------===//
// Slice and assemble
//===----------------------------------------------------------------------===//

LogicalResult SliceOp::verifySymbolUses(SymbolTableCollection &) {
  return verifiedMesh(*this, getMeshAttr(), getAxes());
}

LogicalResult AssembleOp::verifySymbolUses(SymbolTableCollection &) {
  return verifiedMesh(*this, getMeshAttr(), getAxes());
}

//===----------------------------------------------------------------------===//
// Start and wait
//===----------------------------------------------------------------------===//

WaitOp StartOp::getWait() {
  for (Operation *user : getTicket().getUsers())
    if (auto wait = dyn_cast<WaitOp>(user))
      return wait;
  return {};
}

LogicalResult StartOp::verifyRegions() { return success(); }
LogicalResult WaitOp::verify() { return success(); }

OperandRange StartOp::getActionIns() { return exec::ActionOpInterface(getCollective()).getActionIns(); }
OperandRange StartOp::getActionOuts() { return exec::ActionOpInterface(getCollective()).getActionOuts(); }
std::string StartOp::getActionName() { return exec::ActionOpInterface(getCollective()).getActionName(); }

OperandRange WaitOp::getActionIns() { return (*this)->getOperands().drop_front(); }
OperandRange WaitOp::getActionOuts() { return (*this)->getOperands().drop_front(); }
std::string WaitOp::getActionName() { return "wait"; }

/// Both order the queue: they are never removed, merged or exchanged.
void StartOp::getEffects(SmallVectorImpl<MemoryEffects::EffectInstance> &effects) {
  effects.emplace_back(MemoryEffects::Write::get());
}

void WaitOp::getEffects(SmallVectorImpl<MemoryEffects::EffectInstance> &effects) {
  effects.emplace_back(MemoryEffects::Write::get());
}
