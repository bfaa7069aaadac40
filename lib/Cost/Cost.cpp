//===- Cost.cpp - seconds of actions and of collectives -------------------===//

#include "lib/Cost/Cost.h"

using namespace braid;

/// Two positive numbers with a comma between; the first may be 0 if `zeroFirst`.
static llvm::Expected<std::pair<double, double>> parsePair(llvm::StringRef text, llvm::StringRef what,
                                                           llvm::StringRef form, bool zeroFirst) {
  auto [left, right] = text.split(',');
  double first = 0, second = 0;
  bool bad = left.trim().getAsDouble(first) || right.trim().getAsDouble(second);
  // Written so that not-a-number is refused too.
  if (bad || !(zeroFirst ? first >= 0 : first > 0) || !(second > 0))
    return llvm::createStringError(llvm::inconvertibleErrorCode(), "%s '%s' is not two positive numbers; write %s",
                                   what.str().c_str(), text.str().c_str(), form.str().c_str());
  return std::pair(first, second);
}

//===----------------------------------------------------------------------===//
// Computing
//===----------------------------------------------------------------------===//

ComputeRates ComputeRates::of(const TargetInfo &target) {
  const TargetRates &rates = target.rates;
  return {rates.matrixFlops, rates.halfMatrixFlops, rates.vectorFlops, rates.bytesPerSecond, rates.launchSeconds};
}

llvm::Expected<ComputeRates> ComputeRates::parse(llvm::StringRef text, const TargetInfo &target) {
  ComputeRates rates = of(target);
  if (text.empty())
    return rates;
  auto pair = parsePair(text, "the speed of computing", "GFLOPS,GBps, as in 100,10", /*zeroFirst=*/false);
  if (!pair)
    return pair.takeError();
  rates.vectorFlops *= pair->first * 1e9 / rates.matrixFlops;
  rates.matrixFlops = rates.halfMatrixFlops = pair->first * 1e9;
  rates.bytesPerSecond = pair->second * 1e9;
  return rates;
}

ActionSeconds ComputeRates::parts(exec::ActionOpInterface action) const {
  exec::ActionCost cost = action.getActionCost();
  double gemmFlops = matrixFlops;
  if (cost.matrixFlops && !cost.productsAreWide &&
      exec::tensorOf(action.getActionIns()[0].getType()).getElementType().isBF16())
    gemmFlops = halfMatrixFlops;
  return {launchSeconds, cost.matrixFlops / gemmFlops, cost.vectorFlops / vectorFlops,
          static_cast<double>(cost.bytesRead + cost.bytesWritten) / bytesPerSecond};
}

//===----------------------------------------------------------------------===//
// Communicating
//===----------------------------------------------------------------------===//

LinkRates LinkRates::of(const TargetInfo &target) {
  return {target.rates.linkLatency, target.rates.linkBytesPerSecond};
}

llvm::Expected<LinkRates> LinkRates::parse(llvm::StringRef text, const TargetInfo &target) {
  if (text.empty())
    return of(target);
  auto pair = parsePair(text, "the link", "latency_us,GBps, as in 20,1.25", /*zeroFirst=*/true);
  if (!pair)
    return pair.takeError();
  return LinkRates{pair->first * 1e-6, pair->second * 1e9};
}

double LinkRates::seconds(comm::CollectiveOpInterface op, int64_t ranks) const {
  if (ranks <= 1)
    return 0;
  return op.getRow().messages(ranks) * latencySeconds + op.getBytesSent(ranks) / bytesPerSecond;
}

//===----------------------------------------------------------------------===//
// The host's memory
//===----------------------------------------------------------------------===//

double HostRates::seconds(comm::CopyOp op) const {
  int64_t bytes = 0;
  for (mlir::Type type : op.getIns().getTypes())
    bytes += bytesOf(mlir::TypeRange(exec::tensorOf(type)));
  return op.getIns().size() * latencySeconds + bytes / bytesPerSecond;
}
