//===- ActionCosts.cpp - operations and bytes of each action --------------===//
//
// Bytes count each operand and result once, because caches and what they save are
// unknown here. If only part of an operand is read, only that part counts.
//
//===----------------------------------------------------------------------===//

#include "dialects/Exec/Exec.h"
#include "dialects/Exec/KernelBody.h"
#include "dialects/Exec/LanePatterns.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "llvm/ADT/MapVector.h"

using namespace mlir;
using namespace braid;
using namespace braid::exec;

/// Vector operations in one call of exp, tanh, erf, … as a polynomial, and in one
/// number of a counter-based random generator.
static constexpr int64_t kFunctionFlops = 16, kRandomFlops = 40;
/// Vector operations of a function that may be approximate: its own instruction, and a
/// product that scales the argument.
static constexpr int64_t kApproximateFlops = 2;

static int64_t bytesOfTensors(TypeRange types) {
  int64_t bytes = 0;
  for (Type type : types)
    bytes += bytesOf(TypeRange(tensorOf(type)));
  return bytes;
}

ActionCost exec::detail::dataMovementCost(Operation *op) {
  auto action = cast<ActionOpInterface>(op);
  TypeRange written = action.getActionOuts().empty() ? TypeRange(action.getActionResults().getTypes())
                                                     : TypeRange(action.getActionOuts().getTypes());
  SmallVector<Type> read;
  // Only tensors that the action reads count; the ticket of a wait is not one of them.
  for (Value in : action.getActionIns())
    read.push_back(in.getType());
  return {0, 0, bytesOfTensors(read), bytesOfTensors(written)};
}

//===----------------------------------------------------------------------===//
// Kernels
//===----------------------------------------------------------------------===//

static int64_t flopsOf(Operation &scalar) {
  if (isa<RandomUniformOp>(scalar))
    return kRandomFlops;
  auto fast = dyn_cast<arith::ArithFastMathInterface>(scalar);
  arith::FastMathFlagsAttr flags = fast ? fast.getFastMathFlagsAttr() : arith::FastMathFlagsAttr();
  bool isApproximate = flags && bitEnumContainsAny(flags.getValue(), arith::FastMathFlags::afn);
  // Everything else is one operation, such as an addition; indices and yields cost nothing.
  if (isa<math::MathDialect>(scalar.getDialect()))
    return isApproximate ? kApproximateFlops : kFunctionFlops;
  bool computes = !isa<linalg::LinalgDialect>(scalar.getDialect()) && !scalar.hasTrait<OpTrait::ConstantLike>();
  return computes ? 1 : 0;
}

/// Returns the operations of the generics in a kernel's body, each over its own iteration
/// space. A sum that picks one lane is a load and costs nothing.
static int64_t flopsOf(Block &body) {
  int64_t flops = 0;
  for (auto generic : body.getOps<linalg::GenericOp>()) {
    if (generic->hasAttr(kPicked))
      continue;
    int64_t iterations = 1, each = 0;
    for (int64_t size : generic.getStaticLoopRanges())
      iterations *= size;
    for (Operation &scalar : *generic.getBody())
      each += flopsOf(scalar);
    flops += iterations * each;
  }
  return flops;
}

/// Returns the bytes of tables that are not read: their size minus the looked-up rows, each counted per look-up.
static int64_t unreadTableBytes(Block &body) {
  llvm::MapVector<BlockArgument, int64_t> read;
  visitTableReads(body, [&](linalg::GenericOp generic, const TableRead &tableRead) {
    read[tableRead.table] += bytesOf(TypeRange(generic.getResult(0).getType()));
  });
  int64_t bytes = 0;
  for (auto [table, found] : read)
    bytes += bytesOf(TypeRange(table.getType())) - found;
  return bytes;
}

ActionCost KernelOp::getActionCost() {
  ActionCost cost = detail::dataMovementCost(*this);
  cost.vectorFlops = flopsOf(*getBlock());
  cost.bytesRead -= unreadTableBytes(*getBlock());
  return cost;
}

