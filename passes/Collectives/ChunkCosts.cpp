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

/// The size of a GEMM along a dim that operands and result have or lack.
static int64_t &sizeAlong(GemmSizes &sizes, const ChunkDims &dims) {
  bool inLhs = dims.operands[0].has_value(), inRhs = dims.operands[1].has_value();
  if (inLhs && inRhs)
    return dims.results[0] ? sizes.items : sizes.k;
  return inLhs ? sizes.m : sizes.n;
}

/// Seconds of a contraction that moves some bytes.
static double secondsOf(const ComputeRates &rates, const GemmCall &call, double bytes) {
  return rates.callSeconds(rates.productSeconds(call.sizes, call.type), bytes);
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
    GemmCall call = gemmOf(op);
    int64_t &size = sizeAlong(call.sizes, dims);
    size = llvm::divideCeil(size, count);
    seconds += secondsOf(compute, call, bytes);
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

/// What is computed first while the collective is under way.  What comm-fill-waits moves stands behind the collective
/// before; else it is what follows this one, or the maker of what it sends, where contractions read it.
static Operation *firstMeanwhile(const ChunkSite &site, bool inOrder) {
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

/// The contractions beside which the collective is under way in any case: before the first reader of what it makes,
/// without those that it needs.
double ChunkCosts::computedMeanwhile(const ChunkSite &site) const {
  Operation *collective = site.getCollective(), *end = site.getPlace();
  if (site.isBehind()) {
    end = collective->getBlock()->getTerminator();
    for (Operation *user : collective->getResult(0).getUsers())
      if (user->getBlock() == collective->getBlock() && user->isBeforeInBlock(end))
        end = user;
  }
  DenseSet<Operation *> needed = {collective};
  double seconds = 0;
  Operation *first = firstMeanwhile(site, inOrder);
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
