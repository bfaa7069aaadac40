//===- KernelValues.cpp - the computations of a kernel --------------------===//

#include "compiler/Codegen/CppText.h"
#include "compiler/Codegen/KernelWriter.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/Support/ScopedPrinter.h"

using namespace mlir;
using namespace braid;
using namespace braid::codegen;

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

Expr KernelWriter::failed(Operation *op, const Twine &message) {
  if (!hasFailed)
    op->emitError() << "kernel '" << analysis.kernel.getSymName() << "': " << message;
  hasFailed = true;
  return {"0", Kind::I32};
}

std::string KernelWriter::unsupported(const Twine &what) const {
  return (what + " not supported by the " + emitter.words.target + " target").str();
}

/// Defines a variable that holds `text`. Variables never change, so equal texts on a level share one variable: fused
/// kernels compute common subexpressions once.
Expr KernelWriter::define(Kind kind, bool row, bool lane, std::string text, bool first) {
  unsigned level = levelOf(row, lane);
  auto [it, isNew] = defined[level].try_emplace(text);
  if (isNew) {
    it->second = {fresh("t"), kind, row, lane};
    auto &to = first ? loads[level] : lines[level];
    to.push_back((registerType(kind, lane) + " " + it->second.text + " = " + text + ";").str());
  }
  return it->second;
}

Expr KernelWriter::literal(Attribute value, Type type) {
  if (auto dense = dyn_cast<SplatElementsAttr>(value))
    value = dense.getSplatValue<Attribute>();
  std::optional<Kind> kind = kindOf(type);
  if (auto number = dyn_cast<FloatAttr>(value); number && kind)
    return {floatLiteral(number.getValue()), *kind};
  if (auto number = dyn_cast<IntegerAttr>(value); number && kind) {
    if (*kind == Kind::I1)
      return {number.getValue().isZero() ? "false" : "true", *kind};
    int64_t integer = number.getValue().getSExtValue();
    if (integer == INT32_MIN && *kind == Kind::I32)
      return {"INT32_MIN", *kind};
    return {std::to_string(integer), *kind};
  }
  return failed(analysis.kernel, unsupported("constants of type " + llvm::to_string(type) + " are"));
}

/// Returns the value of a tensor at the current row and lane.
Expr KernelWriter::evaluate(Value tensor, const Dims &dims) {
  if (auto argument = dyn_cast<BlockArgument>(tensor))
    return load(argument, dims);
  Operation *op = tensor.getDefiningOp();
  if (auto constant = dyn_cast<arith::ConstantOp>(op))
    return literal(constant.getValue(), getElementTypeOrSelf(tensor));
  if (auto fill = dyn_cast<linalg::FillOp>(op))
    return evaluate(fill.getInputs()[0], {});

  for (auto &level : values)
    if (auto it = level.find(tensor); it != level.end())
      return it->second;
  const Node *node = analysis.nodeOf(tensor);
  if (!node)
    return failed(op, "reads a tensor that nothing computes");
  if (node->reduces())
    return failed(op, "the reduction is read before it is complete");
  if (auto kept = keptArrays.find(op); kept != keptArrays.end())
    return values[2][tensor] = define(Kind::F32, true, true, kept->second + turnIndex());

  Expr value = evaluateScalar(node->op.getBody()->getTerminator()->getOperand(0), *node);
  nameValue(value, op);
  if (node->kept && value.lane && emitter.keeps(form)) {
    std::string &array = keptArrays[op] = fresh("kept");
    lines[0].push_back("V " + array + "[" + emitter.words.turns.str() + "];");
    lines[2].push_back(array + turnIndex() + " = " + value.text + ";");
  }
  return values[levelOf(value.row, value.lane)][tensor] = value;
}

/// Returns a value of the scalar body of `node`.
Expr KernelWriter::evaluateScalar(Value scalar, const Node &node) {
  if (auto argument = dyn_cast<BlockArgument>(scalar)) {
    // The old value of a reduction over a single element is its init.
    unsigned number = argument.getArgNumber();
    return evaluate(node.op->getOperand(number), node.operandDims(number));
  }
  Operation *op = scalar.getDefiningOp();
  if (auto constant = dyn_cast<arith::ConstantOp>(op))
    return literal(constant.getValue(), scalar.getType());
  if (auto index = dyn_cast<linalg::IndexOp>(op))
    return indexOf(node.loops[index.getDim()]);

  for (auto &level : values)
    if (auto it = level.find(scalar); it != level.end())
      return it->second;
  if (auto random = dyn_cast<exec::RandomUniformOp>(op)) {
    Expr value = randomUniform(random, node);
    return values[levelOf(value.row, value.lane)][scalar] = value;
  }
  if (auto extract = dyn_cast<tensor::ExtractOp>(op)) {
    Expr value = lookUp(extract, node);
    return values[levelOf(value.row, value.lane)][scalar] = value;
  }

  SmallVector<Expr> operands;
  for (Value operand : op->getOperands())
    operands.push_back(evaluateScalar(operand, node));
  std::string text = op->getNumResults() == 1 ? printScalarOp(op, operands, emitter.words.lanes) : "";
  std::optional<Kind> kind = kindOf(scalar.getType());
  if (text.empty() || !kind)
    return failed(
        op, unsupported("'" + op->getName().getStringRef() + "' giving " + llvm::to_string(scalar.getType()) + " is"));
  bool row = llvm::any_of(operands, [](const Expr &x) { return x.row; });
  bool lane = llvm::any_of(operands, [](const Expr &x) { return x.lane; });
  if (registerType(*kind, lane).empty())
    return failed(op, unsupported("64-bit integers over lanes are"));
  Expr value =
      !operands.empty() && text == operands[0].text ? Expr{text, *kind, row, lane} : define(*kind, row, lane, text);
  return values[levelOf(row, lane)][scalar] = value;
}

