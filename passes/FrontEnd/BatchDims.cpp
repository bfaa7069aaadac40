//===- BatchDims.cpp - the batch dim of every value -----------------------===//

#include "passes/FrontEnd/BatchDims.h"
#include "dialects/Interfaces/Interfaces.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "passes/Base/Signature.h"

using namespace mlir;
using namespace braid;

static int64_t dimSize(Value value, unsigned dim) { return cast<RankedTensorType>(value.getType()).getDimSize(dim); }

LogicalResult BatchDims::startAtInputs(func::FuncOp function) {
  BlockArgument first;
  for (BlockArgument input : batchInputs(function)) {
    if (cast<RankedTensorType>(input.getType()).getRank() == 0)
      return function.emitError() << "argument #" << input.getArgNumber() << " of type " << input.getType()
                                  << " has a role with a batch, so its dim 0 must be the batch";
    if (!first) {
      first = input;
      batch = dimSize(input, 0);
    } else if (dimSize(input, 0) != batch) {
      return function.emitError() << "arguments #" << first.getArgNumber() << " of type " << first.getType() << " and #"
                                  << input.getArgNumber() << " of type " << input.getType()
                                  << " disagree about the batch, their dim 0";
    }
    start(input, 0);
  }
  if (!first)
    return function.emitError() << "no argument of '" << function.getName()
                                << "' has a batch: expected one with the tg.role tokens, targets, features or labels";
  return success();
}

WalkResult BatchDims::reach(Operation *op, Value value, DimPart part) {
  bool isArgument = isa<BlockArgument>(value) && !tg::ArgumentAttrs(value).input;
  if (isArgument && batch == 1)
    return WalkResult::skip(); // a dim of size 1, repeated over the batch
  if (ArrayRef<DimPart> known = partsOf(value); !known.empty())
    return op->emitError() << "'" << op->getName() << "' mixes the examples of the batch: in " << value.getType()
                           << " the batch of " << batch << " is both in dim " << known.front().number << " and in dim "
                           << part.number;
  if (isArgument)
    return op->emitError() << "argument #" << cast<BlockArgument>(value).getArgNumber() << " of type "
                           << value.getType() << " has the batch in dim " << part.number
                           << " but is not an input; broadcast it over the batch instead";
  return WalkResult::advance();
}

LogicalResult BatchDims::check(Operation *op, const ShardingRule &rule, DimPart part) const {
  const Factor &factor = rule.factors[part.number];
  auto refuse = [&](StringRef why) {
    return op->emitError() << "'" << op->getName() << "' mixes the examples of the batch of " << batch << ": " << why
                           << "; its operands are (" << op->getOperandTypes() << ") and its results ("
                           << op->getResultTypes() << ")";
  };
  if (factor.kind == FactorKind::Whole)
    return refuse("it needs that dim whole");
  if (!factor.positional)
    return success();
  if (op->getNumOperands() == 0)
    return refuse("its values depend on the position in the batch");
  if (llvm::any_of(rule.factors, [](const Factor &other) { return other.kind == FactorKind::Reduced; }))
    return refuse("indices name the rows of its table");
  // A key determines the values of the rows, if rows are the outermost dim.
  bool outermost = part.inner * batch == factor.size;
  for (const ShardingRule::TensorFactors &dims : rule.results)
    outermost &= !dims.empty() && !dims.front().empty() && dims.front().front() == part.number;
  return outermost ? success() : refuse("its values depend on the position, and the batch is not the first dim");
}

WalkResult BatchDims::enter(Operation *op, const ShardingRule *rule, DimParts &factors) {
  if (op->hasTrait<OpTrait::IsTerminator>())
    return WalkResult::advance();
  if (!rule)
    return op->emitError() << "'" << op->getName() << "' has no sharding rule, so the batch cannot be followed";
  if (factors.size() == 1 && factors.front().size == batch)
    return check(op, *rule, factors.front());
  return op->emitError() << "'" << op->getName() << "' splits the batch of " << batch << ": its operands are ("
                         << op->getOperandTypes() << ") and its results (" << op->getResultTypes() << ")";
}

//===----------------------------------------------------------------------===//
// Result
//===----------------------------------------------------------------------===//

/// Gives each use of a constant, iota or broadcast scalar its own copy: one use may have the batch in a dim where
/// another use of the same shape has not.
static void separateSources(func::FuncOp function) {
  SmallVector<Operation *> sources;
  for (Operation &op : function.getBody().front())
    if (op.getNumResults() == 1 && !op.getResult(0).hasOneUse() && isMemoryEffectFree(&op) &&
        llvm::all_of(op.getOperandTypes(), [](Type type) { return cast<RankedTensorType>(type).getRank() == 0; }))
      sources.push_back(&op);
  for (Operation *op : sources) {
    OpBuilder builder(op);
    for (OpOperand &use : llvm::make_early_inc_range(op->getUses()))
      use.set(builder.clone(*op)->getResult(0));
    op->erase();
  }
}

FailureOr<BatchDims> BatchDims::find(func::FuncOp function) {
  separateSources(function);
  BatchDims dims;
  if (failed(dims.startAtInputs(function)) || failed(dims.run()))
    return failure();
  return dims;
}

bool BatchDims::endsAt(Operation *op) const {
  auto has = [&](Value value) { return !partsOf(value).empty(); };
  return llvm::any_of(op->getOperands(), has) && !llvm::all_of(op->getResults(), has);
}

LogicalResult BatchDims::resize(func::FuncOp function, int64_t newBatch) const {
  if (newBatch == batch)
    return success();
  for (auto [value, parts] : getReached()) {
    auto type = cast<RankedTensorType>(value.getType());
    SmallVector<int64_t> shape(type.getShape());
    int64_t &dim = shape[parts.front().number];
    dim = dim / batch * newBatch;
    auto resized = RankedTensorType::get(shape, type.getElementType());
    value.setType(resized);
    if (auto constant = value.getDefiningOp<arith::ConstantOp>())
      constant.setValueAttr(cast<DenseElementsAttr>(constant.getValue()).resizeSplat(resized));
  }
  updateType(function);
  return success();
}
