//===- KernelPrinter.cpp - one kernel as a C++ function -------------------===//
//
// Text grows on three levels: the function, the outer loop's body, the inner
// loop's body.  A value is printed on the outermost level on which it does not
// vary, the first time something asks for it, so loop-invariant code is hoisted
// without a pass that looks for it.  Rows are the outer loop and lanes the inner
// one, except with Partition::Lanes.
//
//===----------------------------------------------------------------------===//

#include "lib/Codegen/KernelPrinter.h"
#include "lib/Codegen/CppText.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/ScopedPrinter.h"

using namespace mlir;
using namespace braid;
using namespace braid::codegen;

namespace {

class KernelPrinter {
public:
  KernelPrinter(const KernelAnalysis &analysis, const llvm::SmallBitVector &aliased, const Flavour &flavour)
      : analysis(analysis), aliased(aliased), flavour(flavour) {}

  FailureOr<std::string> print();

private:
  // The loops.
  void printRowsOutside();
  void printPhase(unsigned phase);
  void printLanesOutside();
  void closeLevel(unsigned level, StringRef header, StringRef footer = "}");
  void closeLaneLoop(unsigned level, bool ofBlock);

  // Reductions and results.
  std::string declareAccumulator(const Node &node);
  void accumulate(const Node &node);
  void storeAccumulator(const Output &output);
  void storeOutput(const Output &output, unsigned level);
  std::string storeText(const Output &output, const Expr &value, StringRef row);

  // Values.
  Expr evaluate(Value tensor, const Dims &dims);
  Expr evaluateScalar(Value scalar, const Node &node);
  Expr load(BlockArgument argument, const Dims &dims);
  Expr indexOf(int64_t dim);
  Expr randomUniform(exec::RandomUniformOp op, const Node &node);
  Expr literal(Attribute value, Type type);
  Expr define(Kind kind, bool row, bool lane, std::string text);
  Expr failed(Operation *op, const Twine &message);

  // Where an element is.
  struct Place {
    std::string row;        // offset of the row, "" for none
    int64_t laneStride = 0; // 0: the same for all lanes
    bool variesByRow = false;
  };
  Place placeOf(unsigned operand, const Dims &dims);
  int64_t laneStride(unsigned operand, const Dims &dims) const;
  std::string rowOffset(ArrayRef<int64_t> strides, ArrayRef<int64_t> sizes, StringRef index);
  std::string offsetVariable(StringRef prefix, StringRef text, StringRef index);
  std::string rowIndex(int64_t inner, int64_t size, bool outermost, StringRef index);
  std::string product(StringRef index, int64_t stride) const;
  std::string address(unsigned operand, const Place &place, bool lanes) const;

  bool lanesOutside() const { return analysis.partition == Partition::Lanes; }
  /// The level on which a value that varies so is computed.
  unsigned levelOf(bool row, bool lane) const {
    bool outer = lanesOutside() ? lane : row, inner = lanesOutside() ? row : lane;
    return inner ? 2 : outer ? 1 : 0;
  }
  /// ", n" in loops that may have a part of their lanes left.
  StringRef count() const { return analysis.wholeLanes() ? "" : ", n"; }
  std::string fresh(StringRef prefix) { return prefix.str() + std::to_string(numbers[prefix]++); }
  Value argument(unsigned operand) const { return analysis.kernel.getBody().getArgument(operand); }

  std::string signature();
  std::string headComment();

  const KernelAnalysis &analysis;
  const llvm::SmallBitVector &aliased;
  const Flavour &flavour;

  SmallVector<std::string> pointers; // ins, then outs
  SmallVector<std::string> lines[3];
  llvm::DenseMap<Value, Expr> values[3];
  /// Variables by what they hold.
  llvm::StringMap<Expr> defined[3];
  llvm::DenseMap<Operation *, std::string> accumulators, keptArrays;
  llvm::StringMap<unsigned> numbers;
  bool hasFailed = false;
};

} // namespace

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

Expr KernelPrinter::failed(Operation *op, const Twine &message) {
  if (!hasFailed)
    op->emitError() << "kernel '" << analysis.kernel.getSymName() << "': " << message;
  hasFailed = true;
  return {"0", Kind::I32};
}

/// A variable that holds `text`.  Variables never change, so equal texts on a level
/// are one value: fused kernels compute what they share once.
Expr KernelPrinter::define(Kind kind, bool row, bool lane, std::string text) {
  unsigned level = levelOf(row, lane);
  auto [it, isNew] = defined[level].try_emplace(text);
  if (isNew) {
    it->second = {fresh("t"), kind, row, lane};
    lines[level].push_back((registerType(kind, lane) + " " + it->second.text + " = " + text + ";").str());
  }
  return it->second;
}

