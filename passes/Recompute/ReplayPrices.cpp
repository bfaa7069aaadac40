//===- ReplayPrices.cpp - price of a replay under a policy ----------------===//

#include "passes/Recompute/ReplayPrices.h"
#include "dialects/Interfaces/Interfaces.h"
#include "dialects/TG/Facts.h"

using namespace mlir;
using namespace braid;

/// For `selective`: a saved byte may cost the time in which this many bytes are moved.
static constexpr double kMovedBytesPerSavedByte = 16;
/// In bytes: more than any memory, and small enough that sums of prices fit MinCut.
static constexpr double kTooExpensive = int64_t(1) << 46;

//===----------------------------------------------------------------------===//
// Time
//===----------------------------------------------------------------------===//

/// Whether an op computes sums of products, alone or with other arithmetic: a matmul, attention.
static bool contracts(Operation *op) {
  if (auto action = dyn_cast<exec::ActionOpInterface>(op))
    return action.getActionCost().matrixFlops > 0;
  NumericKind kind = numericKindOf(op);
  return kind == NumericKind::Contraction || kind == NumericKind::Attention;
}

bool braid::fusesIntoReader(Operation *op) {
  NumericKind kind = numericKindOf(op);
  return kind == NumericKind::Elementwise || kind == NumericKind::Conversion || kind == NumericKind::Source;
}

double OpSeconds::of(Operation *op) const {
  if (isTransparent(op))
    return 0;
  if (auto collective = dyn_cast<comm::CollectiveOpInterface>(op)) {
    FailureOr<comm::Mesh> mesh = comm::Mesh::require(op, collective.getMeshAttr());
    return failed(mesh) ? 0 : machine.seconds(collective, *mesh);
  }
  const ComputeRates &rates = machine.compute;
  if (auto action = dyn_cast<exec::ActionOpInterface>(op))
    return rates.seconds(action);
  auto cost = dyn_cast<CostOpInterface>(op);
  double flops = cost ? cost.getFlops() : defaultFlops(op);
  if (!contracts(op) && fusesIntoReader(op))
    return flops / rates.vectorFlops;
  double bytes = bytesOf(op->getOperandTypes()) + bytesOf(op->getResultTypes());
  if (contracts(op))
    return rates.callSeconds(rates.productSeconds(op), bytes);
  return rates.launchSeconds + std::max(flops / rates.vectorFlops, bytes / rates.bytesPerSecond);
}

//===----------------------------------------------------------------------===//
// Policies
//===----------------------------------------------------------------------===//

ReplayPrices::ReplayPrices(const ForwardValues &values, RecomputePolicy policy, const ReplayThreshold &worth,
                           const ReplayChoices &choices, const OpSeconds &seconds)
    : values(values), policy(policy), worth(worth), choices(choices), seconds(seconds) {
  findAttention();
  numberUnits();
}

void ReplayPrices::numberUnits() {
  for (Operation *op : values.getOps())
    numberOfUnit.try_emplace(tg::unitOf(tg::factsOf(op)), numberOfUnit.size());
}

/// Finds the ops of attention. Attention contracts values of the batch with each other; other contractions have a
/// weight. It includes the following ops of its unit, up to the next weight.
void ReplayPrices::findAttention() {
  for (Operation *op : values.getOps()) {
    bool isPart = llvm::any_of(op->getOperands(), [&](Value operand) {
      Operation *producer = operand.getDefiningOp();
      return attention.contains(producer) && tg::unitOf(tg::factsOf(producer)) == tg::unitOf(tg::factsOf(op));
    });
    bool amongBatch = op->getNumOperands() > 1 &&
                      llvm::all_of(op->getOperands(), [&](Value operand) { return values.contains(operand); });
    if (contracts(op) ? amongBatch : isPart && values.mayRepeat(op) && !isa<comm::CollectiveOpInterface>(op))
      attention.insert(op);
  }
}

double ReplayPrices::bytesPerSecondFor(Operation *op, RecomputePolicy policy) const {
  if (policy == RecomputePolicy::Selective)
    return seconds.getRates().bytesPerSecond / kMovedBytesPerSavedByte;
  bool isFirst = numberOfUnit.lookup(tg::unitOf(tg::factsOf(op))) < worth.units;
  return isFirst ? worth.bytesPerSecond : worth.restBytesPerSecond;
}

ReplayPrice ReplayPrices::priceUnder(RecomputePolicy policy, Operation *op) const {
  auto atItsPrice = [&]() -> ReplayPrice {
    double price = seconds.of(op) * bytesPerSecondFor(op, policy);
    return price < kTooExpensive ? ReplayPrice{int64_t(price), "by its bytes and its time"}
                                 : ReplayPrice{std::nullopt, "a replay costs more time than any memory is worth"};
  };
  switch (policy) {
  case RecomputePolicy::None:
    return {std::nullopt, "nothing is replayed"};
  case RecomputePolicy::Attention:
    return attention.contains(op) ? ReplayPrice{0, "of attention"}
                                  : ReplayPrice{std::nullopt, "not a value of attention"};
  case RecomputePolicy::Selective:
    if (attention.contains(op))
      return {0, "of attention"};
    return contracts(op) ? ReplayPrice{std::nullopt, "a contraction with a weight"} : atItsPrice();
  case RecomputePolicy::Full:
    return values.isOfInnerUnit(op) ? ReplayPrice{0, "computed inside its unit"}
                                    : ReplayPrice{std::nullopt, "in the last unit, or in no unit"};
  case RecomputePolicy::Auto:
    return values.isOfInnerUnit(op) || !contracts(op) ? atItsPrice()
                                                      : ReplayPrice{std::nullopt, "a contraction in the last unit"};
  }
  llvm_unreachable("all policies are there");
}

ReplayPrice ReplayPrices::of(Operation *op) const {
  if (!values.mayRepeat(op))
    return {std::nullopt, "it is a reduction over ranks or has effects"};
  if (isTransparent(op))
    return {0, "a view"};
  if (values.escapesUnit(op))
    return {std::nullopt, "another unit reads it"};
  if (std::optional<bool> kept = choices.isKept(op))
    return *kept ? ReplayPrice{std::nullopt, "by the list of choices"} : ReplayPrice{0, "by the list of choices"};
  return priceUnder(choices.policyOf(op).value_or(policy), op);
}
