//===- NoiseScale.cpp - gradient noise scale of a batch -------------------===//
//
// The squared norm of the mean gradient of b samples equals the squared norm of the true gradient plus a noise that
// falls as 1/b (McCandlish et al. 2018, appendix A.1). Right before the reduction, a rank holds the gradient of its own
// part of the batch. Its square, averaged over ranks, and the square of the whole batch's gradient are two
// points of this line.
//
//===----------------------------------------------------------------------===//

#include "dialects/Comm/Sharding.h"
#include "dialects/TG/Facts.h"
#include "dialects/TG/TGBuilder.h"
#include "lib/Schedule/Agreement.h"
#include "lib/Sharding/AxisLists.h"
#include "passes/Base/Signature.h"
#include "passes/Collectives/CollectiveRoles.h"
#define GEN_PASS_DEF_NOISESCALEPASS
#include "passes/Collectives/Passes.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/SmallPtrSet.h"

using namespace mlir;
using namespace braid;
using namespace braid::comm;

namespace {

/// A gradient between the rank's own value and the mean of all ranks.
struct Gradient {
  /// The operand of the first collective that sends it.
  OpOperand *sent;
  BlockArgument parameter;
  /// Axes of the batch over which it is reduced.
  AxesAttr axes;
  /// The mean gradient of the rank's samples is `sent * factor * scale`.
  double factor = 1;
  /// One over the number of samples, if the sum is divided by it later; else null.
  Value scale = {};
  /// Whether it is later added to the gradients of other microbatches.
  bool isMicrobatch = false;
};

class NoiseScale {
public:
  NoiseScale(func::FuncOp function, const Mesh &mesh, int64_t microbatches);
  LogicalResult measure(Value norm);

private:
  LogicalResult findGradients();
  LogicalResult follow(CollectiveOpInterface op, unsigned number);
  /// Returns the next value towards the mean, or null at the end.
  Value step(Value value, Gradient &gradient);
  bool isBatchReduction(Operation *op) const;
  /// Returns the scalar that fills `value`, if it belongs to the forward pass: one over the sample count. The
  /// factor that clips gradients belongs to the update instead.
  Value countScale(Value value);
  /// Returns the axes other than the batch's along which the parameter is sharded.
  AxesAttr modelAxes(BlockArgument parameter);
  Value sumOfSquares();
  Value asWholeBatchOfRank(tg::TensorBuilder &b, Value local, Value global);

  func::FuncOp function;
  const Mesh &mesh;
  int64_t microbatches;
  TensorOwners owners;
  AxesAttr batchAxes, allAxes;
  SmallVector<Gradient> gradients;
  /// Collectives that a gradient passes through.
  llvm::SmallPtrSet<Operation *, 16> passed;
};

} // namespace

static AxesAttr axesWhere(MLIRContext *context, const Mesh &mesh, function_ref<bool(StringAttr)> keep) {
  SmallVector<StringAttr> axes;
  llvm::copy_if(mesh.getNames(), std::back_inserter(axes),
                [&](StringAttr axis) { return mesh.sizeOf(axis) > 1 && keep(axis); });
  return AxesAttr::get(context, axes);
}

NoiseScale::NoiseScale(func::FuncOp function, const Mesh &mesh, int64_t microbatches)
    : function(function), mesh(mesh), microbatches(microbatches), owners(function) {
  llvm::DenseSet<StringAttr> sharded;
  for (BlockArgument input : batchInputs(function))
    if (auto sharding = function.getArgAttrOfType<ShardingAttr>(input.getArgNumber(), CommDialect::kSharding))
      sharded.insert(sharding.getDims().front().getNames().begin(), sharding.getDims().front().getNames().end());
  batchAxes = axesWhere(function.getContext(), mesh, [&](StringAttr axis) { return sharded.contains(axis); });
}

//===----------------------------------------------------------------------===//
// Gradients on their way
//===----------------------------------------------------------------------===//

bool NoiseScale::isBatchReduction(Operation *op) const {
  auto collective = dyn_cast<CollectiveOpInterface>(op);
  return collective && roleOf(collective) == CollectiveRole::Gradient &&
         llvm::any_of(collective.getAxes().getNames(), [&](StringAttr axis) { return batchAxes.contains(axis); });
}