Expr KernelPrinter::literal(Attribute value, Type type) {
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
  return failed(analysis.kernel, "constants of type " + llvm::to_string(type) + " are not supported by the cpu target");
}

/// The value of a tensor at the current row and lane.
Expr KernelPrinter::evaluate(Value tensor, const Dims &dims) {
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
    return values[2][tensor] = define(Kind::F32, true, true, kept->second + "[l / W]");

  Expr value = evaluateScalar(node->op.getBody()->getTerminator()->getOperand(0), *node);
  if (node->kept && value.lane) {
    std::string &array = keptArrays[op] = fresh("kept");
    lines[0].push_back("V " + array + "[(L + W - 1) / W];");
    lines[2].push_back(array + "[l / W] = " + value.text + ";");
  }
  return values[levelOf(value.row, value.lane)][tensor] = value;
}

/// A value of the scalar body of `node`.
Expr KernelPrinter::evaluateScalar(Value scalar, const Node &node) {
  if (auto argument = dyn_cast<BlockArgument>(scalar)) {
    // The old value of what was a reduction over one element is its init.
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

  SmallVector<Expr> operands;
  for (Value operand : op->getOperands())
    operands.push_back(evaluateScalar(operand, node));
  std::string text = op->getNumResults() == 1 ? printScalarOp(op, operands) : "";
  std::optional<Kind> kind = kindOf(scalar.getType());
  if (text.empty() || !kind)
    return failed(op, "'" + op->getName().getStringRef() + "' giving " + llvm::to_string(scalar.getType()) +
                          " is not supported by the cpu target");
  bool row = llvm::any_of(operands, [](const Expr &x) { return x.row; });
  bool lane = llvm::any_of(operands, [](const Expr &x) { return x.lane; });
  if (registerType(*kind, lane).empty())
    return failed(op, "64-bit integers over lanes are not supported by the cpu target");
  Expr value = !operands.empty() && text == operands[0].text ? Expr{text, *kind, row, lane}
                                                             : define(*kind, row, lane, text);
  return values[levelOf(row, lane)][scalar] = value;
}

Expr KernelPrinter::load(BlockArgument argument, const Dims &dims) {
  unsigned operand = argument.getArgNumber();
  Place place = placeOf(operand, dims);
  bool lane = place.laneStride != 0;
  std::optional<Kind> kind = kindOf(analysis.layout(operand).getElementType());
  if (registerType(*kind, lane).empty())
    return failed(analysis.kernel, "64-bit integers over lanes are not supported by the cpu target");

  std::string text = address(operand, place, lane);
  if (!lane)
    text = "ld1(" + text + ")";
  else if (place.laneStride == 1)
    text = "ld(" + text + count().str() + ")";
  else
    text = "ld_strided(" + text + ", " + std::to_string(place.laneStride) + count().str() + ")";
  return define(*kind, place.variesByRow, lane, text);
}

/// The index along a dim of the space, as a number.
Expr KernelPrinter::indexOf(int64_t dim) {
  if (analysis.isLane(dim)) {
    if (!analysis.hasLanes())
      return {"0", Kind::I32};
    return define(Kind::I32, false, true, "lane_index(l)");
  }
  SmallVector<int64_t> strides(analysis.rowSizes.size(), 0);
  strides[dim] = 1;
  if (analysis.rowSizes[dim] == 1)
    return {"0", Kind::I32};
  std::string index = rowOffset(strides, analysis.rowSizes, "r");
  return define(Kind::I32, true, false, "static_cast<int32_t>(" + index + ")");
}

Expr KernelPrinter::randomUniform(exec::RandomUniformOp op, const Node &node) {
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

  const std::string &pointer = pointers[key.getArgNumber()];
  std::string offset = rowOffset(strides, analysis.rowSizes, "r"), base = fresh("e");
  bool row = !offset.empty(), lane = laneStride != 0 && analysis.hasLanes();
  // The microbatches of a step draw from one sequence.
  lines[levelOf(row, false)].push_back("uint64_t " + base + " = static_cast<uint32_t>(" + pointer + "[3]) * " +
                                       std::to_string(op.getCount()) + "ull" + (row ? " + " + offset : "") + ";");
  std::string stream = ", " + pointer + ", " + std::to_string(op.getStream()) + "u)";
  if (!lane)
    return define(Kind::F32, row, false, "philox_uniform(" + base + stream);
  std::string index = indexOf(analysis.laneDim()).text;
  if (laneStride != 1)
    index += " * " + std::to_string(laneStride);
  return define(Kind::F32, row, true, "philox_uniform(" + base + ", " + index + stream);
}

//===----------------------------------------------------------------------===//
// Where an element is
//===----------------------------------------------------------------------===//

std::string KernelPrinter::product(StringRef index, int64_t stride) const {
  if (stride == 1)
    return index.str();
  bool named = stride == analysis.lanes && !lanesOutside();
  return (index + " * " + (named ? "L" : std::to_string(stride))).str();
}

/// `index / inner % size` as a variable of the row.
std::string KernelPrinter::rowIndex(int64_t inner, int64_t size, bool outermost, StringRef index) {
  if (inner == 1 && outermost)
    return index.str();
  std::string text = index.str();
  if (inner != 1)
    text += " / " + std::to_string(inner);
  if (!outermost)
    text += " % " + std::to_string(size);
  return offsetVariable("i", text, index);
}

/// A variable for an offset that `index`, of the row or of the block, determines.
std::string KernelPrinter::offsetVariable(StringRef prefix, StringRef text, StringRef index) {
  unsigned level = index == "r" ? levelOf(true, false) : 0;
  auto [it, isNew] = defined[level].try_emplace(text);
  if (isNew) {
    it->second = {fresh(prefix), Kind::I64, true, false};
    lines[level].push_back("int64_t " + it->second.text + " = " + text.str() + ";");
  }
  return it->second.text;
}

/// Σ index_d * strides[d], where `index` counts through dims of these sizes.  Dims
/// that lie behind each other in memory are taken as one.
std::string KernelPrinter::rowOffset(ArrayRef<int64_t> strides, ArrayRef<int64_t> sizes, StringRef index) {
  struct Group {
    int64_t inner, size, stride;
  };
  SmallVector<Group> groups;
  int64_t inner = 1;
  for (int64_t dim = static_cast<int64_t>(sizes.size()) - 1; dim >= 0; --dim) {
    if (sizes[dim] == 1)
      continue;
    if (!groups.empty() && strides[dim] == groups.back().stride * groups.back().size)
      groups.back().size *= sizes[dim];
    else
      groups.push_back({inner, sizes[dim], strides[dim]});
    inner *= sizes[dim];
  }

  SmallVector<std::string> terms;
  for (const Group &group : llvm::reverse(groups))
    if (group.stride != 0)
      terms.push_back(
          product(rowIndex(group.inner, group.size, group.inner * group.size == inner, index), group.stride));
  if (terms.size() <= 1)
    return terms.empty() ? "" : terms.front();

  return offsetVariable("at", llvm::join(terms, " + "), index);
}

/// Elements from lane to lane; 0 where all lanes read the same one.
int64_t KernelPrinter::laneStride(unsigned operand, const Dims &dims) const {
  if (!analysis.hasLane(dims))
    return 0;
  if (analysis.flat)
    return 1; // the layout stands for a vector of any length
  int64_t stride = 0;
  for (auto [dim, s] : llvm::zip(dims, analysis.layout(operand).getStrides()))
    stride += analysis.isLane(dim) ? s : 0;
  return stride;
}

KernelPrinter::Place KernelPrinter::placeOf(unsigned operand, const Dims &dims) {
  SmallVector<int64_t> strides(analysis.rowSizes.size(), 0);
  for (auto [dim, stride] : llvm::zip(dims, analysis.layout(operand).getStrides()))
    if (dim != kNoDim && !analysis.isLane(dim))
      strides[dim] += stride;
  std::string row = rowOffset(strides, analysis.rowSizes, "r");
  return {row, laneStride(operand, dims), !row.empty()};
}

std::string KernelPrinter::address(unsigned operand, const Place &place, bool lanes) const {
  std::string text = pointers[operand];
  if (!place.row.empty())
    text += " + " + place.row;
  if (lanes)
    text += " + " + product("l", place.laneStride);
  return text;
}

//===----------------------------------------------------------------------===//
// Reductions and results
//===----------------------------------------------------------------------===//

static StringRef identityText(Combine combine, Kind kind) {
  if (combine == Combine::Sum)
    return kind == Kind::F32 ? "0.0f" : "0";
  return kind == Kind::F32 ? "-INFINITY" : "INT32_MIN";
}

/// `a (combine)= b` as a statement.
static std::string combineText(Combine combine, StringRef a, StringRef b) {
  if (combine == Combine::Sum)
    return (a + " += " + b + ";").str();
  return (a + " = maximum(" + a + ", " + b + ");").str();
}

/// The variable or array that holds a reduction, with its first value.
std::string KernelPrinter::declareAccumulator(const Node &node) {
  std::optional<Kind> kind = kindOf(getElementTypeOrSelf(node.result()));
  bool lane = analysis.hasLanes() && (node.reducesLanes || analysis.hasLane(node.resultDims()));
  if (!kind || registerType(*kind, lane).empty()) {
    failed(node.op, "a reduction of " + llvm::to_string(node.result().getType()) + " is not supported by the cpu target");
    return "";
  }
  Expr init = node.reducesLanes ? Expr{identityText(node.combine, *kind).str(), *kind}
                                : evaluate(node.op.getDpsInits()[0], {});
  std::string name = accumulators[node.op] = fresh(node.combine == Combine::Sum ? "sum" : "max");
  std::string type = registerType(*kind, lane).str();
  bool isArray = node.reducesRows && lane && !lanesOutside();
  bool zero = init.text == "0.0f" || init.text == "0";
  if (!isArray)
    return type + " " + name + " = " + (lane ? init.asLane() : init.text) + ";";
  std::string text = type + " " + name + "[(L + W - 1) / W]" + (zero ? " = {};" : ";");
  return zero ? text : text + "\nfor (" + type + " &v : " + name + ")\n  v = " + init.asLane() + ";";
}

/// Adds the current row and lane to a reduction.
void KernelPrinter::accumulate(const Node &node) {
  Expr value = evaluateScalar(node.contribution(), node);
  std::string name = accumulators[node.op];
  if (node.reducesLanes && !analysis.hasLanes()) {
    lines[1].push_back(combineText(node.combine, name, value.text));
    return;
  }
  if (node.reducesLanes) {
    StringRef identity = identityText(node.combine, value.kind);
    std::string text = value.asLane();
    if (!analysis.wholeLanes())
      text = "keep(" + text + ", n, " + identity.str() + ")";
    lines[2].push_back(combineText(node.combine, name, text));
    return;
  }
  bool lane = analysis.hasLane(node.resultDims());
  if (lane && !lanesOutside())
    name += "[l / W]";
  lines[lane ? 2 : 1].push_back(combineText(node.combine, name, lane ? value.asLane() : value.text));
}

/// Stores `value`; `row` is the text of the row's offset.
std::string KernelPrinter::storeText(const Output &output, const Expr &value, StringRef row) {
  unsigned operand = analysis.numIns() + output.number;
  Place place{row.str(), laneStride(operand, output.dims), !row.empty()};
  if (!analysis.hasLane(output.dims))
    return "st1(" + address(operand, place, false) + ", " + value.text + ");";
  std::string to = address(operand, place, true);
  if (place.laneStride == 1)
    return "st(" + to + ", " + value.asLane() + count().str() + ");";
  return "st_strided(" + to + ", " + std::to_string(place.laneStride) + ", " + value.asLane() + count().str() + ");";
}

void KernelPrinter::storeOutput(const Output &output, unsigned level) {
  Expr value = evaluate(output.node->result(), output.dims);
  std::string text = storeText(output, value, placeOf(analysis.numIns() + output.number, output.dims).row);

  // A result without some row dim is the same in all its rows: the first one writes.
  SmallVector<std::string> guards;
  int64_t inner = 1, rows = analysis.rows;
  for (int64_t dim = static_cast<int64_t>(analysis.rowSizes.size()) - 1; dim >= 0; --dim) {
    int64_t size = analysis.rowSizes[dim];
    if (size != 1 && !lanesOutside() && !llvm::is_contained(output.dims, dim))
      guards.push_back(rowIndex(inner, size, inner * size == rows, "r") + " == 0");
    inner *= size;
  }
  if (!guards.empty())
    text = "if (" + llvm::join(guards, " && ") + ")\n  " + text;
  lines[level].push_back(text);
}

/// Stores a reduction over rows, after the row loop.
void KernelPrinter::storeAccumulator(const Output &output) {
  unsigned operand = analysis.numIns() + output.number;
  Kind kind = *kindOf(analysis.layout(operand).getElementType());
  const std::string &name = accumulators[output.node->op];
  bool lane = analysis.hasLane(output.dims);
  SmallVector<int64_t> strides(analysis.blockDims, 0);
  for (auto [dim, stride] : llvm::zip(output.dims, analysis.layout(operand).getStrides()))
    if (!analysis.isLane(dim) && dim != kNoDim)
      strides[dim] += stride;
  std::string row = rowOffset(strides, ArrayRef(analysis.rowSizes).take_front(analysis.blockDims), "block.id");
  if (!lane) {
    lines[0].push_back(storeText(output, {name, kind, true, false}, row));
    return;
  }
  Expr value{name + (lanesOutside() ? "" : "[l / W]"), kind, true, true};
  lines[1].push_back(storeText(output, value, row));
}

//===----------------------------------------------------------------------===//
// Loops
//===----------------------------------------------------------------------===//

/// Appends the lines of a level, in a loop, to those of the level around it.
void KernelPrinter::closeLevel(unsigned level, StringRef header, StringRef footer) {
  SmallVector<std::string> body = std::move(lines[level]);
  lines[level].clear();
  values[level].clear();
  defined[level].clear();
  if (body.empty())
    return;
  SmallVector<std::string> &outer = lines[level - 1];
  if (header.empty()) {
    llvm::append_range(outer, body);
    return;
  }
  outer.push_back(header.str());
  for (StringRef text : body) {
    SmallVector<StringRef> parts;
    text.split(parts, '\n');
    for (StringRef part : parts)
      outer.push_back("  " + part.str());
  }
  outer.push_back(footer.str());
}

void KernelPrinter::closeLaneLoop(unsigned level, bool ofBlock) {
  if (analysis.wholeLanes())
    closeLevel(level, ofBlock ? flavour.blockLaneLoop : flavour.laneLoop);
  else
    closeLevel(level, ofBlock ? flavour.blockLaneLoopTail : flavour.laneLoopTail, flavour.laneLoopTailEnd);
}

void KernelPrinter::printPhase(unsigned phase) {
  SmallVector<const Node *> laneReductions;
  SmallVector<std::string> declarations;
  for (auto &[op, node] : analysis.nodes) {
    if (!node.reduces() || node.phase != phase)
      continue;
    if (node.reducesLanes) {
      (analysis.hasLanes() ? declarations : lines[1]).push_back(declareAccumulator(node));
      laneReductions.push_back(&node);
    }
    accumulate(node);
  }
  // All loads of a lane come before its stores: an out may be an operand.
  SmallVector<const Output *> stores;
  for (const Output &output : analysis.outputs) {
    if (output.node->reducesRows || output.phase != phase)
      continue;
    evaluate(output.node->result(), output.dims);
    stores.push_back(&output);
  }
  for (const Output *output : stores)
    storeOutput(*output, analysis.hasLane(output->dims) ? 2 : 1);
  llvm::append_range(lines[1], declarations);
  closeLaneLoop(2, /*ofBlock=*/false);

  for (const Node *node : laneReductions) {
    Kind kind = *kindOf(getElementTypeOrSelf(node->result()));
    StringRef reduce = node->combine == Combine::Sum ? "row_sum(" : "row_max(";
    std::string text = accumulators[node->op];
    if (analysis.hasLanes())
      text = reduce.str() + text + ")";
    Expr init = evaluate(node->op.getDpsInits()[0], {});
    if (init.text != identityText(node->combine, kind))
      text = node->combine == Combine::Sum ? text + " + " + init.text : "maximum(" + text + ", " + init.text + ")";
    values[1][node->result()] = define(kind, true, false, text);
  }
}

void KernelPrinter::printRowsOutside() {
  for (auto &[op, node] : analysis.nodes)
    if (node.reducesRows)
      lines[0].push_back(declareAccumulator(node));
  for (unsigned phase = 0; phase < analysis.phases && !hasFailed; ++phase)
    printPhase(phase);
  closeLevel(1, analysis.rows == 1 ? StringRef() : StringRef(flavour.rowLoop));
  for (const Output &output : analysis.outputs)
    if (output.node->reducesRows)
      storeAccumulator(output);
  // The lane loop of accumulators, which stands beside the row loop.
  closeLaneLoop(1, /*ofBlock=*/false);
}

void KernelPrinter::printLanesOutside() {
  for (auto &[op, node] : analysis.nodes)
    if (node.reducesRows)
      lines[1].push_back(declareAccumulator(node));
  for (auto &[op, node] : analysis.nodes)
    if (node.reducesRows)
      accumulate(node);
  SmallVector<const Output *> stores;
  for (const Output &output : analysis.outputs)
    if (!output.node->reducesRows) {
      evaluate(output.node->result(), output.dims);
      stores.push_back(&output);
    }
  for (const Output *output : stores)
    storeOutput(*output, levelOf(llvm::any_of(output->dims, [&](int64_t dim) { return !analysis.isLane(dim) && dim != kNoDim; }), true));
  closeLevel(2, analysis.rows == 1 ? std::string() : "for (int64_t r = 0; r < " + std::to_string(analysis.rows) + "; ++r) {");
  for (const Output &output : analysis.outputs)
    if (output.node->reducesRows)
      storeAccumulator(output);
  closeLaneLoop(1, /*ofBlock=*/true);
}

//===----------------------------------------------------------------------===//
// The function
//===----------------------------------------------------------------------===//

std::string codegen::kernelFunction(StringRef symbol) { return identifier(symbol) + "_kernel"; }

std::string KernelPrinter::headComment() {
  std::string text = analysis.kernel.getSymName().str() + ": ";
  if (analysis.flat)
    text += "vectors of any length";
  else if (analysis.rows * analysis.lanes == 1)
    text += "one value";
  else if (analysis.rowSizes.empty())
    text += std::to_string(analysis.lanes) + " lanes";
  else
    text += shapeText(analysis.rowSizes) + " rows of " + std::to_string(analysis.lanes) + " lanes";
  if (analysis.partition == Partition::Blocks)
    text += ", " + std::to_string(analysis.blocks()) + " blocks";
  std::string origin = originText(analysis.kernel.getLoc());
  if (!origin.empty())
    text += "; from " + origin;
  return comment(text);
}

std::string KernelPrinter::signature() {
  SmallVector<std::string> parameters{std::string(flavour.blockParameter)};
  unsigned numIns = analysis.numIns();
  for (unsigned i = 0; i < analysis.kernel.getLayouts().size(); ++i) {
    bool isOut = i >= numIns;
    const Output *output = isOut ? &analysis.outputs[i - numIns] : nullptr;
    if (isOut && output->tied >= 0)
      continue;
    bool written = isOut || llvm::any_of(analysis.outputs, [&](const Output &o) { return o.tied == i; });
    std::string type = memoryType(analysis.layout(i).getElementType()).str();
    parameters.push_back((written ? "" : "const ") + type + (aliased[i] ? " *" : " *__restrict ") + pointers[i]);
  }
  return wrapCall(std::string(flavour.kernelPrefix) + kernelFunction(analysis.kernel.getSymName()), parameters, " {");
}

/// Whether `text` has the identifier `name` in it.
static bool mentions(StringRef text, StringRef name) {
  auto isWord = [](char c) { return llvm::isAlnum(c) || c == '_'; };
  for (size_t at = text.find(name); at != StringRef::npos; at = text.find(name, at + 1)) {
    size_t end = at + name.size();
    if ((at == 0 || !isWord(text[at - 1])) && (end == text.size() || !isWord(text[end])))
      return true;
  }
  return false;
}

FailureOr<std::string> KernelPrinter::print() {
  unsigned numIns = analysis.numIns();
  for (unsigned i = 0; i < numIns; ++i)
    pointers.push_back("a" + std::to_string(i));
  for (const Output &output : analysis.outputs)
    pointers.push_back("o" + std::to_string(output.number));
  for (const Output &output : analysis.outputs)
    if (output.tied >= 0)
      pointers[output.tied] = pointers[numIns + output.number] = "io" + std::to_string(output.number);

  if (lanesOutside())
    printLanesOutside();
  else
    printRowsOutside();
  if (hasFailed)
    return failure();

  std::string body;
  if (llvm::any_of(lines[0], [](StringRef line) { return mentions(line, "L"); }))
    body = "  constexpr int64_t L = " + std::to_string(analysis.lanes) + ";\n";
  for (StringRef text : lines[0]) {
    SmallVector<StringRef> parts;
    text.split(parts, '\n');
    for (StringRef part : parts)
      body += "  " + part.str() + "\n";
  }
  std::string head = signature();
  // Kernels of one row, or one value, do not ask for the block.
  if (!mentions(body, "block")) {
    StringRef parameter = flavour.blockParameter;
    head.replace(head.find(parameter), parameter.size(), parameter.split(' ').first);
  }
  return headComment() + head + "\n" + body + "}\n";
}

FailureOr<std::string> codegen::printKernel(const KernelAnalysis &analysis, const llvm::SmallBitVector &aliased,
                                            const Flavour &flavour) {
  return KernelPrinter(analysis, aliased, flavour).print();
}
