//===- ChunkContractions.cpp - overlap a collective with its contractions -===//
//
// ChunkSite finds the contractions of a collective; ChunkCosts predicts their time.
//
//===----------------------------------------------------------------------===//

#include "dialects/Comm/Mesh.h"
#include "lib/Cost/Cost.h"
#include "lib/Cost/Machine.h"
#include "lib/Schedule/Forward.h"
#include "passes/Collectives/ChunkSite.h"
#include "passes/Collectives/CollectiveRoles.h"
#define GEN_PASS_DEF_CHUNKCONTRACTIONSPASS
#include "passes/Collectives/Passes.h"

using namespace mlir;
using namespace braid;
using namespace braid::comm;

//===----------------------------------------------------------------------===//
// Costs
//
// Computation and the link have one clock each, as in lib/Schedule/Timeline.h. Contractions count with their
// time, and other chunked ops with their launches: sums become a part of calls, and the remaining work is the
// same in chunks. Joining chunks is free if each chunk is written to its place in the whole.
//===----------------------------------------------------------------------===//

namespace {
/// Predicts the time of a collective and its adjacent contractions, whole and in chunks.
class ChunkCosts {
public:
  /// `inOrder`: no op is moved next to the wait for a collective (comm-fill-waits does not run).
  ChunkCosts(const ComputeRates &compute, const LinkRates &link, bool inOrder)
      : compute(compute), link(link), inOrder(inOrder) {}

  /// Returns the seconds from the first contraction or message to the last, for `count` chunks in a group of
  /// `ranks`.
  double of(const ChunkSite &site, int64_t ranks, int64_t count) const;

private:
  struct Kernels {
    double launch = 0; ///< Seconds for each chunk.
    double once = 0;   ///< Seconds for all chunks.
  };

  Kernels kernels(const ChunkSite &site, int64_t count) const;
  double contractions(const ChunkSite &site, int64_t count) const;
  double overlappedSeconds(const ChunkSite &site) const;

  const ComputeRates &compute;
  LinkRates link;
  bool inOrder;
};
} // namespace

/// Returns the size of a GEMM along a dim, given which operands and result have the dim.
static int64_t &sizeAlong(GemmSizes &sizes, const FactorDims &dims) {
  bool inLhs = dims.operands[0].has_value(), inRhs = dims.operands[1].has_value();
  if (inLhs && inRhs)
    return dims.results[0] ? sizes.items : sizes.k;
  return inLhs ? sizes.m : sizes.n;
}

/// Returns the seconds of a contraction that moves `bytes` bytes.
static double secondsOf(const ComputeRates &rates, const GemmCall &call, double bytes) {
  return rates.callSeconds(rates.productSeconds(call.sizes, call.type), bytes);
}

/// Returns the seconds of the contractions of one chunk. Operands without rows are read in each chunk.
double ChunkCosts::contractions(const ChunkSite &site, int64_t count) const {
  double seconds = 0;
  for (auto &[op, dims] : site.getOps()) {
    if (!isContraction(op))
      continue;
    double bytes = 0;
    auto add = [&](ValueRange values, ArrayRef<std::optional<unsigned>> at) {
      for (auto [value, dim] : llvm::zip_equal(values, at))
        bytes += static_cast<double>(bytesOf(value.getType())) / (dim ? count : 1);
    };
    add(op->getOperands(), dims.operands);
    add(op->getResults(), dims.results);
    GemmCall call = gemmOf(op);
    int64_t &size = sizeAlong(call.sizes, dims);
    size = llvm::divideCeil(size, count);
    seconds += secondsOf(compute, call, bytes);
  }
  return seconds;
}

/// Whether an op needs a kernel of its own. A sum does not: it becomes the accumulator or the bias of a call.
static bool needsKernel(Operation *op, const FactorDims &dims) {
  return numericKindOf(op) == NumericKind::Elementwise &&
         llvm::none_of(dims.rule.linear, [&](const auto &set) { return set.size() == op->getNumOperands(); });
}

/// Returns the extra seconds of kernels in chunks: a launch for each chunk, copies that join chunks, and
/// repeated reads of values such as the gradient of a bias, whose sum would otherwise be fused into their
/// producer.
ChunkCosts::Kernels ChunkCosts::kernels(const ChunkSite &site, int64_t count) const {
  Kernels kernels;
  if (int64_t copied = count > 1 ? site.getCopiedBytes() : 0)
    kernels.once = count * compute.launchSeconds + 2.0 * copied / compute.bytesPerSecond;
  for (auto &[op, dims] : site.getOps()) {
    if (!needsKernel(op, dims))
      continue;
    kernels.launch = compute.launchSeconds;
    bool isReduced = llvm::any_of(op->getUsers(), [&](Operation *user) {
      return numericKindOf(user) == NumericKind::Reduction && !site.getOps().contains(user);
    });
    if (isReduced && count > 1)
      kernels.once += bytesOf(op->getResultTypes()) / compute.bytesPerSecond;
  }
  return kernels;
}

