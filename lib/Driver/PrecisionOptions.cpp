//===- PrecisionOptions.cpp - checks the options of element types ---------===//

#include "lib/Driver/PrecisionOptions.h"
#include "lib/Driver/OutputFile.h"
#include "llvm/ADT/Twine.h"

using namespace llvm;
using namespace braid;

Error braid::checkPrecisionOptions(const DriverOptions &options) {
  const PrecisionOptions &precision = options.precision;
  const std::pair<StringLiteral, const std::string &> given[] = {{"--precision=", precision.compute},
                                                                 {"--grad-dtype=", precision.gradients},
                                                                 {"--reduce-dtype=", precision.reductions}};
  if (!precision.isMixed())
    for (const auto &[name, type] : given)
      if (type == "bf16")
        return makeError(name + type +
                         " applies to gradients of ops that compute in bf16, but --precision=f32 computes in "
                         "f32: add --precision=bf16 or leave it out");
  if (precision.reductions == "bf16" && !options.parallel.strategy.empty())
    return makeError("--reduce-dtype=bf16 with --strategy=" + options.parallel.strategy +
                     ": what is reduced to a root is what it updates with, in f32: leave one of them out");
  if (precision.reductions == "bf16" && options.parallel.noiseScale)
    return makeError(
        "--reduce-dtype=bf16 with --noise-scale: rounded sums have noise of their own, so leave one of them out");
  return Error::success();
}