/// Returns the value to store in an output. The store rounds to bf16, so a rounding that only serves the store is
/// skipped.
Expr KernelWriter::evaluateStored(const Output &output) {
  const Node &node = *output.node;
  auto rounded = node.op.getBody()->getTerminator()->getOperand(0).getDefiningOp<arith::TruncFOp>();
  bool isInRegisters = rounded && rounded.getIn().getType().isF32() && rounded.getType().isBF16();
  return isInRegisters && !node.reduces() ? evaluateScalar(rounded.getIn(), node)
                                          : evaluate(output.node->result(), output.dims);
}

Expr KernelWriter::load(BlockArgument argument, const Dims &dims) {
  unsigned operand = argument.getArgNumber();
  Place place = placeOf(operand, dims);
  if (place.laneStride == 1 && place.variesByRow)
    reads.insert({operand, {phase, dims}});
  return loadAt(operand, place);
}

Expr KernelWriter::loadAt(unsigned operand, const Place &place) {
  bool lane = place.laneStride != 0;
  std::optional<Kind> kind = kindOf(analysis.layout(operand).getElementType());
  if (registerType(*kind, lane).empty())
    return failed(analysis.kernel, unsupported("64-bit integers over lanes are"));

  std::string text = address(operand, place, lane), lanes = emitter.words.lanes.str() + "(" + text;
  if (!lane)
    text = "ld1(" + text + ")";
  else if (place.laneStride == 1 && emitter.accessesAsVector(form, operand))
    text = "ld" + lanes + count().str() + ")";
  else
    text = "ld_strided" + lanes + ", " + std::to_string(place.laneStride) + count().str() + ")";
  // Not among the loads at the beginning of a loop that computes the offset of the row.
  bool first = lane && levelOf(place.variesByRow, lane) != levelOf(true, false);
  return define(*kind, place.variesByRow, lane, text, first);
}

/// Returns the element at the current lane of the table row that an index selects.
Expr KernelWriter::lookUp(tensor::ExtractOp op, const Node &node) {
  std::optional<exec::TableRead> read = exec::tableReadOf(op);
  if (!read || !analysis.isLane(node.loops[read->loop]))
    return failed(op, "reads no row of an operand");
  Expr row = evaluateScalar(read->row, node);
  if (row.lane)
    return failed(op, "the row of a table varies over lanes");
  unsigned operand = read->table.getArgNumber();
  ArrayRef<int64_t> strides = analysis.layout(operand).getStrides();
  std::string place = rowVariable("at", product("int64_t{" + row.text + "}", strides[0]));
  return loadAt(operand, {place, analysis.hasLanes() ? strides[1] : 0, /*variesByRow=*/true});
}

/// Returns the index along a dim of the space, as a number.
Expr KernelWriter::indexOf(int64_t dim) {
  if (analysis.isLane(dim)) {
    if (!analysis.hasLanes())
      return {"0", Kind::I32};
    return define(Kind::I32, false, true, "lane_index" + emitter.words.lanes.str() + "(l)");
  }
  SmallVector<int64_t> strides(analysis.rowSizes.size(), 0);
  strides[dim] = 1;
  if (analysis.rowSizes[dim] == 1)
    return {"0", Kind::I32};
  std::string index = rowOffset(strides, analysis.rowSizes, "r");
  return define(Kind::I32, true, false, "static_cast<int32_t>(" + index + ")");
}

Expr KernelWriter::randomUniform(exec::RandomUniformOp op, const Node &node) {
  auto key = dyn_cast<BlockArgument>(op.getKey());
  if (!key || key.getOwner() != &analysis.kernel.getBody().front())
    return failed(op, "the key is not an operand of the kernel");
  SmallVector<int64_t> strides(analysis.rowSizes.size(), 0);
  int64_t laneStride = 0;
  for (auto [index, stride] : llvm::zip(op.getIndices(), op.getStrides())) {
    auto definition = index.getDefiningOp<linalg::IndexOp>();
    if (!definition)
      return failed(op, "an index is not a linalg.index of the generic");
    int64_t dim = node.loops[definition.getDim()];
    (analysis.isLane(dim) ? laneStride : strides[dim]) += stride;
  }

  // The offsets of a block must be equal in the whole space.

  std::string start;
  for (auto [offset, step] : llvm::zip(op.getOffsets(), op.getSteps())) {
    Expr value = evaluateScalar(offset, node);
    if (value.row || value.lane)
      return failed(op, "an offset varies over the space");
    start += " + static_cast<uint64_t>(" + value.text + ") * " + std::to_string(step) + "ull";
  }

  const std::string &pointer = pointers[key.getArgNumber()];
  std::string offset = rowOffset(strides, analysis.rowSizes, "r"), base = fresh("e");
  bool row = !offset.empty(), lane = laneStride != 0 && analysis.hasLanes();
  // All microbatches of a step draw from one sequence.
  lines[levelOf(row, false)].push_back("uint64_t " + base + " = static_cast<uint32_t>(" + emitter.element(pointer, 3) +
                                       ") * " + std::to_string(op.getCount()) + "ull" + start +
                                       (row ? " + " + offset : "") + ";");
  std::string stream = ", " + pointer + ", " + std::to_string(op.getStream()) + "u)";
  if (!lane)
    return define(Kind::F32, row, false, "philox_uniform(" + base + stream);
  std::string index = indexOf(analysis.laneDim()).text;
  if (laneStride != 1)
    index += " * " + std::to_string(laneStride);
  return define(Kind::F32, row, true, "philox_uniform(" + base + ", " + index + stream);
}
