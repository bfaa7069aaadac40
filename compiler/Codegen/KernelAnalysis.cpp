//===- KernelAnalysis.cpp - turns a kernel's body into loops --------------===//

#include "compiler/Codegen/KernelAnalysis.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace braid;
using namespace braid::codegen;

/// Most lanes for which values or sums per lane are kept on the stack: 64 KiB.
static constexpr int64_t kStackLanes = 16384;
/// Most floats on the stack if there is no alternative: 2 MiB, for long sums twice that.
static constexpr int64_t kMaxStackFloats = 512 << 10;
/// Largest numbers of terms of uncompensated sums. After n additions to one accumulator, the error is about sqrt(n)
/// times 2e-8 of the sum's size; 5e-7 for the most rows. Lanes are spread over at least four accumulators, and over 16
/// or more on current processors.
static constexpr int64_t kMaxPlainRows = 1024, kMaxPlainLanes = 1 << 16;
/// A kernel with a dynamic row count is treated as having this many rows, so each row gets at most one warp.
static constexpr int64_t kAnyRows = 1 << 20;

//===----------------------------------------------------------------------===//
// Nodes
//===----------------------------------------------------------------------===//

Dims Node::operandDims(unsigned number) const {
  AffineMap map = cast<linalg::LinalgOp>(op.getOperation()).getIndexingMapsArray()[number];
  Dims dims;
  for (AffineExpr result : map.getResults()) {
    auto dim = dyn_cast<AffineDimExpr>(result);
    dims.push_back(dim ? loops[dim.getPosition()] : kNoDim);
  }
  return dims;
}

static Value oldValue(linalg::GenericOp op) { return op.getBody()->getArguments().back(); }

Value Node::contribution() const { return exec::contributionOf(op); }

const Node *KernelAnalysis::nodeOf(Value value) const {
  auto it = nodes.find(value.getDefiningOp());
  return it == nodes.end() ? nullptr : &it->second;
}

int64_t KernelAnalysis::blocks() const {
  int64_t count = 1;
  for (int64_t size : ArrayRef(rowSizes).take_front(blockDims))
    count *= size;
  return count;
}

bool KernelAnalysis::isLongSum(const Node &node) const {
  if (node.combine != codegen::Combine::Sum || node.picked || node.online ||
      kindOf(getElementTypeOrSelf(node.result())) != Kind::F32)
    return false;
  return node.reducesLanes ? lanes > kMaxPlainLanes : node.reducesRows && rows / blocks() > kMaxPlainRows;
}

InFlightDiagnostic KernelAnalysis::error(Operation *op) const {
  return op->emitError() << "kernel '" << kernel.getSymName() << "': ";
}

//===----------------------------------------------------------------------===//
// Reading the body
//===----------------------------------------------------------------------===//

FailureOr<KernelAnalysis> KernelAnalysis::compute(exec::KernelDefOp kernel, StringRef target) {
  KernelAnalysis analysis;
  analysis.target = target;
  analysis.kernel = kernel;
  ArrayRef<int64_t> space = kernel.getSpace();
  analysis.flat = kernel.getFlat() && space.size() == 1;
  analysis.anyRows = kernel.getFlat() && space.size() > 1;
  analysis.rowSizes.assign(space.begin(), space.end() - 1);
  if (analysis.anyRows)
    analysis.rowSizes.front() = kAnyRows;
  analysis.lanes = space.back();
  for (int64_t size : analysis.rowSizes)
    analysis.rows *= size;

  if (failed(analysis.readBody()) || failed(analysis.readOutputs()))
    return failure();
  analysis.choosePartition();
  if (failed(analysis.checkStack()))
    return failure();
  analysis.placeTiedOutputs();
  analysis.chooseKept();
  return analysis;
}

LogicalResult KernelAnalysis::readBody() {
  for (Attribute layout : kernel.getLayouts()) {
    Type element = cast<exec::RefType>(cast<TypeAttr>(layout).getValue()).getElementType();
    if (memoryType(element).empty())
      return error(kernel) << "elements of type " << element << " are not supported by the " << target << " target";
  }
  for (Operation &op : kernel.getBody().front().without_terminator()) {
    if (auto generic = dyn_cast<linalg::GenericOp>(op)) {
      if (failed(readNode(generic)))
        return failure();
    } else if (!isa<linalg::FillOp, tensor::EmptyOp, arith::ConstantOp>(op)) {
      return error(&op) << "'" << op.getName() << "' does not belong in a kernel";
    }
  }
  return success();
}

