//===- Simplify.cpp - fewer and smaller collectives -----------------------===//
//
// Removes duplicate ops and applies the rules of SimplifyGroups, SimplifySlices, SimplifyMerges and
// SimplifyConverts, until neither changes anything.
//
//===----------------------------------------------------------------------===//

#include "passes/Collectives/Simplify.h"
#include "dialects/TG/TG.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#define GEN_PASS_DEF_COMMSIMPLIFYPASS
#include "passes/Collectives/Passes.h"
#include "llvm/ADT/DenseSet.h"

using namespace mlir;
using namespace braid;
using namespace braid::comm;

bool Ranks::mayRewrite(Operation *op) const {
  auto axes = op->getAttrOfType<AxesAttr>("axes");
  if (!axes || op->getAttr("mesh") != program.getMesh() || isa_and_nonnull<StartOp>(op->getParentOp()))
    return false;
  if (!isa<CollectiveOpInterface>(op))
    return true;
  // If a group spans functions, another function holds its other side. In memory form the order of actions is
  // fixed.
  bool spansFunctions = program.getAxis() && axes.contains(program.getAxis());
  bool isOnValues = llvm::all_of(op->getOperandTypes(), llvm::IsaPred<RankedTensorType>);
  return !spansFunctions && isOnValues;
}

namespace {

/// Hashes and compares ops by name, attributes and operands.
struct SameOp : DenseMapInfo<Operation *> {
  static unsigned getHashValue(const Operation *op) {
    return OperationEquivalence::computeHash(const_cast<Operation *>(op), OperationEquivalence::directHashValue,
                                             OperationEquivalence::ignoreHashValue,
                                             OperationEquivalence::IgnoreLocations);
  }
  static bool isEqual(const Operation *a, const Operation *b) {
    auto isNone = [](const Operation *op) { return op == getEmptyKey() || op == getTombstoneKey(); };
    if (a == b || isNone(a) || isNone(b))
      return a == b;
    return OperationEquivalence::isEquivalentTo(const_cast<Operation *>(a), const_cast<Operation *>(b),
                                                OperationEquivalence::IgnoreLocations);
  }
};

/// Updates the analysis, and records whether anything changed.
struct Watch final : RewriterBase::Listener {
  explicit Watch(Replication &replication) : replication(replication) {}
  void notifyOperationInserted(Operation *op, OpBuilder::InsertPoint) final { update(op); }
  void notifyOperationModified(Operation *op) final { update(op); }
  void notifyOperationErased(Operation *op) final { changed |= isa_and_nonnull<CommDialect>(op->getDialect()); }

  Replication &replication;
  bool changed = false;

private:
  void update(Operation *op) {
    replication.update(op);
    changed |= isa_and_nonnull<CommDialect>(op->getDialect());
  }
};

struct Simplify final : braid::impl::CommSimplifyPassBase<Simplify> {
  void runOnOperation() final {
    func::FuncOp function = getOperation();
    auto program = function->getAttrOfType<ProgramAttr>(CommDialect::kProgram);
    if (!program || function.isExternal())
      return markAllAnalysesPreserved();
    FailureOr<Mesh> mesh = Mesh::require(function, program.getMesh());
    if (failed(mesh))
      return signalPassFailure();
    Ranks ranks{program, *mesh, Replication(function, program, *mesh)};
    RewritePatternSet patterns(&getContext());
    populateSimplifyGroups(patterns, ranks);
    populateSimplifySlices(patterns, ranks);
    populateSimplifyMerges(patterns, ranks);
    populateSimplifyConverts(patterns, ranks);
    FrozenRewritePatternSet rules(std::move(patterns));

    GreedyRewriteConfig config;
    config.useTopDownTraversal = true;
    config.enableRegionSimplification = GreedySimplifyRegionLevel::Disabled;
    // A round may leave duplicate ops, and values not yet known to be replicated. Rounds repeat until one
    // changes nothing; more than two are rare.
    bool changed = true;
    while (changed) {
      removeDuplicates(ranks);
      ranks.replication = Replication(function, program, *mesh);
      Watch watch(ranks.replication);
      config.listener = &watch;
      (void)applyPatternsAndFoldGreedily(function, rules, config);
      changed = watch.changed;
    }
  }

private:
  /// Replaces equal ops of the comm dialect by one op.
  void removeDuplicates(const Ranks &ranks) {
    for (Block &block : getOperation().getBody()) {
      llvm::DenseSet<Operation *, SameOp> seen;
      for (Operation &op : llvm::make_early_inc_range(block)) {
        if (op.getNumResults() == 0 || !isa_and_nonnull<CommDialect>(op.getDialect()) || !ranks.mayRewrite(&op))
          continue;
        auto [first, isNew] = seen.insert(&op);
        if (isNew)
          continue;
        op.replaceAllUsesWith(*first);
        op.erase();
      }
    }
  }
};
} // namespace
