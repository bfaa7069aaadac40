//===- PrecisionOptions.cpp - checks the options of element types ---------===//

#include "compiler/Driver/PrecisionOptions.h"
#include "compiler/Driver/OutputFile.h"
#include "llvm/ADT/Twine.h"

using namespace llvm;
using namespace braid;

Error braid::checkPrecisionOptions(const DriverOptions &options) {
  const std::pair<StringLiteral, ElementType> types[] = {{"--grad-dtype", options.passes.gradients.type},
                                                         {"--reduce-dtype", options.passes.reductions.type}};
  for (const auto &[name, type] : types)
    if (type == ElementType::BF16 && !options.isMixed())
      return makeError(name + "=bf16 applies to gradients of ops that compute in bf16, but --precision=f32 computes in "
                              "f32: add --precision=bf16 or leave it out");
  bool reducesRounded = options.passes.reductions.type == ElementType::BF16;
  if (reducesRounded && options.parallel.strategy)
    return makeError("--reduce-dtype=bf16 with --strategy=" + StringRef(cli::wordOf(*options.parallel.strategy)) +
                     ": the root updates with the reduced gradients, in f32: leave one of them out");
  if (reducesRounded && options.parallel.noiseScale)
    return makeError(
        "--reduce-dtype=bf16 with --noise-scale: rounded sums have noise of their own, so leave one of them out");
  return Error::success();
}