/// The body of a flat kernel has one element or one row, and stands for any number of them.
ActionCost LaunchOp::getActionCost() {
  ActionCost cost = detail::dataMovementCost(*this);
  Operation *module = (*this)->getParentOfType<ProgramOp>()->getParentOp();
  auto kernel = cast<KernelDefOp>(SymbolTable::lookupSymbolIn(module, getKernelAttr()));
  int64_t flops = flopsOf(*kernel.getBlock());
  if (!kernel.getFlat()) {
    cost.vectorFlops = flops * getBatch();
    cost.bytesRead -= unreadTableBytes(*kernel.getBlock()) * getBatch();
    return cost;
  }
  unsigned numOuts = kernel.getTies().size();
  int64_t ofOne = tensorOf(cast<TypeAttr>(kernel.getLayouts()[kernel.getNumIns()]).getValue()).getNumElements();
  for (unsigned out = 0; out < getOuts().size(); out += numOuts)
    cost.vectorFlops += flops * (tensorOf(getOuts()[out].getType()).getNumElements() / ofOne);
  return cost;
}

//===----------------------------------------------------------------------===//
// Library calls
//===----------------------------------------------------------------------===//

/// Returns the type of the single result of an action, in either form.
template <typename Action> static RankedTensorType resultType(Action action) {
  return tensorOf(action.getOuts().empty() ? action.getResult().getType() : action.getOuts().front().getType());
}

/// One multiplication and one addition for each result element and each index of the contracted dims.
ActionCost MatmulOp::getActionCost() {
  ActionCost cost = detail::dataMovementCost(*this);
  int64_t contracted = getContraction().getContractedSize(tensorOf(getLhs().getType()).getShape());
  cost.matrixFlops = 2 * resultType(*this).getNumElements() * contracted;
  if (getEpilogue() != Epilogue::None)
    cost.vectorFlops = kFunctionFlops * resultType(*this).getNumElements();
  return cost;
}

/// Rows that no index names are not read.
ActionCost GatherOp::getActionCost() {
  int64_t rows = bytesOf(TypeRange(resultType(*this)));
  return {0, 0, rows + bytesOfTensors(TypeRange(getIndices().getType())), rows};
}

/// Rows are read, added to and written; without an accumulator, the table is filled with zeros first.
ActionCost ScatterAddOp::getActionCost() {
  RankedTensorType updates = tensorOf(getUpdates().getType());
  int64_t rows = bytesOf(TypeRange(updates.clone(resultType(*this).getElementType())));
  int64_t table = getAccumulator() ? 0 : bytesOf(TypeRange(resultType(*this)));
  return {0, updates.getNumElements(),
          bytesOf(TypeRange(updates)) + rows + bytesOfTensors(TypeRange(getIndices().getType())), rows + table};
}

//===----------------------------------------------------------------------===//
// Attention
//===----------------------------------------------------------------------===//

/// Returns the cost of `matmuls` matmuls over all query-key pairs that the mask keeps,
/// and one exponential per pair. Soft-capped scores add a tanh per pair.
template <typename Op> static ActionCost costOfAttention(Op op, int64_t matmuls) {
  ActionCost cost = exec::detail::dataMovementCost(op);
  RankedTensorType query = tensorOf(op.getQuery().getType());
  int64_t heads = query.getDimSize(0) * query.getDimSize(2), queries = query.getDimSize(1);
  int64_t keys = tensorOf(op.getKey().getType()).getDimSize(1), all = heads * queries * keys;
  int64_t pairs =
      heads * (op.getQueryStart() ? op.getMask().meanPairsOf(queries, keys) : op.getMask().pairsOf(queries, keys));
  int64_t flopsOfPair = 2 * matmuls * query.getDimSize(3);
  cost.matrixFlops = pairs * flopsOfPair;
  cost.maskedFlops = (all - pairs) * flopsOfPair;
  cost.vectorFlops = kFunctionFlops * pairs * (op.getSoftcap() ? 2 : 1);
  cost.matmulsRunInF32 = op.getTiles();
  return cost;
}

ActionCost AttentionOp::getActionCost() { return costOfAttention(*this, 2); }

/// Five matmuls: recomputed scores, dv, the weights' gradient, dq and dk. The scratch memory is written
/// and read once: the scores that the mask keeps, and one f32 copy of dq, the minimum on any GPU.
ActionCost AttentionGradOp::getActionCost() {
  ActionCost cost = costOfAttention(*this, 5);
  WorkspaceRule rule = {};
  rule.attention.queryGradients = 1;
  int64_t scratch = getWorkspaceBytes(rule);
  if (!getTiles() && getOrder() == SumOrder::Fixed) {
    AttentionSizes sizes = getSizes();
    scratch -= cost.maskedFlops / (10 * sizes.size) * sizes.elementBytes;
  }
  cost.bytesRead += scratch;
  cost.bytesWritten += scratch;
  return cost;
}
