//===- ZigzagDims.cpp - dims of a function in zigzag ----------------------===//

#include "passes/Sharding/ZigzagDims.h"

using namespace mlir;
using namespace braid;
using namespace braid::comm;

FailureOr<ZigzagDims> ZigzagDims::of(func::FuncOp function, const Mesh &mesh) {
  FailureOr<std::optional<Zigzag>> zigzag = Zigzag::of(function, mesh);
  if (failed(zigzag))
    return failure();
  ZigzagDims dims;
  dims.zigzag = *zigzag;
  if (dims.zigzag)
    dims.tokens.emplace(function);
  return dims;
}

LogicalResult ZigzagDims::verify(function_ref<InFlightDiagnostic()> emitError, Value value, ShardingAttr sharding,
                                 const Mesh &mesh) const {
  auto type = cast<RankedTensorType>(value.getType());
  for (auto [dim, axes] : llvm::enumerate(sharding.getDims())) {
    std::string problem =
        contains(value, dim, axes) ? zigzag->problemOf(type.getDimSize(dim), axes, mesh) : std::string();
    if (!problem.empty())
      return emitError() << "dim " << dim << " of " << type << " cannot be held as " << sharding << ": " << problem
                         << "; " << kInOrderAdvice;
  }
  return success();
}

std::optional<unsigned> ZigzagDims::factorOf(Operation *op, const ShardingRule &rule, const FactorAxes &axes) const {
  if (!zigzag)
    return std::nullopt;
  SmallVector<TokenDims::Kind> kinds = tokens->kindsOf(op, rule);
  for (auto [factor, list] : llvm::enumerate(axes.factors))
    if (zigzag->shards(list) && kinds[factor] == TokenDims::Kind::Sequence)
      return factor;
  return std::nullopt;
}

ShardingAttr ZigzagDims::atBoundary(Value value, ShardingAttr sharding) const {
  SmallVector<AxesAttr> dims(sharding.getDims());
  for (auto [dim, axes] : llvm::enumerate(dims))
    if (contains(value, dim, axes))
      axes = zigzag->before(axes);
  return sharding.withDims(dims);
}

SmallVector<int64_t> ZigzagDims::orderOf(Value value, const ReshardStep &step, const Mesh &mesh) const {
  if (step.kind == ReshardStep::Kind::AllReduce || step.dim == kFlat || !contains(value, step.dim, step.axes))
    return {};
  return step.kind == ReshardStep::Kind::Slice ? zigzag->heldOrder(step.axes, mesh)
                                               : zigzag->placesInHeldOrder(step.axes, mesh);
}
