//===- KernelLoops.cpp - the loops of a kernel ---------------------------===//

#include "compiler/Codegen/KernelWriter.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/ScopedPrinter.h"

using namespace mlir;
using namespace braid;
using namespace braid::codegen;

//===----------------------------------------------------------------------===//
// Reductions and results
//===----------------------------------------------------------------------===//

static StringRef identityText(codegen::Combine combine, Kind kind) {
  if (combine == codegen::Combine::Sum)
    return kind == Kind::F32 ? "0.0f" : "0";
  return kind == Kind::F32 ? "-INFINITY" : "INT32_MIN";
}

/// Returns `a (combine)= b` as a statement.
static std::string combineText(codegen::Combine combine, StringRef a, StringRef b) {
  if (combine == codegen::Combine::Sum)
    return (a + " += " + b + ";").str();
  return (a + " = maximum(" + a + ", " + b + ");").str();
}

/// Returns the variables of a long sum: the recent terms, and the total before them.
static std::string longSum(StringRef name) {
  return (name + ", total" + name.drop_front(StringRef("sum").size())).str();
}

/// Returns the declaration of the variable or array that holds a reduction, with its initial value.
std::string KernelWriter::declareAccumulator(const Node &node) {
  std::optional<Kind> kind = kindOf(getElementTypeOrSelf(node.result()));
  bool lane = analysis.hasLanes() && (node.reducesLanes || analysis.hasLane(node.resultDims()));
  if (node.online) {
    std::string name = fresh("exps");
    accumulators[node.op] = accumulators[node.online] = name;
    return "Exponentials" + emitter.words.lanes.str() + " " + name + ";";
  }
  if (!kind || registerType(*kind, lane).empty()) {
    failed(node.op, unsupported("a reduction of " + llvm::to_string(node.result().getType()) + " is"));
    return "";
  }
  Expr init =
      node.reducesLanes ? Expr{identityText(node.combine, *kind).str(), *kind} : evaluate(node.op.getDpsInits()[0], {});
  std::string &name = accumulators[node.op];
  if (name.empty())
    name = fresh(node.combine == codegen::Combine::Sum ? "sum" : "max");
  std::string type = registerType(*kind, lane).str();
  bool isArray = node.reducesRows && lane && !lanesOutside();
  std::string length = isArray ? "[" + emitter.words.turns.str() + "]" : "";
  bool zero = init.text == "0.0f" || init.text == "0";
  std::string first = lane ? init.asLane(emitter.words.lanes) : init.text;
  std::string text = type + " " + name;
  if (!isArray || zero)
    text += isArray ? length + " = {};" : " = " + first + ";";
  else
    text += length + ";\nfor (" + type + " &v : " + name + ")\n  v = " + first + ";";
  if (analysis.isLongSum(node))
    text += "\nTotal<" + type + ">" + longSum(name).substr(name.size() + 1) + length + " = {};";
  return text;
}

/// Prints, every few iterations of a long sum's loop, a statement that adds its recent terms to its total.
void KernelWriter::carry(const Node &node, StringRef condition, SmallVector<std::string> &to) {
  if (analysis.isLongSum(node))
    to.push_back(("if (" + condition + ")\n  carry(" + longSum(accumulators[node.op]) + ");").str());
}

/// Prints, after the loop of a long sum, a statement that sets it to its total.
void KernelWriter::completeAccumulators(const Node &node, SmallVector<std::string> &to) {
  if (analysis.isLongSum(node))
    to.push_back("settle(" + longSum(accumulators[node.op]) + ");");
}

/// Adds the current row and lane to a reduction.
void KernelWriter::accumulate(const Node &node) {
  Expr value = evaluateScalar(node.contribution(), node);
  std::string name = accumulators[node.op];
  if (node.reducesLanes && !analysis.hasLanes()) {
    lines[1].push_back(combineText(node.combine, name, value.text));
    return;
  }
  if (node.reducesLanes) {
    StringRef identity = identityText(node.combine, value.kind);
    std::string text = value.asLane(emitter.words.lanes);
    if (!emitter.wholeLanes(form))
      text = "keep(" + text + ", n, " + identity.str() + ")";
    lines[2].push_back(node.online ? name + ".add(" + text + ");" : combineText(node.combine, name, text));
    carry(node, emitter.words.sixteenthTurn, lines[2]);
    return;
  }
  bool lane = analysis.hasLane(node.resultDims());
  if (lane && !lanesOutside())
    name += turnIndex();
  lines[lane ? 2 : 1].push_back(combineText(node.combine, name, lane ? value.asLane(emitter.words.lanes) : value.text));
}

