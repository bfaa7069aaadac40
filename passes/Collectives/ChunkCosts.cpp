//===- ChunkCosts.cpp - what a collective and its contractions take -------===//
//
// Computing and the link have a clock each, as in lib/Schedule/Timeline.h.  Contractions count, and
// of what else is computed in chunks the launches: sums become a part of calls, and the rest is the
// same in chunks.  Joining them takes nothing where each is written where it belongs.
//
//===----------------------------------------------------------------------===//

#include "passes/Collectives/ChunkCosts.h"

using namespace mlir;
using namespace braid;

static bool isContraction(Operation *op) { return numericKindOf(op) == NumericKind::Contraction; }

/// Of a contraction of some bytes, or of a part of it that makes so many times fewer products.
static double secondsOf(const ComputeRates &rates, Operation *op, double bytes, int64_t count = 1) {
  auto cost = dyn_cast<CostOpInterface>(op);
  double flops = static_cast<double>(cost ? cost.getFlops() : defaultFlops(op)) / count;
  return rates.gemmSeconds(flops, getElementTypeOrSelf(op->getOperand(0)).isBF16(), bytes);
}

/// Of one chunk: what has no rows is read in each.
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
    seconds += secondsOf(compute, op, bytes, count);
  }
  return seconds;
}

/// Whether an op is more than a sum: an accumulator of a call, or its bias.
static bool needsKernel(Operation *op, const ChunkDims &dims) {
  return numericKindOf(op) == NumericKind::Elementwise &&
         llvm::none_of(dims.rule.linear, [&](const auto &set) { return set.size() == op->getNumOperands(); });
}

/// What kernels take more in chunks: a launch in each, reading again what they would have summed up as they
/// make it, such as the gradient of a bias, and copies that join chunks.
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

/// The contractions beside which the collective is under way in any case: between it and the first reader
/// of what it makes, or between the maker of what it sends and those that read it.
double ChunkCosts::computedMeanwhile(const ChunkSite &site) const {
  Operation *collective = site.getCollective(), *first = collective->getNextNode(), *end = site.getPlace();
  if (site.isBehind()) {
    end = collective->getBlock()->getTerminator();
    for (Operation *user : collective->getResult(0).getUsers())
      if (user->getBlock() == collective->getBlock() && user->isBeforeInBlock(end))
        end = user;
  } else if (Operation *maker = collective->getOperand(0).getDefiningOp()) {
    first = maker->getNextNode();
  } else {
    first = &collective->getBlock()->front();
  }
  double seconds = 0;
  for (Operation *op = first; op != end; op = op->getNextNode())
    if (isContraction(op))
      seconds += secondsOf(compute, op, bytesOf(op->getOperandTypes()) + bytesOf(op->getResultTypes()));
  return seconds;
}

double ChunkCosts::of(const ChunkSite &site, int64_t ranks, int64_t count) const {
  comm::CollectiveOpInterface collective = site.getCollective();
  double latency = collective.getRow().messages(ranks) * link.latencySeconds;
  double message = latency + (link.seconds(collective, ranks) - latency) / count;
  Kernels others = kernels(site, count);
  double computes = contractions(site, count) + others.launch, meanwhile = computedMeanwhile(site);
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
