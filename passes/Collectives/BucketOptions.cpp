//===- BucketOptions.cpp - bucket sizes, parsed and computed from a link --===//

#include "passes/Collectives/BucketOptions.h"
#include "dialects/Interfaces/Interfaces.h"
#include <cmath>

using namespace mlir;
using namespace braid;
using namespace braid::comm;

static llvm::Error refuse(StringRef option, StringRef text, StringRef expected) {
  return llvm::createStringError("comm-bucket: " + option + " must be " + expected + ", found '" + text + "'");
}

static bool parseNumber(StringRef text, double &number) {
  return !text.empty() && !text.getAsDouble(number) && std::isfinite(number) && number >= 0;
}

llvm::Expected<BucketSize> BucketSize::parse(StringRef option, StringRef text, bool mayBeAuto) {
  double mebibytes;
  if (text == "inf")
    return BucketSize{false, BucketProblem::kUnlimited};
  if (text == "auto" && mayBeAuto)
    return BucketSize{true, 0};
  if (!parseNumber(text, mebibytes) || mebibytes > 0x1p40)
    return refuse(option, text,
                  mayBeAuto ? "a number of MiB (0 for one tensor each), inf or auto"
                            : "a number of MiB (0 for one tensor) or inf");
  return BucketSize{false, int64_t(mebibytes * 0x1p20)};
}

int64_t braid::worthwhileBytes(const LinkRates &link, CollectiveOpInterface op, int64_t ranks, double sentPerByte) {
  constexpr double latencyShare = 1.0 / 20;
  if (sentPerByte <= 0)
    return BucketProblem::kUnlimited; // nothing leaves the rank
  double latency = op.getRow().messages(ranks) * link.latencySeconds;
  double bytes = (1 / latencyShare - 1) * latency * link.bytesPerSecond / sentPerByte;
  return bytes < 0x1p62 ? int64_t(bytes) : BucketProblem::kUnlimited;
}
