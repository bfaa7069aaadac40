//===- BatchDims.cpp - the batch dim of every value -----------------------===//

#include "passes/Graph/BatchDims.h"
#include "dialects/Interfaces/Interfaces.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "passes/Graph/Signature.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace braid;

namespace braid {
/// Propagates the batch until no op adds a batch dim.
class BatchTracer {
public:
  explicit BatchTracer(BatchDims &found) : found(found) {}

  LogicalResult start(func::FuncOp function);
  LogicalResult run();

private:
  /// The position of the batch within one factor.
  struct Stretch {
    unsigned factor;
    int64_t inner;
  };

  LogicalResult visit(Operation *op);
  FailureOr<Stretch> stretchOf(Operation *op, const ShardingRule &rule, Value value, ArrayRef<unsigned> factors,
                               int64_t inner);
  LogicalResult check(Operation *op, const ShardingRule &rule, Stretch stretch);
  LogicalResult spread(Operation *op, const ShardingRule &rule, Stretch stretch);
  LogicalResult mark(Operation *op, Value value, BatchDim place);

  BatchDims &found;
  llvm::SetVector<Operation *> work;
};
} // namespace braid

static int64_t dimSize(Value value, unsigned dim) { return cast<RankedTensorType>(value.getType()).getDimSize(dim); }

LogicalResult BatchTracer::start(func::FuncOp function) {
  BlockArgument first;
  for (BlockArgument input : batchInputs(function)) {
    if (cast<RankedTensorType>(input.getType()).getRank() == 0)
      return function.emitError() << "argument #" << input.getArgNumber() << " of type " << input.getType()
                                  << " has a role with a batch, which must be its dim 0";
    if (!first) {
      first = input;
      found.batch = dimSize(input, 0);
    } else if (dimSize(input, 0) != found.batch) {
      return function.emitError() << "arguments #" << first.getArgNumber() << " of type " << first.getType() << " and #"
                                  << input.getArgNumber() << " of type " << input.getType()
                                  << " disagree about the batch, their dim 0";
    }
    if (failed(mark(function, input, {0, 1})))
      return failure();
  }
  if (!first)
    return function.emitError() << "no argument of '" << function.getName()
                                << "' has a batch: expected one with the tg.role tokens, targets, features or labels";
  return success();
}

LogicalResult BatchTracer::mark(Operation *op, Value value, BatchDim place) {
  auto argument = dyn_cast<BlockArgument>(value);
  bool isInput = tg::ArgumentAttrs(value).input != nullptr;
  if (argument && !isInput && found.batch == 1)
    return success(); // a dim of size 1, repeated over the batch
  auto [it, isNew] = found.places.insert({value, place});
  if (!isNew) {
    if (it->second == place)
      return success();
    return op->emitError() << "'" << op->getName() << "' mixes the examples of the batch: in " << value.getType()
                           << " the batch of " << found.batch << " is both in dim " << it->second.dim << " and in dim "
                           << place.dim;
  }
  if (argument) {
    if (!isInput)
      return op->emitError() << "argument #" << argument.getArgNumber() << " of type " << value.getType()
                             << " has the batch in dim " << place.dim
                             << " but is not an input; broadcast it over the batch instead";
  } else {
    work.insert(value.getDefiningOp());
  }
  work.insert(value.user_begin(), value.user_end());
  return success();
}

/// Returns the factor of a dim (major to minor in `factors`) that holds the batch. Prefers a factor whose size equals
/// the batch: it tells a batch of 1 from the end of the next minor factor.
FailureOr<BatchTracer::Stretch> BatchTracer::stretchOf(Operation *op, const ShardingRule &rule, Value value,
                                                       ArrayRef<unsigned> factors, int64_t inner) {
  std::optional<Stretch> exact, within;
  int64_t below = 1;
  for (unsigned factor : llvm::reverse(factors)) {
    int64_t above = below * rule.factors[factor].size;
    if (below == inner && rule.factors[factor].size == found.batch)
      exact = Stretch{factor, 1};
    if (inner % below == 0 && above % (inner * found.batch) == 0)
      within = Stretch{factor, inner / below};
    below = above;
  }
  if (exact || within)
    return exact ? *exact : *within;
  InFlightDiagnostic error = op->emitError();
  error << "'" << op->getName() << "' splits the batch of " << found.batch << ": its operands are ("
        << op->getOperandTypes() << ") and its results (" << op->getResultTypes() << ")";
  return error;
}

