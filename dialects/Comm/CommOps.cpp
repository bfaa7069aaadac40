//===- CommOps.cpp - meshes, annotations and their syntax -----------------===//
//
// Syntax of dims, pairs and mesh axes; the mesh; annotations. RankActions.cpp has the actions
// without communication, Collectives.cpp the collectives, Tickets.cpp start and wait.
//
//===----------------------------------------------------------------------===//

#include "dialects/Comm/Sharding.h"
#include "dialects/Interfaces/TensorShape.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace braid;
using namespace braid::comm;

//===----------------------------------------------------------------------===//
// Syntax
//===----------------------------------------------------------------------===//

/// Parses `dp = 2`, in `[...]`.
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

/// Parses `0 -> 1`, in `[...]`.
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

/// Returns whether the parser accepts the name: `[a-zA-Z_][a-zA-Z0-9_$.]*`.
static bool isIdentifier(StringRef name) {
  auto isPart = [](char c) { return llvm::isAlnum(c) || c == '_' || c == '$' || c == '.'; };
  return !name.empty() && (llvm::isAlpha(name[0]) || name[0] == '_') && llvm::all_of(name, isPart);
}

/// Upper limit of ranks. Tables over all ranks, such as groups and the peers of transfers, cost
/// time and memory for each rank.
static constexpr int64_t kMaxRanks = 1 << 20;

LogicalResult MeshOp::verify() {
  if (getNames().size() != getSizes().size())
    return emitOpError() << "has " << getNames().size() << " names for " << getSizes().size() << " sizes";
  SmallPtrSet<Attribute, 4> seen;
  int64_t ranks = 1;
  for (auto [attribute, size] : llvm::zip(getNames(), getSizes())) {
    StringRef name = cast<StringAttr>(attribute).getValue();
    // mesh_c1
    if (!isIdentifier(name))
      return emitOpError() << "names an axis '" << name << "', which is not an identifier";
    if (!seen.insert(attribute).second)
      return emitOpError() << "names the axis '" << name << "' twice";
    // mesh_c2
    if (size < 1)
      return emitOpError() << "gives the axis '" << name << "' the size " << size << "; it must be at least 1";
    // mesh_c3
    if (llvm::MulOverflow(ranks, size, ranks) || ranks > kMaxRanks)
      return emitOpError() << "has more than " << kMaxRanks << " ranks, the limit of a job; make its axes smaller";
  }
  if (getNames().empty())
    return emitOpError() << "has no axis; for one rank write [x = 1]";
  return success();
}

//===----------------------------------------------------------------------===//
// Annotations
//===----------------------------------------------------------------------===//

LogicalResult PipelineOp::verifySymbolUses(SymbolTableCollection &tables) {
  FailureOr<Mesh> mesh = Mesh::require(*this, getMeshAttr(), tables);
  if (failed(mesh))
    return failure();
  // pipeline_c1
  if (!mesh->has(getAxisAttr()))
    return emitOpError() << "is over the axis '" << getAxis() << "', which is not in the mesh " << mesh->str();
  // pipeline_c2
  for (Operation &other : *getOperation()->getBlock())
    if (isa<PipelineOp>(other) && other.isBeforeInBlock(*this))
      return emitOpError() << "is the second table of the module, but a step has one; remove one of them";
  return success();
}

static LogicalResult verifyAnnotation(Operation *op, ShardingAttr sharding, SymbolTableCollection &tables) {
  FailureOr<Mesh> mesh = Mesh::require(op, sharding.getMesh(), tables);
  if (failed(mesh))
    return failure();
  return verifySharding([&] { return op->emitOpError(); }, *mesh, sharding,
                        cast<RankedTensorType>(op->getResult(0).getType()));
}

LogicalResult ConstrainOp::verifySymbolUses(SymbolTableCollection &tables) {
  return verifyAnnotation(*this, getSharding(), tables);
}

LogicalResult ReshardOp::verifySymbolUses(SymbolTableCollection &tables) {
  if (getSharding().hasOpenDims())
    return emitOpError() << "has open axes in " << getSharding()
                         << ", but a reshard needs the final sharding; drop the '?'";
  return verifyAnnotation(*this, getSharding(), tables);
}

ShardingRule ConstrainOp::getShardingRule() { return elementwiseRule(*this).linearIn(0); }

/// Builds a constraint on the shard, with no axes for the dims that are sharded.
SmallVector<Value> ConstrainOp::buildShard(OpBuilder &builder, const Shard &shard) {
  if (shard.flat)
    return {shard.operands[0]};
  ShardingRule rule = getShardingRule();
  SmallVector<AxesAttr> dims(getSharding().getDims());
  for (auto [dim, factors] : llvm::zip_equal(dims, rule.operands[0]))
    if (llvm::any_of(factors, [&](unsigned factor) { return shard.shardCounts[factor] > 1; }))
      dim = AxesAttr::get(getContext(), ArrayRef<StringAttr>());
  return {builder.create<ConstrainOp>(getLoc(), shard.operands[0], getSharding().withDims(dims), getYielding())};
}

SmallVector<Value> ConstrainOp::buildVJP(OpBuilder &builder, ArrayRef<Value> resultGradients, ArrayRef<bool>) {
  if (!resultGradients[0])
    return {Value()};
  return {builder.create<ConstrainOp>(getLoc(), resultGradients[0], getSharding(), /*yielding=*/true)};
}