LogicalResult KernelAnalysis::readNode(linalg::GenericOp op) {
  Node node{op, {}, false, false, codegen::Combine::Sum, 0, false, nullptr, std::nullopt};
  auto dims = op->getAttrOfType<DenseI64ArrayAttr>(exec::ExecDialect::kDims);
  if (!dims || dims.size() != static_cast<int64_t>(op.getNumLoops()))
    return error(op) << "a generic needs 'exec.dims' with a dim for each of its " << op.getNumLoops() << " loops";
  if (op->getNumResults() != 1)
    return error(op) << "a generic has " << op->getNumResults() << " results where one is expected";
  node.loops.assign(dims.asArrayRef().begin(), dims.asArrayRef().end());
  for (AffineMap map : op.getIndexingMapsArray())
    if (!map.isProjectedPermutation(/*allowZeroInResults=*/true))
      return error(op) << "indexing map " << AffineMapAttr::get(map) << " is not a projected permutation";

  for (auto [loop, iterator] : llvm::zip(node.loops, op.getIteratorTypesArray()))
    if (iterator == utils::IteratorType::reduction)
      (isLane(loop) ? node.reducesLanes : node.reducesRows) = true;
  if (!oldValue(op).use_empty() && !op.getDpsInits()[0].getDefiningOp<linalg::FillOp>())
    return error(op) << "a generic that reads its init starts from a linalg.fill";
  if (node.reduces() && failed(readReduction(node)))
    return failure();

  for (Value input : op.getDpsInputs()) {
    const Node *producer = nodeOf(input);
    if (!producer)
      continue;
    if (producer->reducesRows)
      return error(op) << "reads a reduction over rows, which is complete only after the kernel";
    node.phase = std::max(node.phase, producer->phase + producer->reducesLanes);
  }
  if (node.reducesLanes && failed(readMarks(node)))
    return failure();
  phases = std::max(phases, node.phase + 1);
  nodes.insert({op, node});
  return success();
}

LogicalResult KernelAnalysis::readReduction(Node &node) {
  linalg::GenericOp op = node.op;
  if (node.reducesLanes && node.reducesRows)
    return error(op) << "reduces over lanes and rows at once; reduce over the lanes first";
  Operation *combiner = op.getBody()->getTerminator()->getOperand(0).getDefiningOp();
  if (isa_and_nonnull<arith::AddFOp, arith::AddIOp>(combiner))
    node.combine = codegen::Combine::Sum;
  else if (isa_and_nonnull<arith::MaximumFOp, arith::MaxSIOp>(combiner))
    node.combine = codegen::Combine::Max;
  else
    return error(op) << "a reduction yields addf, addi, maximumf or maxsi of the old value";
  if (!oldValue(op).hasOneUse() || *oldValue(op).user_begin() != combiner)
    return error(op) << "a reduction uses its old value once, in the op that combines";
  if (!node.reducesRows)
    return success();

  // The blocks are the leading row dims that stay parallel, equal for all reductions.
  unsigned kept = 0;
  SmallVector<utils::IteratorType> iterators = op.getIteratorTypesArray();
  auto isKept = [&](int64_t dim) {
    auto it = llvm::find(node.loops, dim);
    return it != node.loops.end() && iterators[it - node.loops.begin()] == utils::IteratorType::parallel;
  };
  while (kept < rowSizes.size() && isKept(kept))
    ++kept;
  for (unsigned dim = kept; dim < rowSizes.size(); ++dim)
    if (isKept(dim))
      return error(op) << "reduces over row dim " << kept << " and keeps dim " << dim
                       << "; the dims that stay parallel must come first";
  bool first = llvm::none_of(nodes, [](auto &entry) { return entry.second.reducesRows; });
  if (!first && blockDims != kept)
    return error(op) << "keeps " << kept << " row dims where another reduction of the kernel keeps " << blockDims;
  blockDims = kept;
  return success();
}

/// Reads marks in the body: computations that the loop over lanes can skip.
LogicalResult KernelAnalysis::readMarks(Node &node) {
  if (!hasLanes())
    return success();
  if (node.op->hasAttr(exec::kPicked)) {
    node.picked = exec::findPickedLane(node.op, laneDim());
    if (!node.picked)
      return error(node.op) << "is marked '" << exec::kPicked
                            << "', but is not a sum over lanes that selects one value";
  }
  if (!node.op->hasAttr(exec::kOnline))
    return success();
  std::optional<exec::ExponentialSum> found = exec::findExponentialSum(node.op, laneDim());
  if (!found)
    return error(node.op) << "is marked '" << exec::kOnline << "', but is not a sum of exp(x - the maximum of x)";
  Node &maximum = nodes.find(found->maximum)->second;
  if (maximum.online) // belongs to another sum
    return success();
  node.online = maximum.op;
  maximum.online = node.op;
  node.phase = maximum.phase;
  return success();
}