LogicalResult BatchTracer::check(Operation *op, const ShardingRule &rule, Stretch stretch) {
  const Factor &factor = rule.factors[stretch.factor];
  auto refuse = [&](StringRef why) {
    return op->emitError() << "'" << op->getName() << "' mixes the examples of the batch of " << found.batch << ": "
                           << why << "; its operands are (" << op->getOperandTypes() << ") and its results ("
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
  bool outermost = stretch.inner * found.batch == factor.size;
  for (const ShardingRule::TensorFactors &dims : rule.results)
    outermost &= !dims.empty() && !dims.front().empty() && dims.front().front() == stretch.factor;
  return outermost ? success() : refuse("its values depend on the position, and the batch is not the first dim");
}

LogicalResult BatchTracer::spread(Operation *op, const ShardingRule &rule, Stretch stretch) {
  auto visitTensor = [&](Value value, const ShardingRule::TensorFactors &dims) -> LogicalResult {
    for (auto [dim, factors] : llvm::enumerate(dims)) {
      int64_t below = 1;
      for (unsigned factor : llvm::reverse(factors)) {
        if (factor == stretch.factor && failed(mark(op, value, {static_cast<unsigned>(dim), below * stretch.inner})))
          return failure();
        below *= rule.factors[factor].size;
      }
    }
    return success();
  };
  for (auto [value, dims] : llvm::zip_equal(op->getOperands(), rule.operands))
    if (failed(visitTensor(value, dims)))
      return failure();
  for (auto [value, dims] : llvm::zip_equal(op->getResults(), rule.results))
    if (failed(visitTensor(value, dims)))
      return failure();
  return success();
}

LogicalResult BatchTracer::visit(Operation *op) {
  if (op->hasTrait<OpTrait::IsTerminator>())
    return success();
  std::optional<ShardingRule> rule = shardingRuleOf(op);
  if (!rule)
    return op->emitError() << "'" << op->getName() << "' has no sharding rule, so the batch cannot be followed";
  auto visitTensor = [&](Value value, const ShardingRule::TensorFactors &dims) -> LogicalResult {
    auto it = found.places.find(value);
    if (it == found.places.end())
      return success();
    BatchDim place = it->second;
    FailureOr<Stretch> stretch = stretchOf(op, *rule, value, dims[place.dim], place.inner);
    if (failed(stretch) || failed(check(op, *rule, *stretch)))
      return failure();
    return spread(op, *rule, *stretch);
  };
  for (auto [value, dims] : llvm::zip_equal(op->getOperands(), rule->operands))
    if (failed(visitTensor(value, dims)))
      return failure();
  for (auto [value, dims] : llvm::zip_equal(op->getResults(), rule->results))
    if (failed(visitTensor(value, dims)))
      return failure();
  return success();
}

LogicalResult BatchTracer::run() {
  while (!work.empty())
    if (failed(visit(work.pop_back_val())))
      return failure();
  return success();
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
  BatchTracer tracer(dims);
  if (failed(tracer.start(function)) || failed(tracer.run()))
    return failure();
  return dims;
}

std::optional<BatchDim> BatchDims::of(Value value) const {
  auto it = places.find(value);
  return it == places.end() ? std::nullopt : std::optional<BatchDim>(it->second);
}

bool BatchDims::endsAt(Operation *op) const {
  auto has = [&](Value value) { return places.contains(value); };
  return llvm::any_of(op->getOperands(), has) && !llvm::all_of(op->getResults(), has);
}

LogicalResult BatchDims::resize(func::FuncOp function, int64_t newBatch) const {
  if (newBatch == batch)
    return success();
  for (auto [value, place] : places) {
    auto type = cast<RankedTensorType>(value.getType());
    SmallVector<int64_t> shape(type.getShape());
    shape[place.dim] = shape[place.dim] / batch * newBatch;
    auto resized = RankedTensorType::get(shape, type.getElementType());
    value.setType(resized);
    if (auto constant = value.getDefiningOp<arith::ConstantOp>())
      constant.setValueAttr(cast<DenseElementsAttr>(constant.getValue()).resizeSplat(resized));
  }
  updateType(function);
  return success();
}