/// Returns the first op that is computed while the collective is in flight. Ops that comm-fill-waits moves
/// stand behind the preceding collective. In order, it is the op after this collective or, if contractions read
/// it, the producer of the sent value.
static Operation *firstOverlapped(const ChunkSite &site, bool inOrder) {
  Operation *first = site.getCollective();
  if (!inOrder) {
    while (first->getPrevNode() && !isa<comm::CollectiveOpInterface>(first->getPrevNode()))
      first = first->getPrevNode();
    return first;
  }
  if (!site.isBehind())
    first = site.getCollective()->getOperand(0).getDefiningOp();
  return first ? first->getNextNode() : &site.getCollective()->getBlock()->front();
}

/// Returns the seconds of the contractions that overlap the collective in any case: those before the first
/// reader of its result, except its own predecessors.
double ChunkCosts::overlappedSeconds(const ChunkSite &site) const {
  Operation *collective = site.getCollective(), *end = site.getPlace();
  if (site.isBehind()) {
    end = collective->getBlock()->getTerminator();
    for (Operation *user : collective->getResult(0).getUsers())
      if (user->getBlock() == collective->getBlock() && user->isBeforeInBlock(end))
        end = user;
  }
  DenseSet<Operation *> needed = {collective};
  double seconds = 0;
  Operation *first = firstOverlapped(site, inOrder);
  for (Operation *op = end->getPrevNode(); op && !op->isBeforeInBlock(first); op = op->getPrevNode())
    if (needed.contains(op))
      for (Value operand : op->getOperands())
        needed.insert(operand.getDefiningOp());
    else if (isContraction(op))
      seconds += secondsOf(compute, gemmOf(op), bytesOf(op->getOperandTypes()) + bytesOf(op->getResultTypes()));
  return seconds;
}

double ChunkCosts::of(const ChunkSite &site, int64_t ranks, int64_t count) const {
  comm::CollectiveOpInterface collective = site.getCollective();
  double latency = collective.getRow().messages(ranks) * link.latencySeconds;
  double message = latency + (link.seconds(collective, ranks) - latency) / count;
  Kernels others = kernels(site, count);
  double computes = contractions(site, count) + others.launch, meanwhile = overlappedSeconds(site);
  double computed = 0, sent = 0;
  if (!site.isBehind())
    sent = -meanwhile;
  for (int64_t chunk = 0; chunk < count; ++chunk) {
    if (site.isBehind()) {
      computed += computes;
      sent = std::max(sent, computed) + message;
    } else {
      sent += message;
      computed = std::max(sent, computed) + computes;
    }
  }
  return others.once + (site.isBehind() ? std::max(computed, sent - meanwhile) : computed);
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

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
  int64_t minChunks = 0, maxChunks = 0; ///< Fewest and most chunks of a site.

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
  ChunkCosts costs(machine->compute, machine->slowestLink(group, mesh), inOrder);
  SmallVector<int64_t> counts(std::begin(kCounts), std::end(kCounts));
  if (chunks != 0)
    counts.assign(1, chunks);
  llvm::erase_if(counts, [&](int64_t count) { return !site.canSplit(count); });
  if (counts.empty()) {
    ++outcome.withoutRows;
    return;
  }
  int64_t best = counts.front();
  double whole = costs.of(site, ranks, 1), minSeconds = costs.of(site, ranks, best);
  for (int64_t count : ArrayRef(counts).drop_front())
    if (double seconds = costs.of(site, ranks, count); seconds < minSeconds) {
      minSeconds = seconds;
      best = count;
    }
  if (minSeconds > (1 - kMinGain) * whole)
    return outcome.slower.add(whole, minSeconds);
  outcome.split.add(whole, minSeconds);
  outcome.minChunks = outcome.minChunks ? std::min(outcome.minChunks, best) : best;
  outcome.maxChunks = std::max(outcome.maxChunks, best);
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
  else if (outcome.minChunks == outcome.maxChunks)
    remark << outcome.maxChunks;
  else
    remark << outcome.minChunks << " to " << outcome.maxChunks;
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