/// Prints a sum that is one lane of an operand.
void KernelWriter::printPickedLane(const Node &node) {
  unsigned operand = node.picked->operand.getArgNumber();
  Expr lane = evaluateScalar(node.picked->index.value, analysis.nodes.find(node.picked->index.generic)->second);
  Place place = placeOf(operand, node.picked->dims);
  std::string text = "ld_lane(" + address(operand, place, false) + ", " + lane.text + ", L";
  text += (place.laneStride == 1 ? "" : ", " + std::to_string(place.laneStride)) + ")";
  Expr init = evaluate(node.op.getDpsInits()[0], {});
  if (init.text != identityText(node.combine, Kind::F32))
    text += " + " + init.text;
  values[1][node.result()] = define(Kind::F32, true, false, text);
}

/// Returns the statement that stores `value`; `row` is the text of the row's offset.
std::string KernelWriter::storeText(const Output &output, const Expr &value, StringRef row) {
  unsigned operand = analysis.numIns() + output.number;
  Place place{row.str(), laneStride(operand, output.dims), !row.empty()};
  if (!analysis.hasLane(output.dims))
    return "st1(" + address(operand, place, false) + ", " + value.text + ");";
  std::string to = address(operand, place, true), lanes = value.asLane(emitter.words.lanes) + count().str();
  if (place.laneStride == 1 && emitter.accessesAsVector(form, operand))
    return (analysis.isStreamed(output) ? "st_streamed(" : "st(") + to + ", " + lanes + ");";
  return "st_strided(" + to + ", " + std::to_string(place.laneStride) + ", " + lanes + ");";
}

