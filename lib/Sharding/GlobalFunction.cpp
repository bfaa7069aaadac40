//===- GlobalFunction.cpp - shardings in a global function ----------------===//

#include "lib/Sharding/GlobalFunction.h"
#include "dialects/TG/ProgramSignature.h"
#include "dialects/TG/TG.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace braid;
using namespace braid::comm;

ShardingAttr braid::requestOf(Operation *op) {
  if (auto constrain = dyn_cast<ConstrainOp>(op))
    return constrain.getSharding();
  if (auto reshard = dyn_cast<ReshardOp>(op))
    return reshard.getSharding();
  return {};
}

bool braid::yieldsToOthers(Operation *op) {
  auto constrain = dyn_cast<ConstrainOp>(op);
  return constrain && constrain.getYielding();
}

ShardingAttr braid::shardingOf(Value value) {
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    auto function = dyn_cast<func::FuncOp>(argument.getOwner()->getParentOp());
    return function ? function.getArgAttrOfType<ShardingAttr>(argument.getArgNumber(), CommDialect::kSharding)
                    : ShardingAttr();
  }
  auto result = cast<OpResult>(value);
  if (ShardingAttr request = requestOf(result.getOwner()))
    return request;
  auto all = result.getOwner()->getAttrOfType<ArrayAttr>(CommDialect::kShardings);
  return all ? cast<ShardingAttr>(all[result.getResultNumber()]) : ShardingAttr();
}

namespace {
/// Finds the first sharding of a function, and checks that all others name its mesh.
struct MeshReader {
  Location first;
  FlatSymbolRefAttr mesh = {};

  LogicalResult read(ShardingAttr sharding, Location loc) {
    if (!sharding || (mesh && sharding.getMesh() == mesh))
      return success();
    if (mesh) {
      InFlightDiagnostic diagnostic = emitError(loc)
                                      << "a sharding names the mesh " << sharding.getMesh() << ", but other "
                                      << "shardings of the function name " << mesh << "; use one mesh with all axes";
      diagnostic.attachNote(first) << "here is " << mesh;
      return diagnostic;
    }
    mesh = sharding.getMesh();
    first = loc;
    return success();
  }
};
} // namespace

/// Checks an op of a global function, which computes with whole tensors. Ops on the parts of
/// ranks have no meaning there: the sum of a whole value over the ranks is not that value.
static LogicalResult checkOp(Operation &op) {
  if (llvm::isa_and_nonnull<CommDialect>(op.getDialect()) && !requestOf(&op))
    return op.emitOpError() << "belongs in the program of a rank (comm.program), but the function has shardings of "
                               "whole tensors; use comm.constrain instead, or drop the shardings";
  for (Type type : op.getResultTypes())
    if (!isa<RankedTensorType>(type))
      return op.emitOpError() << "yields " << type << ", but functions with shardings may contain only ranked tensors";
  return success();
}

static LogicalResult checkContents(func::FuncOp function) {
  if (!function.getBody().hasOneBlock())
    return function.emitError() << "has " << function.getBody().getBlocks().size()
                                << " blocks; only straight-line functions can be sharded";
  for (BlockArgument argument : function.getArguments())
    if (!isa<RankedTensorType>(argument.getType()))
      return function.emitError() << nameOfArgument(function, argument.getArgNumber()) << " is " << argument.getType()
                                  << ", but functions with shardings may contain only ranked tensors";
  bool isOk = true;
  for (Operation &op : function.getBody().front())
    isOk &= succeeded(checkOp(op));
  return success(isOk);
}

FailureOr<std::optional<GlobalMesh>> braid::meshOfGlobal(func::FuncOp function) {
  std::optional<GlobalMesh> none;
  if (function.isExternal() || function->hasAttr(CommDialect::kProgram))
    return none;
  MeshReader reader{function.getLoc()};
  for (BlockArgument argument : function.getArguments())
    if (failed(reader.read(shardingOf(argument), argument.getLoc())))
      return failure();
  for (unsigned i = 0; i < function.getNumResults(); ++i)
    if (failed(reader.read(function.getResultAttrOfType<ShardingAttr>(i, CommDialect::kSharding), function.getLoc())))
      return failure();
  bool isOk = true;
  function.getBody().walk([&](Operation *op) {
    for (OpResult result : op->getResults())
      isOk = isOk && succeeded(reader.read(shardingOf(result), op->getLoc()));
  });
  if (!isOk || (reader.mesh && failed(checkContents(function))))
    return failure();
  if (!reader.mesh)
    return none;
  FailureOr<Mesh> mesh = Mesh::require(function, reader.mesh);
  if (failed(mesh))
    return failure();
  return std::optional<GlobalMesh>(GlobalMesh{reader.mesh, *mesh});
}

ShardingAttr braid::withoutUnitAxes(ShardingAttr sharding, const Mesh &mesh) {
  auto strip = [&](AxesAttr axes) {
    auto kept = llvm::make_filter_range(axes.getNames(), [&](StringAttr name) { return mesh.sizeOf(name) != 1; });
    return AxesAttr::get(axes.getContext(), SmallVector<StringAttr>(kept), axes.getOpen());
  };
  SmallVector<AxesAttr> dims = llvm::map_to_vector(sharding.getDims(), strip);
  return sharding.withDims(dims)
      .withPartial(strip(sharding.getPartial()), sharding.getReduction())
      .withFlat(strip(sharding.getFlat()));
}

std::string braid::nameOfArgument(func::FuncOp function, unsigned argument) {
  std::string text = "argument #" + std::to_string(argument);
  StringAttr name = tg::nameOf(function.getArgAttrDict(argument));
  return name ? text + " '" + name.str() + "'" : text;
}

std::string braid::nameOfResult(func::FuncOp function, unsigned result) {
  std::string text = tg::ResultAttrs(function, result).text();
  return "result #" + std::to_string(result) + (text.empty() ? "" : " (" + text + ")");
}
