//===- ContextCosts.cpp - costs of context parallel methods ---------------===//
//
// Each position reads only earlier ones. If positions are sharded in order and stay on their ranks, the last rank
// computes with all blocks and its own triangle, 2 - 1/n times the mean. In zigzag every rank does the mean.
//
//===----------------------------------------------------------------------===//

#include "passes/Strategies/ContextCosts.h"

using namespace mlir;
using namespace braid;

/// Backward has five contractions instead of two.
static constexpr double kBackward = 2.5;

static bool isFloatTensor(Value value) { return isa<FloatType>(getElementTypeOrSelf(value)); }

ContextWork ContextWork::of(Operation *op, const SequenceDims &sequence, int64_t ranks, int64_t ranksOfMesh,
                            const ComputeRates &rates) {
  ContextWork work = {ranks, rates.productSeconds(op) / ranksOfMesh, 0, 0};
  auto isPast = [&](unsigned number) {
    return llvm::any_of(sequence.past, [&](const auto &entry) { return entry.first == number; });
  };
  for (auto [number, dim] : llvm::enumerate(sequence.operands))
    if (Value operand = op->getOperand(number); dim && isFloatTensor(operand))
      (isPast(number) ? work.past : work.others) += bytesOf(operand.getType());
  for (auto [result, dim] : llvm::zip_equal(op->getResults(), sequence.results))
    if (dim && !result.use_empty())
      work.others += bytesOf(result.getType());
  int64_t sharing = std::max<int64_t>(ranksOfMesh / ranks, 1);
  work.past /= sharing;
  work.others /= sharing;
  return work;
}

namespace {
/// Predicts the seconds of each method, in steps of a ring of n ranks.
struct Steps {
  double n, forward;    ///< Forward seconds of a rank, if all ranks have equally much work.
  double block;         ///< Seconds to send a block of keys and values.
  double latency;       ///< Latency of the messages of a tensor.
  double merge, launch; ///< Seconds to merge the results of two blocks, and of a launch.
  bool inZigzag;

  /// Forward seconds for the slowest rank's own block (in order, a triangle) and for each of the n - 1 other blocks.
  double own() const { return forward / n; }
  double other() const { return (inZigzag ? 1 : 2) * forward / n; }
  /// Seconds to merge the results of a block. In zigzag, half of the queries merge once and half of them twice.
  double merging() const { return inZigzag ? 1.5 * merge + 18 * launch : merge + 6 * launch; }

  double gather() const {
    double sent = 2 * (latency + (n - 1) * block);
    return (1 + kBackward) * (own() + (n - 1) * other()) + sent;
  }

  /// A block is in flight while the previous block is computed. In backward it travels with the gradients of the block
  /// before that.
  double ring() const {
    double message = latency / (n - 1) + block, seconds = 0;
    for (double pass : {1.0, kBackward}) {
      double sent = pass == 1.0 ? message : 2 * message, computed = merging();
      seconds += std::max(pass * own(), message);
      seconds += (n - 2) * (std::max(pass * other(), sent) + computed) + pass * other() + computed;
    }
    return seconds + message;
  }
};
} // namespace

ContextCost braid::costOf(ContextMethod method, bool inZigzag, const ContextWork &work, const ComputeRates &rates,
                          const LinkRates &link) {
  double n = work.ranks, seconds = work.seconds;
  if (work.ranks == 1)
    return {(1 + kBackward) * seconds, 0};
  // A merge moves two results and their sum, for a rank's positions; queries are half of `others`.
  double merged = 3.0 * (work.others / 2.0) / n / rates.bytesPerSecond;
  Steps steps{n,
              seconds,
              work.past / n / link.bytesPerSecond,
              (n - 1) * link.latencySeconds,
              merged,
              rates.launchSeconds,
              method == ContextMethod::Ring && inZigzag};
  switch (method) {
  case ContextMethod::Ulysses: {
    double sent = (work.past + work.others) / n * (n - 1) / n / link.bytesPerSecond;
    return {(1 + kBackward) * seconds + 2 * (2 * steps.latency + sent), 0};
  }
  case ContextMethod::Gather:
    return {steps.gather(), static_cast<int64_t>(work.past / n * (n - 1))};
  case ContextMethod::Ring:
    return {steps.ring(), 0};
  case ContextMethod::Auto:
    break;
  }
  llvm_unreachable("a way is chosen by its cost");
}