void KernelWriter::storeOutput(const Output &output, unsigned level) {
  Expr value = evaluateStored(output);
  std::string text = storeText(output, value, placeOf(analysis.numIns() + output.number, output.dims).row);

  // The value of a row is stored once. If a result lacks a row dim, its value is equal in all rows along this dim, and
  // the first row stores it.
  SmallVector<std::string> guards;
  if (!analysis.hasLane(output.dims)) {
    if (std::string guard = emitter.storesRow(form); !guard.empty())
      guards.push_back(guard);
    if (std::string wait = emitter.barrierBeforeTiedStore(form); output.tied >= 0 && !wait.empty())
      lines[level].push_back(wait);
  }
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

/// Stores a reduction over the rows of block number `block`, after the row loop.
void KernelWriter::storeAccumulator(const Output &output, StringRef block) {
  unsigned operand = analysis.numIns() + output.number;
  Kind kind = *kindOf(analysis.layout(operand).getElementType());
  const std::string &name = accumulators[output.node->op];
  bool lane = analysis.hasLane(output.dims);
  SmallVector<int64_t> strides(analysis.blockDims, 0);
  for (auto [dim, stride] : llvm::zip(output.dims, analysis.layout(operand).getStrides()))
    if (!analysis.isLane(dim) && dim != kNoDim)
      strides[dim] += stride;
  std::string row = rowOffset(strides, ArrayRef(analysis.rowSizes).take_front(analysis.blockDims), block);
  std::string guard = emitter.storesSum(form, lane);
  if (!guard.empty())
    guard = "if (" + guard + ")\n  ";
  if (!lane) {
    if (std::string wait = emitter.barrierBeforeTiedStore(form); output.tied >= 0 && !wait.empty())
      lines[0].push_back(wait);
    lines[0].push_back(guard + storeText(output, {name, kind, true, false}, row));
    return;
  }
  Expr value{name + (lanesOutside() ? "" : turnIndex()), kind, true, true};
  lines[1].push_back(guard + storeText(output, value, row));
}

/// Prints the end of a row: carries the long sums over rows.
void KernelWriter::carryRows(SmallVector<std::string> &to) {
  for (auto &[op, node] : analysis.nodes)
    if (node.reducesRows)
      carry(node, emitter.words.sixteenthRow, to);
}

/// Completes sums over rows after the row loop, because they may be spread over several threads.
void KernelWriter::completeSums(SmallVector<std::string> &to) {
  for (auto &[op, node] : analysis.nodes)
    if (node.reducesRows)
      completeAccumulators(node, to);
  for (auto &[op, node] : analysis.nodes)
    if (node.reducesRows)
      if (std::string text = emitter.completeSum(form, node.combine, accumulators[node.op]); !text.empty())
        to.push_back(text);
}

//===----------------------------------------------------------------------===//
// Loops
//===----------------------------------------------------------------------===//

/// Appends the lines of a level, inside its loop, to the lines of the enclosing level.
void KernelWriter::closeLevel(unsigned level, const LoopText &loop) {
  SmallVector<std::string> body = std::move(lines[level]);
  lines[level].clear();
  values[level].clear();
  defined[level].clear();
  if (body.empty())
    return;
  SmallVector<std::string> &outer = lines[level - 1];
  if (loop.header.empty()) {
    llvm::append_range(outer, body);
    return;
  }
  outer.push_back(loop.header);
  for (StringRef text : body) {
    SmallVector<StringRef> parts;
    text.split(parts, '\n');
    for (StringRef part : parts)
      outer.push_back((part.starts_with("#") ? "" : "  ") + part.str());
  }
  outer.push_back(loop.footer);
}

void KernelWriter::closeLaneLoop(unsigned level, bool ofBlock) {
  llvm::append_range(loads[level], lines[level]);
  lines[level] = std::move(loads[level]);
  loads[level].clear();
  closeLevel(level, emitter.laneLoop(form, ofBlock, lines[level]));
}

/// Prefetches the operands that all phases of the next row read. Without a next row, prefetches the operands that a
/// later phase is the first to read, so that this phase does not wait for memory again.
void KernelWriter::prefetchReads() {
  std::string next = emitter.nextRow(form);
  for (const auto &[operand, read] : known) {
    if (next.empty() && read.phase == 0)
      continue;
    Place place = placeOf(operand, read.dims, next.empty() ? "r" : rowVariable("next", next));
    if (std::string text = emitter.prefetch(form, address(operand, place, true)); !text.empty())
      loads[2].push_back(text);
  }
}

/// Returns the value of a row, computed from the result of the loop over its lanes.
std::string KernelWriter::reduceText(const Node &node) {
  Kind kind = *kindOf(getElementTypeOrSelf(node.result()));
  StringRef reduce = node.combine == codegen::Combine::Sum ? "row_sum" : "row_max";
  std::string text = accumulators[node.op];
  if (node.isOnlineSum())
    text += ", " + values[1].lookup(node.online->getResult(0)).text;
  if (analysis.hasLanes())
    text = reduce.str() + emitter.words.group.str() + "(" + text + ")";
  Expr init = evaluate(node.op.getDpsInits()[0], {});
  if (init.text == identityText(node.combine, kind))
    return text;
  return node.combine == codegen::Combine::Sum ? text + " + " + init.text : "maximum(" + text + ", " + init.text + ")";
}

/// Prints the reductions of a phase, except for the values of their rows. Returns the reductions over lanes.
SmallVector<const Node *> KernelWriter::printReductions(SmallVector<std::string> &declarations) {
  SmallVector<const Node *> overLanes;
  bool picksTied = false;
  for (auto &[op, node] : analysis.nodes) {
    if (!node.reduces() || node.phase != phase)
      continue;
    if (node.picked) {
      printPickedLane(node);
      int64_t operand = node.picked->operand.getArgNumber();
      picksTied |= llvm::any_of(analysis.outputs, [&](const Output &output) { return output.tied == operand; });
      continue;
    }
    if (node.reducesLanes)
      overLanes.push_back(&node);
    if (node.isOnlineSum())
      continue; // added in the loop of its maximum
    if (node.reducesLanes)
      (analysis.hasLanes() ? declarations : lines[1]).push_back(declareAccumulator(node));
    accumulate(node);
  }
  // Another thread of the row may overwrite the picked lane in a later phase.
  if (std::string wait = emitter.barrierBeforeTiedStore(form); picksTied && !wait.empty())
    lines[1].push_back(wait);
  return overLanes;
}

void KernelWriter::printPhase(unsigned number) {
  phase = number;
  SmallVector<std::string> declarations;
  SmallVector<const Node *> overLanes = printReductions(declarations);
  // All loads of a lane precede its stores, because an out may be an operand.
  SmallVector<const Output *> stores;
  for (const Output &output : analysis.outputs) {
    if (output.node->reducesRows || output.phase != phase)
      continue;
    evaluateStored(output);
    stores.push_back(&output);
  }
  for (const Output *output : stores)
    storeOutput(*output, analysis.hasLane(output->dims) ? 2 : 1);
  llvm::append_range(lines[1], declarations);
  if (phase == 0 && !overLanes.empty())
    prefetchReads();
  closeLaneLoop(2, /*ofBlock=*/false);

  for (const Node *node : overLanes) {
    completeAccumulators(*node, lines[1]);
    nameValue(values[1][node->result()] =
                  define(*kindOf(getElementTypeOrSelf(node->result())), true, false, reduceText(*node)),
              node->op);
  }
}

void KernelWriter::printRowsOutside() {
  for (auto &[op, node] : analysis.nodes)
    if (node.reducesRows)
      lines[0].push_back(declareAccumulator(node));
  for (unsigned phase = 0; phase < analysis.phases && !hasFailed; ++phase)
    printPhase(phase);
  carryRows(lines[1]);
  closeLevel(1, emitter.rowLoop(form));
  completeSums(lines[0]);
  for (const Output &output : analysis.outputs)
    if (output.node->reducesRows)
      storeAccumulator(output, emitter.words.block);
  // Closes the lane loop of the accumulators, which follows the row loop.
  closeLaneLoop(1, /*ofBlock=*/false);
}

/// Prints, for each lane, the accumulators of a block, its rows, and its results.
void KernelWriter::printBlocksInside() {
  int64_t blocks = analysis.blocks(), rows = analysis.rows / blocks;
  std::string first = "0", last = std::to_string(rows);
  if (blocks > 1) {
    first = product("b", rows);
    last = rows == 1 ? "b + 1" : "(b + 1) * " + last;
  }
  SmallVector<std::string> body;
  for (auto &[op, node] : analysis.nodes)
    if (node.reducesRows)
      body.push_back(declareAccumulator(node));
  std::swap(body, lines[1]);
  carryRows(lines[2]);
  closeLevel(2, emitter.innerRowLoop(form, first, last));
  completeSums(lines[1]);
  for (const Output &output : analysis.outputs)
    if (output.node->reducesRows)
      storeAccumulator(output, "b");
  std::swap(body, lines[1]);
  if (blocks == 1) {
    llvm::append_range(lines[1], body);
    return;
  }
  std::swap(body, lines[2]);
  closeLevel(2, {"for (int64_t b = 0; b < " + std::to_string(blocks) + "; ++b) {"});
}

void KernelWriter::printLanesOutside() {
  for (auto &[op, node] : analysis.nodes)
    if (node.reducesRows) {
      declareAccumulator(node); // for its name
      accumulate(node);
    }
  SmallVector<const Output *> stores;
  for (const Output &output : analysis.outputs)
    if (!output.node->reducesRows) {
      evaluateStored(output);
      stores.push_back(&output);
    }
  auto isRow = [&](int64_t dim) { return !analysis.isLane(dim) && dim != kNoDim; };
  for (const Output *output : stores)
    storeOutput(*output, levelOf(llvm::any_of(output->dims, isRow), true));
  printBlocksInside();
  closeLaneLoop(1, /*ofBlock=*/true);
}
