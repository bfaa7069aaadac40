//===- ExpertParallel.cpp - experts on different ranks --------------------===//
//
// What an op sends to destinations, others compute for each destination with weights of its own:
// these have a dim for the same factor of the ops' sharding rules.  Following that factor from what
// is routed finds the weights, and shows how many destinations there are.
//
//===----------------------------------------------------------------------===//

#include "dialects/Comm/Sharding.h"
#include "dialects/Interfaces/Routing.h"
#include "lib/Sharding/AxisLists.h"
#include "lib/Sharding/CommonDims.h"
#include "passes/Graph/Signature.h"
#include "passes/Strategies/LayoutText.h"
#include "passes/Strategies/OnlyMesh.h"
#include "passes/Strategies/Passes.h"
#include "llvm/ADT/StringExtras.h"

namespace braid {
#define GEN_PASS_DEF_EXPERTPARALLELPASS
#include "passes/Strategies/Passes.h.inc"
} // namespace braid

using namespace mlir;
using namespace braid;
using namespace braid::comm;

namespace {
struct ExpertParallel final : braid::impl::ExpertParallelPassBase<ExpertParallel> {
  using ExpertParallelPassBase::ExpertParallelPassBase;

  void runOnOperation() final {
    if (failed(readOptions()))
      return signalPassFailure();
    bool hasExperts = false;
    for (auto function : getOperation().getOps<func::FuncOp>()) {
      if (function.isExternal() || function->hasAttr(CommDialect::kProgram))
        continue;
      FailureOr<bool> found = shardExperts(function);
      if (failed(found))
        return signalPassFailure();
      hasExperts |= *found;
    }
    if (!hasExperts && failed(refuseWithoutExperts()))
      return signalPassFailure();
  }

private:
  LogicalResult readOptions();
  FailureOr<bool> shardExperts(func::FuncOp function);
  LogicalResult checkNumber(RoutingOpInterface routing, int64_t destinations);
  LogicalResult annotate(func::FuncOp function, BlockArgument weight, unsigned dim);
  LogicalResult refuseWithoutExperts();

  FlatSymbolRefAttr symbol;
  std::optional<Mesh> mesh;
  AxesAttr axes; ///< The one axis.
  int64_t ranks = 1;
};
} // namespace

LogicalResult ExpertParallel::readOptions() {
  FailureOr<GlobalMesh> found = onlyMesh(getOperation(), "comm-expert-parallel");
  if (failed(found))
    return failure();
  symbol = found->symbol;
  mesh = found->mesh;
  axes = axesNamed(&getContext(), {axis});
  auto emitError = [&] { return getOperation().emitError() << "comm-expert-parallel: "; };
  if (failed(verifyAxes(emitError, *mesh, axes)))
    return failure();
  ranks = mesh->sizeOf(axes);
  return success();
}

LogicalResult ExpertParallel::refuseWithoutExperts() {
  return getOperation().emitError() << "comm-expert-parallel: nothing in the model is computed by experts with weights "
                                       "of their own, so the "
                                    << ranks << " ranks of '" << axis
                                    << "' would all do the same: leave the axis out of the mesh";
}

/// The numbers of ranks below and above that divide what the ranks do not.
LogicalResult ExpertParallel::checkNumber(RoutingOpInterface routing, int64_t destinations) {
  if (destinations % ranks == 0)
    return success();
  SmallVector<std::string, 2> nearest;
  int64_t below = std::min(ranks, destinations), above = ranks + 1;
  while (destinations % below != 0)
    --below;
  nearest.push_back(axis + "=" + std::to_string(below));
  while (above < destinations && destinations % above != 0)
    ++above;
  if (above <= destinations)
    nearest.push_back(axis + "=" + std::to_string(above));
  return routing->emitOpError() << "sends tokens to " << destinations << " experts, which " << axis << "=" << ranks
                                << " does not divide; the nearest that does is " << llvm::join(nearest, " or ");
}

LogicalResult ExpertParallel::annotate(func::FuncOp function, BlockArgument weight, unsigned dim) {
  unsigned number = weight.getArgNumber();
  ShardingAttr whole = shardingOfArgument(function, number, symbol);
  SmallVector<AxesAttr> dims(whole.getDims());
  dims[dim] = joinAxes(dims[dim], axes);
  ShardingAttr sharding = whole.withDims(dims);
  auto emitError = [&] {
    return function.emitError() << nameOfArgument(function, number) << " cannot be sharded by expert: ";
  };
  if (failed(verifySharding(emitError, *mesh, sharding, cast<RankedTensorType>(weight.getType()))))
    return failure();
  function.setArgAttr(number, CommDialect::kSharding, sharding);
  return success();
}

/// Whether there are experts.
FailureOr<bool> ExpertParallel::shardExperts(func::FuncOp function) {
  CommonDims dims;
  for (Operation &op : function.front())
    if (auto routing = dyn_cast<RoutingOpInterface>(op)) {
      OpResult routed = routing.getRouted();
      unsigned dim = routing.getDestinationDim();
      if (failed(checkNumber(routing, cast<RankedTensorType>(routed.getType()).getDimSize(dim))))
        return failure();
      dims.add(routed, dim);
    }
  SmallVector<std::pair<BlockArgument, int64_t>> experts;
  for (auto [value, dim] : dims.all())
    if (auto argument = dyn_cast<BlockArgument>(value); argument && parameterOf(argument))
      experts.emplace_back(argument, dim);
  auto isSaid = [&](auto &expert) {
    return function.getArgAttr(expert.first.getArgNumber(), CommDialect::kSharding) != nullptr;
  };
  bool hasExperts = !experts.empty();
  llvm::erase_if(experts, isSaid);
  for (auto [weight, dim] : experts)
    if (failed(annotate(function, weight, dim)))
      return failure();
  if (!experts.empty())
    function.emitRemark() << axis << " = " << ranks << " shards " << layoutText(experts, axis);
  return hasExperts;
}
