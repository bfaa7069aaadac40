//===- ReplayPrices.cpp - what a policy pays for a replay -----------------===//

#include "passes/Recompute/ReplayPrices.h"
#include "dialects/Interfaces/Interfaces.h"
#include "dialects/TG/Facts.h"

using namespace mlir;
using namespace braid;

/// For `selective`: a byte of memory may cost the time in which this many are moved.
static constexpr double kMovedForAByte = 16;

//===----------------------------------------------------------------------===//
// Time
//===----------------------------------------------------------------------===//

/// Whether it is a sum of products, alone or with more: a matmul, attention.
static bool contracts(Operation *op) {
  if (auto action = dyn_cast<exec::ActionOpInterface>(op))
    return action.getActionCost().matrixFlops > 0;
  NumericKind kind = numericKindOf(op);
  return kind == NumericKind::Contraction || kind == NumericKind::Attention;
}

/// Whether it is computed element by element, in the kernel that reads it.
static bool joinsItsReader(Operation *op) {
  NumericKind kind = numericKindOf(op);
  return kind == NumericKind::Elementwise || kind == NumericKind::Conversion || kind == NumericKind::Source;
}

double braid::secondsOf(Operation *op, const ComputeRates &rates) {
  if (isSeenThrough(op))
    return 0;
  if (auto action = dyn_cast<exec::ActionOpInterface>(op))
    return rates.seconds(action);
  auto cost = dyn_cast<CostOpInterface>(op);
  double flops = cost ? cost.getFlops() : defaultFlops(op);
  if (!contracts(op) && joinsItsReader(op))
    return flops / rates.vectorFlops;
  bool isHalf = contracts(op) && getElementTypeOrSelf(op->getOperand(0)).isBF16();
  double rate = isHalf ? rates.halfMatrixFlops : contracts(op) ? rates.matrixFlops : rates.vectorFlops;
  double bytes = bytesOf(op->getOperandTypes()) + bytesOf(op->getResultTypes());
  return rates.launchSeconds + std::max(flops / rate, bytes / rates.bytesPerSecond);
}

//===----------------------------------------------------------------------===//
// Policies
//===----------------------------------------------------------------------===//

ReplayPrices::ReplayPrices(const ForwardValues &values, RecomputePolicy policy, double bytesPerSecond,
                           const ComputeRates &rates)
    : values(values), policy(policy), bytesPerSecond(bytesPerSecond), rates(rates) {
  if (policy == RecomputePolicy::Selective)
    this->bytesPerSecond = rates.bytesPerSecond / kMovedForAByte;
  findAttention();
}

/// Attention contracts values of the batch with each other, where all else contracts them with
/// weights; and it is what its unit computes of that, up to the next weight.
void ReplayPrices::findAttention() {
  for (Operation *op : values.getOps()) {
    bool isPart = llvm::any_of(op->getOperands(), [&](Value operand) {
      Operation *maker = operand.getDefiningOp();
      return attention.contains(maker) && tg::unitOf(tg::factsOf(maker)) == tg::unitOf(tg::factsOf(op));
    });
    bool amongBatch = op->getNumOperands() > 1 &&
                      llvm::all_of(op->getOperands(), [&](Value operand) { return values.contains(operand); });
    if (contracts(op) ? amongBatch : isPart && values.mayRepeat(op))
      attention.insert(op);
  }
}

std::optional<double> ReplayPrices::secondsFor(Operation *op) const {
  switch (policy) {
  case RecomputePolicy::None:
    return std::nullopt;
  case RecomputePolicy::Attention:
    return attention.contains(op) ? std::optional(0.0) : std::nullopt;
  case RecomputePolicy::Selective:
    if (attention.contains(op))
      return 0;
    return contracts(op) ? std::nullopt : std::optional(secondsOf(op, rates));
  case RecomputePolicy::Full:
    return values.isOfInnerUnit(op) ? std::optional(0.0) : std::nullopt;
  case RecomputePolicy::Auto:
    return values.isOfInnerUnit(op) || !contracts(op) ? std::optional(secondsOf(op, rates)) : std::nullopt;
  }
  llvm_unreachable("all policies are there");
}

std::optional<int64_t> ReplayPrices::of(Operation *op) const {
  if (!values.mayRepeat(op))
    return std::nullopt;
  if (isSeenThrough(op))
    return 0;
  std::optional<double> seconds = values.leavesUnit(op) ? std::nullopt : secondsFor(op);
  return seconds ? std::optional<int64_t>(*seconds * bytesPerSecond) : std::nullopt;
}
