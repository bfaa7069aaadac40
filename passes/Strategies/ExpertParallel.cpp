//===- ExpertParallel.cpp - experts on different ranks --------------------===//
//
// A routing op sends rows to destinations, and other ops compute for each destination with its own weights. These
// weights have a dim for the same factor of the ops' sharding rules. The pass follows this factor from the routed
// value to find the weights and the number of destinations.
//
//===----------------------------------------------------------------------===//

#include "dialects/Comm/Sharding.h"
#include "dialects/Interfaces/Divisors.h"
#include "dialects/Interfaces/Routing.h"
#include "lib/Sharding/AxisLists.h"
#include "lib/Sharding/CommonDims.h"
#include "passes/Base/Signature.h"
#include "passes/Strategies/LayoutText.h"
#include "passes/Strategies/OnlyMesh.h"
#define GEN_PASS_DEF_EXPERTPARALLELPASS
#include "passes/Strategies/Passes.h"
#include "llvm/ADT/StringExtras.h"

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
    if (!hasExperts)
      noteWithoutExperts();
  }

private:
  LogicalResult readOptions();
  FailureOr<bool> shardExperts(func::FuncOp function);
  LogicalResult checkNumber(RoutingOpInterface routing, int64_t destinations);
  LogicalResult annotate(func::FuncOp function, BlockArgument weight, unsigned dim);
  void noteWithoutExperts();

  FlatSymbolRefAttr symbol;
  std::optional<Mesh> mesh;
  AxesAttr expertAxes;
  std::string ofExperts; ///< Text such as `ep = 2` or `dp x cp = 4`.
  int64_t ranks = 1;
};
} // namespace

LogicalResult ExpertParallel::readOptions() {
  FailureOr<GlobalMesh> found = onlyMesh(getOperation(), "comm-expert-parallel");
  if (failed(found))
    return failure();
  symbol = found->symbol;
  mesh = found->mesh;
  const std::string usual[] = {"ep"};
  ArrayRef<std::string> names = axes.empty() ? ArrayRef(usual) : ArrayRef<std::string>(*axes);
  expertAxes = axesNamed(&getContext(), names);
  auto emitError = [&] { return getOperation().emitError() << "comm-expert-parallel: "; };
  if (failed(verifyAxes(emitError, *mesh, expertAxes)))
    return failure();
  ranks = mesh->sizeOf(expertAxes);
  ofExperts = llvm::join(names, " x ") + " = " + std::to_string(ranks);
  return success();
}

void ExpertParallel::noteWithoutExperts() {
  getOperation().emitRemark() << "comm-expert-parallel: the model has no experts with their own weights, so "
                              << ofExperts << " shards only the batch, as dp does";
}

LogicalResult ExpertParallel::checkNumber(RoutingOpInterface routing, int64_t destinations) {
  if (destinations % ranks == 0)
    return success();
  SmallVector<int64_t, 2> divisors = nearestDivisors(destinations, ranks);
  InFlightDiagnostic error = routing->emitOpError() << "sends tokens to " << destinations << " experts, which "
                                                    << ofExperts << " does not divide";
  return divisors.empty() ? error : error << "; " << joinNumbers(divisors, "or") << " ranks would";
}

LogicalResult ExpertParallel::annotate(func::FuncOp function, BlockArgument weight, unsigned dim) {
  unsigned number = weight.getArgNumber();
  ShardingAttr whole = shardingOfArgument(function, number, symbol);
  SmallVector<AxesAttr> dims(whole.getDims());
  dims[dim] = joinAxes(dims[dim], expertAxes);
  ShardingAttr sharding = whole.withDims(dims);
  auto emitError = [&] {
    return function.emitError() << nameOfArgument(function, number) << " cannot be sharded by expert: ";
  };
  if (failed(verifySharding(emitError, *mesh, sharding, cast<RankedTensorType>(weight.getType()))))
    return failure();
  function.setArgAttr(number, CommDialect::kSharding, sharding);
  return success();
}

/// Shards the weights of experts. Returns whether there are any.
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
  for (BlockArgument argument : function.getArguments())
    for (int64_t dim = 0; parameterOf(argument) && dim < cast<RankedTensorType>(argument.getType()).getRank(); ++dim)
      if (dims.contains(argument, dim))
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
    function.emitRemark() << ofExperts << " shards " << layoutText(experts, expertAxes);
  return hasExperts;
}
