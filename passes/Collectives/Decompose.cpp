//===- Decompose.cpp - decompose collectives into transfers ---------------===//

#include "passes/Collectives/Decompose.h"
#include "dialects/TG/Facts.h"
#define GEN_PASS_DEF_COMMDECOMPOSEPASS
#include "passes/Collectives/Passes.h"
#include "passes/Collectives/Simplify.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace braid;
using namespace braid::comm;

/// Returns null for the library.
static std::unique_ptr<Algorithm> makeAlgorithm(CollectiveAlgorithm algorithm) {
  switch (algorithm) {
  case CollectiveAlgorithm::Library:
    return nullptr;
  case CollectiveAlgorithm::Ring:
    return makeRing();
  case CollectiveAlgorithm::Tree:
    return makeTree();
  case CollectiveAlgorithm::Direct:
    return makeDirect();
  case CollectiveAlgorithm::Hierarchical:
    return makeHierarchical();
  }
  llvm_unreachable("unknown algorithm");
}

/// Returns the results, or nothing if the algorithm does not support the op.
static Values resultsBy(const Algorithm &algorithm, Group &group, CollectiveOpInterface op) {
  auto results = llvm::map_to_vector(op->getResultTypes(), [](Type type) { return cast<RankedTensorType>(type); });
  ValueRange sent = op.getSent();
  return llvm::TypeSwitch<Operation *, Values>(op)
      .Case([&](AllReduceOp op) { return algorithm.allReduce(group, op.getKind(), sent); })
      .Case([&](AllGatherOp op) { return algorithm.allGather(group, sent, op.getDims(), results); })
      .Case(
          [&](ReduceScatterOp op) { return algorithm.reduceScatter(group, op.getKind(), sent, op.getDims(), results); })
      .Case([&](AllToAllOp op) { return algorithm.allToAll(group, sent, op.getSplit(), op.getConcat()); })
      .Case([&](BroadcastOp op) { return algorithm.broadcast(group, sent, op.getRoot()); })
      .Default([](Operation *) { return Values(); });
}

/// Upper limit of ranks: a ring of n ranks has 2n messages, and each message names n pairs of ranks.
static constexpr int64_t kMaxRanks = 512;

namespace {
struct CommDecompose final : braid::impl::CommDecomposePassBase<CommDecompose> {
  using CommDecomposePassBase::CommDecomposePassBase;

  void runOnOperation() final {
    func::FuncOp function = getOperation();
    std::unique_ptr<Algorithm> chosen = makeAlgorithm(algorithm);
    auto program = function->getAttrOfType<ProgramAttr>(CommDialect::kProgram);
    if (!chosen || !program || function.isExternal())
      return markAllAnalysesPreserved();
    FailureOr<Mesh> mesh = Mesh::require(function, program.getMesh());
    if (failed(mesh))
      return signalPassFailure();
    SmallVector<CollectiveOpInterface> collectives;
    function.walk([&](CollectiveOpInterface op) {
      if (!op.getRow().isTransfer() && op.getMeshAttr() == program.getMesh())
        collectives.push_back(op);
    });
    for (CollectiveOpInterface op : collectives)
      if (failed(decompose(op, *chosen, *mesh, program)))
        return signalPassFailure();
  }

private:
  LogicalResult decompose(CollectiveOpInterface op, const Algorithm &chosen, const Mesh &mesh, ProgramAttr program) {
    OpBuilder builder(op);
    Group group(builder, op, mesh);
    Operation *before = op->getPrevNode();
    if (!chosen.supports(group))
      return success();
    if (group.n > kMaxRanks)
      return op->emitError() << op->getName() << " is over " << group.n << " ranks, but a collective of more than "
                             << kMaxRanks
                             << " is not decomposed, because each message is an op of the program; leave it to the "
                                "library, or decompose it by \"hierarchical\" over smaller axes";
    if (isa<StartOp>(op->getParentOp()))
      return leave(op, "it is in a comm.start; decompose before communication is scheduled");
    // The function on the other side would need the same decomposition.
    if (program.getAxis() && op.getAxes().contains(program.getAxis()))
      return leave(op, "ranks of its group run another function");
    Values results = group.n == 1 ? resultsOfOneRank(op, builder).value_or(Values()) : resultsBy(chosen, group, op);
    if (results.size() != op->getNumResults() || results.empty())
      return leave(op, "the algorithm does not support it");
    transferFacts(op, before ? before->getNextNode() : &op->getBlock()->front());
    tg::replaceAndTransferFacts(op, results);
    return success();
  }

  /// Gives each op from `first` up to `op` the phase and the unit of the tensor whose part it handles.
  static void transferFacts(CollectiveOpInterface op, Operation *first) {
    DenseMap<Value, tg::FactsAttr> known;
    for (auto [sent, result] : llvm::zip(op.getSent(), op->getResults()))
      known[sent] = tg::factsOfTensor(result);
    for (Operation *made = first; made != op; made = made->getNextNode()) {
      bool isOneForOne = made->getNumResults() == made->getNumOperands();
      SmallVector<tg::FactsAttr> facts;
      for (OpResult result : made->getResults()) {
        ValueRange from = isOneForOne ? made->getOperands().slice(result.getResultNumber(), 1) : made->getOperands();
        auto part = llvm::find_if(from, [&](Value operand) { return known.lookup(operand) != nullptr; });
        tg::FactsAttr whole = part == from.end() ? tg::FactsAttr() : known.lookup(*part);
        facts.push_back(whole ? tg::getFacts(op.getContext(), whole.getPhase(), tg::unitOf(whole)) : whole);
        known[result] = facts.back();
      }
      made->setLoc(tg::withFacts(made->getLoc(), facts));
    }
  }

  LogicalResult leave(CollectiveOpInterface op, StringRef why) {
    op->emitRemark() << op->getName() << " is not decomposed by \"" << cli::wordOf(algorithm.getValue())
                     << "\": " << why;
    return success();
  }
};
} // namespace