Value NoiseScale::countScale(Value value) {
  Operation *op = value.getDefiningOp();
  while (op && op->getNumOperands() == 1 && tg::phaseOf(op) != tg::Phase::Forward)
    op = op->getOperand(0).getDefiningOp();
  auto type = op ? dyn_cast<RankedTensorType>(op->getResult(0).getType()) : RankedTensorType();
  bool isNumber = type && type.getNumElements() == 1 && op->getNumOperands() != 0;
  return isNumber && tg::phaseOf(op) == tg::Phase::Forward ? op->getResult(0) : Value();
}

Value NoiseScale::step(Value value, Gradient &gradient) {
  // Merged weights have one gradient, which is cut into their parts; all parts are treated alike.
  bool isCut = llvm::all_of(value.getUsers(),
                            [&](Operation *part) { return tg::movesElements(part) && !isBatchReduction(part); });
  for (OpOperand &use : value.getUses()) {
    Operation *user = use.getOwner();
    if (isBatchReduction(user)) {
      auto collective = cast<CollectiveOpInterface>(user);
      gradient.axes = joinAxes(gradient.axes, collective.getAxes());
      if (collective.getReductionKind() == Reduction::Sum)
        gradient.factor *= mesh.sizeOf(collective.getAxes());
      passed.insert(user);
      return user->getResult(use.getOperandNumber());
    }
    if (user->getNumResults() != 1 || user->getNumRegions() != 0)
      continue;
    if (user->getNumOperands() == 1 && (value.hasOneUse() || isCut))
      return user->getResult(0);
    if (user->getNumOperands() != 2)
      continue;
    Value other = user->getOperand(1 - use.getOperandNumber());
    tg::FactsAttr facts = tg::factsOf(user);
    if (tg::kindOf(facts) == tg::TensorKind::Accumulator) {
      gradient.isMicrobatch = true;
      return user->getResult(0);
    }
    if (Value scale = isa<arith::MulFOp>(user) ? countScale(other) : Value()) {
      gradient.scale = scale;
      return user->getResult(0);
    }
  }
  return {};
}

LogicalResult NoiseScale::follow(CollectiveOpInterface op, unsigned number) {
  Gradient gradient{&op->getOpOperand(number), owners.ownerOf(tg::factsOfTensor(op->getResult(number))), op.getAxes()};
  if (op.getReductionKind() == Reduction::Sum)
    gradient.factor = mesh.sizeOf(op.getAxes());
  passed.insert(op);
  for (Value value = op->getResult(number); value;)
    value = step(value, gradient);
  StringRef name = parameterOf(gradient.parameter).getName();
  if (!isSubset(gradient.axes, batchAxes) || !isSubset(batchAxes, gradient.axes))
    return op->emitError() << "comm-noise-scale: the gradient of '" << name << "' is reduced over "
                           << textOf(gradient.axes) << " but the batch is sharded over " << textOf(batchAxes)
                           << ", so the gradient of a rank's own samples is not available";
  if (gradient.isMicrobatch && microbatches < 2)
    return op->emitError() << "comm-noise-scale: the gradient of '" << name
                           << "' is one of several microbatches; add accumulate=";
  gradients.push_back(gradient);
  return success();
}

