//===- ChunkCosts.cpp - time of a collective and its contractions ---------===//
//
// Computation and the link have one clock each, as in lib/Schedule/Timeline.h. Contractions count with their
// time, and other chunked ops with their launches: sums become a part of calls, and the remaining work is the
// same in chunks. Joining chunks is free if each chunk is written to its place in the whole.
//
//===----------------------------------------------------------------------===//

#include "passes/Collectives/ChunkCosts.h"

using namespace mlir;
using namespace braid;

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

/// Returns the seconds of the contractions that overlap the collective in any case: those before the first
/// reader of its result, except its own predecessors.
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
