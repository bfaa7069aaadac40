//===- ChunkContractions.cpp - overlap a collective with its contractions -===//
//
// ChunkSite finds the contractions of a collective; ChunkCosts predicts their time.
//
//===----------------------------------------------------------------------===//

#include "dialects/Comm/Mesh.h"
#include "lib/Cost/Seconds.h"
#include "lib/Schedule/Forward.h"
#include "passes/Collectives/ChunkCosts.h"
#include "passes/Collectives/CollectiveRoles.h"
#include "passes/Collectives/Passes.h"

namespace braid {
#define GEN_PASS_DEF_CHUNKCONTRACTIONSPASS
#include "passes/Collectives/Passes.h.inc"
} // namespace braid

using namespace mlir;
using namespace braid;
using namespace braid::comm;

/// Numbers of chunks to try by default.
static constexpr int64_t kCounts[] = {2, 4, 8};
/// The least share of the time that chunks must save.
static constexpr double kMinGain = 0.01;

namespace {
/// Totals of some sites: their number and predicted seconds.
struct Sum {
  int64_t sites = 0;
  double whole = 0, inChunks = 0;

  void add(double asOne, double asChunks) {
    ++sites;
    whole += asOne;
    inChunks += asChunks;
  }
};

/// Results for the collectives of a program.
struct Outcome {
  Sum split, slower;
  int64_t withoutRows = 0;
  int64_t fewest = 0, most = 0; ///< Fewest and most chunks of a site.

  int64_t sites() const { return split.sites + slower.sites + withoutRows; }
};

struct ChunkContractions final : braid::impl::ChunkContractionsPassBase<ChunkContractions> {
  using ChunkContractionsPassBase::ChunkContractionsPassBase;

  void runOnOperation() final {
    func::FuncOp function = getOperation();
    machine = machineOf(getOperation());
    if (failed(machine) || failed(checkAxes()))
      return signalPassFailure();
    auto program = function->getAttrOfType<ProgramAttr>(CommDialect::kProgram);
    if (!program || axes.empty() || function.isExternal() || !function.getBody().hasOneBlock())
      return markAllAnalysesPreserved();
    FailureOr<Mesh> mesh = Mesh::require(function, program.getMesh());
    if (failed(mesh))
      return signalPassFailure();
    Outcome outcome;
    for (auto collective : llvm::to_vector(function.getOps<CollectiveOpInterface>()))
      if (isOverAxes(collective, program) && !roleOf(collective))
        if (std::optional<ChunkSite> site = ChunkSite::find(collective))
          decide(*site, *mesh, outcome);
    remark(outcome);
  }

private:
  LogicalResult checkAxes();
  bool isOverAxes(CollectiveOpInterface collective, ProgramAttr program) const;
  void decide(ChunkSite &site, const Mesh &mesh, Outcome &outcome) const;
  void remark(const Outcome &outcome);

  FailureOr<Machine> machine;
};
} // namespace

LogicalResult ChunkContractions::checkAxes() {
  for (auto op : getOperation()->getParentOfType<ModuleOp>().getOps<MeshOp>())
    for (const std::string &axis : axes)
      if (Mesh mesh(op); !mesh.has(StringAttr::get(&getContext(), axis)))
        return getOperation().emitError()
               << "comm-chunk-contractions: unknown mesh axis '" << axis << "' (mesh: " << mesh.str() << ")";
  return success();
}

/// Whether all ranks of its group run this function, and its axes are among the pass's axes.
bool ChunkContractions::isOverAxes(CollectiveOpInterface collective, ProgramAttr program) const {
  return llvm::all_of(collective.getAxes().getNames(), [&](StringAttr axis) {
    return axis != program.getAxis() && llvm::is_contained(axes, axis.getValue());
  });
}

/// Splits a site if that is predicted to save time, into the number of chunks with the least time.
void ChunkContractions::decide(ChunkSite &site, const Mesh &mesh, Outcome &outcome) const {
  AxesAttr group = site.getCollective().getAxes();
  int64_t ranks = mesh.sizeOf(group);
  ChunkCosts costs(machine->compute, machine->linkOver(group, mesh), inOrder);
  SmallVector<int64_t> counts(std::begin(kCounts), std::end(kCounts));
  if (chunks != 0)
    counts.assign(1, chunks);
  llvm::erase_if(counts, [&](int64_t count) { return !site.canSplit(count); });
  if (counts.empty()) {
    ++outcome.withoutRows;
    return;
  }
  int64_t best = counts.front();
  double whole = costs.of(site, ranks, 1), least = costs.of(site, ranks, best);
  for (int64_t count : ArrayRef(counts).drop_front())
    if (double seconds = costs.of(site, ranks, count); seconds < least) {
      least = seconds;
      best = count;
    }
  if (least > (1 - kMinGain) * whole)
    return outcome.slower.add(whole, least);
  outcome.split.add(whole, least);
  outcome.fewest = outcome.fewest ? std::min(outcome.fewest, best) : best;
  outcome.most = std::max(outcome.most, best);
  site.split(best);
}

/// Emits a remark, or a warning if chunks were requested for a training program and no site was split.
void ChunkContractions::remark(const Outcome &outcome) {
  func::FuncOp function = getOperation();
  if (llvm::none_of(function.getOps(), [](Operation &op) { return isContraction(&op); }))
    return;
  bool isIgnored = chunks != 0 && outcome.split.sites == 0 && isTraining(function);
  InFlightDiagnostic remark = isIgnored ? emitWarning(function.getLoc()) : emitRemark(function.getLoc());
  std::string where = "over {" + llvm::join(axes, ", ") + "}";
  remark << "@" << function.getName() << ": ";
  if (outcome.sites() == 0) {
    remark << "no collective " << where << " has adjacent contractions that can be computed in chunks of rows";
    return;
  }
  remark << outcome.split.sites << " of " << outcome.sites() << " collectives " << where
         << " with adjacent contractions are split into ";
  if (outcome.split.sites == 0)
    chunks ? remark << int64_t(chunks) : remark << kCounts[0] << " to " << kCounts[std::size(kCounts) - 1];
  else if (outcome.fewest == outcome.most)
    remark << outcome.most;
  else
    remark << outcome.fewest << " to " << outcome.most;
  remark << " chunks";
  if (outcome.split.sites)
    remark << ", and take " << formatMicroseconds(outcome.split.inChunks) << " instead of "
           << formatMicroseconds(outcome.split.whole);
  if (outcome.slower.sites)
    remark << "; " << outcome.slower.sites << " would gain less than a percent, "
           << formatMicroseconds(outcome.slower.inChunks) << " instead of " << formatMicroseconds(outcome.slower.whole);
  if (outcome.withoutRows)
    remark << "; the rows of " << outcome.withoutRows << " do not divide into as many chunks";
}
