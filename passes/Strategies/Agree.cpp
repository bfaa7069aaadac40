//===- Agree.cpp - decisions that all ranks share -------------------------===//
//
// An agreement is an argument that is a partial value over all ranks and is returned whole: its collective follows
// from the shardings, like all others. The same holds for the logits from which all ranks must draw the same token.
//
//===----------------------------------------------------------------------===//

#include "dialects/Comm/Sharding.h"
#include "mlir/IR/SymbolTable.h"
#include "passes/Base/Signature.h"
#define GEN_PASS_DEF_AGREEPASS
#include "passes/Strategies/Passes.h"

using namespace mlir;
using namespace braid;
using namespace braid::comm;

namespace {
constexpr llvm::StringLiteral kAgree = "agree";
constexpr int64_t kNumValues = 8;

struct Agree final : braid::impl::AgreePassBase<Agree> {
  using AgreePassBase::AgreePassBase;

  void runOnOperation() final {
    SymbolTable symbols(getOperation());
    auto train = symbols.lookup<func::FuncOp>("train");
    if (failed(check(symbols, train)))
      return signalPassFailure();
    MeshOp mesh = *getOperation().getOps<MeshOp>().begin();
    symbol = FlatSymbolRefAttr::get(mesh.getSymNameAttr());
    allAxes = AxesAttr::get(&getContext(), Mesh(mesh).getNames());
    if (train)
      addStop(train);
    for (auto function : getOperation().getOps<func::FuncOp>())
      if (!function.isExternal() && argumentWithRole(function, tg::Role::Position))
        holdLogits(function);
    symbols.insert(makeAgree());
  }

private:
  LogicalResult check(SymbolTable &symbols, func::FuncOp train);
  /// Returns the sharding of a tensor of which each rank holds a partial value.
  ShardingAttr partial(int64_t rank, Reduction reduction) {
    return ShardingAttr::replicated(symbol, rank).withPartial(allAxes, reduction);
  }
  void addStop(func::FuncOp train);
  void holdLogits(func::FuncOp function);
  func::FuncOp makeAgree();

  FlatSymbolRefAttr symbol;
  AxesAttr allAxes;
};
} // namespace

LogicalResult Agree::check(SymbolTable &symbols, func::FuncOp train) {
  ModuleOp module = getOperation();
  auto meshes = module.getOps<MeshOp>();
  if (!llvm::hasSingleElement(meshes))
    return module.emitError() << "comm-agree needs a module with one comm.mesh, found "
                              << std::distance(meshes.begin(), meshes.end());
  if (Operation *other = symbols.lookup(kAgree))
    return other->emitError() << "the module has '" << kAgree << "' already; run comm-agree only once";
  if (!train)
    return success();
  if (train.isExternal() || train->hasAttr(CommDialect::kProgram))
    return train.emitError() << "'train' is " << (train.isExternal() ? "a declaration" : "the program of a rank")
                             << "; comm-agree needs whole tensors, so run it before comm-shard";
  if (argumentWithRole(train, tg::Role::Stop) || resultWithRole(train, tg::Role::Stop))
    return train.emitError() << "'train' has the role '" << tg::stringifyRole(tg::Role::Stop)
                             << "' already; run comm-agree only once";
  return success();
}

void Agree::addStop(func::FuncOp train) {
  Builder builder(&getContext());
  SignatureEditor editor(train);
  BlockArgument stop = editor.scalarInput(tg::Role::Stop, builder.getF32Type());
  editor.addResult(stop, tg::Role::Stop);
  editor.finish();
  train.setArgAttr(stop.getArgNumber(), CommDialect::kSharding, partial(/*rank=*/0, Reduction::Sum));
  train.setResultAttr(train.getNumResults() - 1, CommDialect::kSharding, ShardingAttr::replicated(symbol, /*rank=*/0));
}

/// Replicates the logits of a program that generates text, unless a layout shards them.
void Agree::holdLogits(func::FuncOp function) {
  std::optional<unsigned> result = resultWithRole(function, tg::Role::Logits);
  if (!result || function.getResultAttr(*result, CommDialect::kSharding))
    return;
  int64_t rank = cast<RankedTensorType>(function.getResultTypes()[*result]).getRank();
  function.setResultAttr(*result, CommDialect::kSharding, ShardingAttr::replicated(symbol, rank));
}

func::FuncOp Agree::makeAgree() {
  OpBuilder builder(&getContext());
  Location loc = getOperation().getLoc();
  auto type = RankedTensorType::get({kNumValues}, builder.getI32Type());
  auto agree = func::FuncOp::create(loc, kAgree, builder.getFunctionType(type, type));
  Block *body = agree.addEntryBlock();
  builder.setInsertionPointToEnd(body);
  builder.create<func::ReturnOp>(loc, body->getArgument(0));
  auto role = tg::RoleAttr::get(&getContext(), tg::Role::Values);
  agree.setArgAttr(0, tg::kInput, builder.getStringAttr(tg::stringifyRole(role.getValue())));
  agree.setArgAttr(0, tg::kRole, role);
  agree.setArgAttr(0, CommDialect::kSharding, partial(/*rank=*/1, Reduction::Max));
  agree.setResultAttr(0, tg::kRole, role);
  agree.setResultAttr(0, CommDialect::kSharding, ShardingAttr::replicated(symbol, /*rank=*/1));
  return agree;
}
