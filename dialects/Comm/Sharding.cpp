//===- Sharding.cpp - the part of a tensor that a rank holds --------------===//

#include "dialects/Comm/Sharding.h"
#include "dialects/Interfaces/Divisors.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/ADT/SmallPtrSet.h"

using namespace mlir;
using namespace braid::comm;

/// Reports an axis that a sharding uses twice.
static LogicalResult verifyOnce(function_ref<InFlightDiagnostic()> emitError, ShardingAttr sharding) {
  SmallPtrSet<StringAttr, 4> seen;
  auto visit = [&](AxesAttr axes) -> LogicalResult {
    for (StringAttr axis : axes.getNames())
      if (!seen.insert(axis).second)
        return emitError() << "axis '" << axis.getValue() << "' is used twice in " << sharding;
    return success();
  };
  for (AxesAttr axes : sharding.getDims())
    if (failed(visit(axes)))
      return failure();
  return success(succeeded(visit(sharding.getPartial())) && succeeded(visit(sharding.getFlat())));
}

LogicalResult braid::comm::verifySharding(function_ref<InFlightDiagnostic()> emitError, const Mesh &mesh,
                                          ShardingAttr sharding, RankedTensorType type) {
  if (static_cast<int64_t>(sharding.getDims().size()) != type.getRank())
    return emitError() << sharding << " has " << sharding.getDims().size() << " dims but the tensor " << type << " has "
                       << type.getRank();
  if (!type.hasStaticShape())
    return emitError() << type << " is sharded by " << sharding << ", but its sizes are not all known";
  SmallVector<AxesAttr> lists(sharding.getDims());
  lists.append({sharding.getPartial(), sharding.getFlat()});
  for (AxesAttr axes : lists)
    if (failed(verifyAxes(emitError, mesh, axes)))
      return failure();
  if (failed(verifyOnce(emitError, sharding)))
    return failure();
  for (auto [dim, axes] : llvm::enumerate(sharding.getDims()))
    if (int64_t ranks = mesh.sizeOf(axes); type.getDimSize(dim) % ranks != 0)
      return emitError() << "dim " << dim << " of size " << type.getDimSize(dim) << " does not divide into " << ranks
                         << " equal blocks over " << axes.str() << "; pad it with tg.pad, or shard the tensor flat: "
                         << nearestDivisibleSizes(type.getDimSize(dim), ranks);
  return success();
}

RankedTensorType braid::comm::localDimsType(RankedTensorType type, ShardingAttr sharding, const Mesh &mesh) {
  SmallVector<int64_t> shape(type.getShape());
  for (auto [size, axes] : llvm::zip_equal(shape, sharding.getDims()))
    size /= mesh.sizeOf(axes);
  return type.clone(shape);
}

RankedTensorType braid::comm::localType(RankedTensorType type, ShardingAttr sharding, const Mesh &mesh) {
  RankedTensorType local = localDimsType(type, sharding, mesh);
  return sharding.isFlat() ? blockType(local, kFlat, mesh.sizeOf(sharding.getFlat())) : local;
}

RankedTensorType braid::comm::blockType(RankedTensorType whole, int64_t dim, int64_t ranks) {
  if (dim == kFlat)
    return whole.clone({flatRange(whole.getNumElements(), ranks)});
  SmallVector<int64_t> shape(whole.getShape());
  assert(shape[dim] % ranks == 0 && "blocks are equal");
  shape[dim] /= ranks;
  return whole.clone(shape);
}

RankedTensorType braid::comm::wholeType(RankedTensorType block, int64_t dim, int64_t ranks) {
  SmallVector<int64_t> shape(block.getShape());
  shape[dim] *= ranks;
  return block.clone(shape);
}

int64_t braid::comm::flatRange(int64_t elements, int64_t ranks) { return (elements + ranks - 1) / ranks; }

ShardingAttr braid::comm::shardingOfArgument(Operation *function, unsigned argument, FlatSymbolRefAttr mesh) {
  auto op = cast<FunctionOpInterface>(function);
  if (auto sharding = op.getArgAttrOfType<ShardingAttr>(argument, CommDialect::kSharding))
    return sharding;
  auto type = dyn_cast<RankedTensorType>(op.getArgumentTypes()[argument]);
  return ShardingAttr::replicated(mesh, type ? type.getRank() : 0);
}

ShardingAttr braid::comm::shardingOfResult(Operation *function, unsigned result, FlatSymbolRefAttr mesh) {
  auto op = cast<FunctionOpInterface>(function);
  if (auto sharding = op.getResultAttrOfType<ShardingAttr>(result, CommDialect::kSharding))
    return sharding;
  auto type = dyn_cast<RankedTensorType>(op.getResultTypes()[result]);
  return ShardingAttr::replicated(mesh, type ? type.getRank() : 0);
}