LogicalResult KernelAnalysis::readOutputs() {
  Operation *yield = kernel.getBody().front().getTerminator();
  for (auto [i, value] : llvm::enumerate(yield->getOperands())) {
    const Node *node = nodeOf(value);
    if (!node)
      return error(yield) << "result " << i << " is not made by a generic";
    int64_t tied = kernel.getTies().empty() ? -1 : kernel.getTies()[i];
    unsigned phase = node->phase + node->reducesLanes;
    phases = std::max(phases, phase + 1);
    outputs.push_back({static_cast<unsigned>(i), node, node->resultDims(), phase, tied});
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Choices
//===----------------------------------------------------------------------===//

void KernelAnalysis::choosePartition() {
  bool reducesLanes = llvm::any_of(nodes, [](auto &entry) { return entry.second.reducesLanes; });
  bool reducesRows = llvm::any_of(nodes, [](auto &entry) { return entry.second.reducesRows; });
  bool perLane =
      hasLanes() && !reducesLanes && llvm::all_of(outputs, [&](const Output &output) { return hasLane(output.dims); });
  if (perLane && (reducesRows ? blocks() == 1 || lanes > kStackLanes : rows == 1))
    partition = Partition::Lanes;
  else
    partition = reducesRows ? Partition::Blocks : Partition::Rows;
}

/// Checks the stack size: sums per lane beside reductions over lanes are arrays on the stack.
LogicalResult KernelAnalysis::checkStack() {
  if (partition != Partition::Blocks)
    return success();
  int64_t sums = llvm::count_if(
      nodes, [&](auto &entry) { return entry.second.reducesRows && hasLane(entry.second.resultDims()); });
  if (sums * lanes <= kMaxStackFloats)
    return success();
  return error(kernel) << sums << " sums over rows of " << lanes << " lanes do not fit on the stack, which holds "
                       << kMaxStackFloats << " numbers; reduce over rows in a kernel of its own";
}

void KernelAnalysis::visitInputs(const Node &node, llvm::function_ref<bool(Node &)> visit) {
  SmallVector<const Node *> pending = {&node};
  llvm::SmallPtrSet<Operation *, 16> seen;
  while (!pending.empty())
    for (Value input : pending.pop_back_val()->op.getDpsInputs()) {
      auto it = nodes.find(input.getDefiningOp());
      // The result of a reduction is a row value, which is not evaluated again.
      bool isEvaluated = it != nodes.end() && !it->second.reduces() && seen.insert(it->first).second;
      if (isEvaluated && visit(it->second))
        pending.push_back(&it->second);
    }
}

bool KernelAnalysis::readsOperand(const Node &node, int64_t operand) {
  Value argument = kernel.getBody().getArgument(operand);
  auto reads = [&](const Node &node) { return llvm::is_contained(node.op.getDpsInputs(), argument); };
  bool found = reads(node);
  visitInputs(node, [&](Node &input) { return !(found |= reads(input)); });
  return found;
}

/// Chooses the phase that stores each out. An out that overwrites an operand is stored after the last read of the
/// operand. Within a phase, all loads of a lane precede its stores.
void KernelAnalysis::placeTiedOutputs() {
  auto lastRead = [&](int64_t operand) {
    unsigned last = 0;
    for (auto &entry : nodes)
      if (entry.second.reduces() && readsOperand(entry.second, operand))
        last = std::max(last, entry.second.phase);
    for (const Output &output : outputs)
      if (readsOperand(*output.node, operand))
        last = std::max(last, output.phase);
    return last;
  };
  for (bool changed = true; changed;) {
    changed = false;
    for (Output &output : outputs) {
      unsigned phase = output.tied < 0 ? 0 : lastRead(output.tied);
      changed |= phase > output.phase;
      output.phase = std::max(output.phase, phase);
    }
  }
}

static bool isExpensiveNode(const Node &node) {
  return llvm::any_of(node.op.getBody()->without_terminator(), [](Operation &op) { return isExpensive(&op); });
}

void KernelAnalysis::chooseKept() {
  if (partition == Partition::Lanes || lanes > kStackLanes)
    return;
  llvm::DenseMap<Operation *, unsigned> firstPhase;
  for (unsigned phase = 0; phase < phases; ++phase) {
    auto evaluate = [&](Node &node) {
      auto [it, isNew] = firstPhase.try_emplace(node.op, phase);
      if (isNew || it->second == phase || !hasLane(node.resultDims()) || !isExpensiveNode(node) ||
          kindOf(getElementTypeOrSelf(node.result())) != Kind::F32)
        return true;
      node.kept = true;
      return false;
    };
    for (auto &entry : nodes)
      if (entry.second.reduces() && entry.second.phase == phase && !entry.second.isOnlineSum() && !entry.second.picked)
        visitInputs(entry.second, evaluate);
    for (Output &output : outputs)
      if (output.phase == phase && !output.node->reduces() && evaluate(nodes.find(output.node->op)->second))
        visitInputs(*output.node, evaluate);
  }
}