LogicalResult NoiseScale::findGradients() {
  for (Operation &op : function.front()) {
    if (!isBatchReduction(&op) || passed.contains(&op))
      continue;
    for (unsigned number = 0; number < op.getNumResults(); ++number)
      if (failed(follow(cast<CollectiveOpInterface>(op), number)))
        return failure();
  }
  for (const Gradient &gradient : gradients) {
    const Gradient &first = gradients.front();
    if (gradient.isMicrobatch != first.isMicrobatch || gradient.scale != first.scale)
      return function.emitError() << "comm-noise-scale: one of the gradients of '"
                                  << parameterOf(first.parameter).getName() << "' and '"
                                  << parameterOf(gradient.parameter).getName()
                                  << "' is reduced in each microbatch and the other is not; use unreduced-accumulators";
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Squares
//===----------------------------------------------------------------------===//

AxesAttr NoiseScale::modelAxes(BlockArgument parameter) {
  auto sharding = function.getArgAttrOfType<ShardingAttr>(parameter.getArgNumber(), CommDialect::kSharding);
  llvm::DenseSet<StringAttr> sharded;
  for (AxesAttr axes : sharding ? sharding.getDims() : ArrayRef<AxesAttr>())
    sharded.insert(axes.getNames().begin(), axes.getNames().end());
  return axesWhere(function.getContext(), mesh,
                   [&](StringAttr axis) { return sharded.contains(axis) && !batchAxes.contains(axis); });
}

/// Returns the rank's term of the sum over all ranks. Computes it right before each gradient is sent, because
/// the gradient may be reduced in place. Divides a part by the number of ranks that hold it, so that it counts
/// once.
Value NoiseScale::sumOfSquares() {
  Value total;
  int64_t ranks = mesh.sizeOf(allAxes);
  for (const Gradient &gradient : gradients) {
    OpBuilder builder(gradient.sent->getOwner());
    tg::TensorBuilder b(builder, tg::withPhase(gradient.sent->getOwner()->getLoc(), tg::Phase::Update));
    Value square = b.convert(b.sumAll(b.square(b.widen(gradient.sent->get()))), builder.getF32Type());
    double weight = gradient.factor * gradient.factor * mesh.sizeOf(modelAxes(gradient.parameter)) / ranks;
    square = b.mul(square, weight);
    total = total ? b.add(total, square) : square;
  }
  return total;
}

LogicalResult NoiseScale::measure(Value norm) {
  if (failed(findGradients()))
    return failure();
  if (gradients.empty())
    return success(); // a single rank has the whole batch
  llvm::DenseSet<StringAttr> holders(batchAxes.getNames().begin(), batchAxes.getNames().end());
  for (const Gradient &gradient : gradients)
    for (StringAttr axis : modelAxes(gradient.parameter).getNames())
      holders.insert(axis);
  allAxes = axesWhere(function.getContext(), mesh, [&](StringAttr axis) { return holders.contains(axis); });

  Location loc = tg::withPhase(function.getLoc(), tg::Phase::Update);
  Value local = sumOfSquares();
  OpBuilder builder(function.getContext());
  builder.setInsertionPointAfterValue(local);
  // The count is available where the gradients are scaled by it, but may be defined after this point.
  const Gradient &one = gradients.front();
  if (one.scale) {
    if (Operation *made = one.scale.getDefiningOp(); made && local.getDefiningOp()->isBeforeInBlock(made))
      builder.setInsertionPointAfter(made);
    tg::TensorBuilder b(builder, loc);
    local = b.mul(local, b.square(b.convert(one.scale, builder.getF32Type())));
  }
  tg::TensorBuilder b(builder, loc);
  auto mesh = function->getAttrOfType<ProgramAttr>(CommDialect::kProgram).getMesh();
  local = builder.create<AllReduceOp>(loc, Reduction::Sum, local, mesh, allAxes)->getResult(0);
  builder.setInsertionPoint(returnOf(function));
  Value global = b.square(b.convert(norm, builder.getF32Type()));
  if (one.isMicrobatch)
    local = asWholeBatchOfRank(b, local, global);
  addResult(function, local, tg::Role::GradSqLocal);
  addResult(function, global, tg::Role::GradSqGlobal);
  return success();
}

/// Returns the squared norm for all samples that a rank has in a step. Interpolates on the line over 1/b, in units of
/// the whole batch: between a microbatch at n k and the whole batch at 1, the rank's samples lie at n.
Value NoiseScale::asWholeBatchOfRank(tg::TensorBuilder &b, Value local, Value global) {
  double ranks = mesh.sizeOf(batchAxes), parts = ranks * microbatches;
  Value micro = b.mul(local, double(microbatches) * microbatches);
  return b.add(global, b.mul(b.sub(micro, global), (ranks - 1) / (parts - 1)));
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

namespace {
struct MeasureNoiseScale final : braid::impl::NoiseScalePassBase<MeasureNoiseScale> {
  using NoiseScalePassBase::NoiseScalePassBase;

  void runOnOperation() final {
    func::FuncOp function = getOperation();
    auto program = function->getAttrOfType<ProgramAttr>(CommDialect::kProgram);
    if (!program || function.isExternal() || !updatesParameter(function))
      return;
    FailureOr<Mesh> mesh = Mesh::require(function, program.getMesh());
    if (failed(mesh))
      return signalPassFailure();
    std::optional<unsigned> norm = resultWithRole(function, tg::Role::GradNorm);
    if (!norm) {
      function.emitError() << "comm-noise-scale reads the norm of all gradients, but no result has the role grad_norm; "
                              "run tg-apply-optimizer with report-norm";
      return signalPassFailure();
    }
    Value value = returnOf(function).getOperand(*norm);
    if (failed(NoiseScale(function, *mesh, accumulate).measure(value)))
      signalPassFailure();
  }

private:
  static bool updatesParameter(func::FuncOp function) {
    tg::ProgramSignature signature(function);
    return llvm::any_of(llvm::seq(function.getNumResults()),
                        [&](unsigned index) { return bool(parameterOf(signature.updatedArgument(index))); });
  }
};
} // namespace
