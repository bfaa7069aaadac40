//===- CheckOptions.cpp - checks options before any work is done ----------===//

#include "compiler/Driver/CheckOptions.h"
#include "compiler/Driver/Hooks.h"
#include "compiler/Driver/LossChunks.h"
#include "compiler/Driver/OutputFile.h"
#include "compiler/Driver/ParallelOptions.h"
#include "compiler/Driver/RecomputeOptions.h"
#include "compiler/Driver/SourceFolder.h"
#include "compiler/Driver/TargetOptions.h"
#include "compiler/Driver/Toolchain.h"
#include "compiler/Driver/WriteOutput.h"
#include "llvm/Support/FileSystem.h"

using namespace braid;
using namespace llvm;

/// Returns whether two paths name the same file, which need not exist yet.
static bool isSameFile(StringRef a, StringRef b) {
  return !a.empty() && a != "-" && (a == b || sys::fs::equivalent(a, b));
}

/// Returns whether a module or sources go to standard output.
static bool printsOutput(const DriverOptions &options) {
  return !options.parallel.compare && options.emit < Emit::Dir && (options.output.empty() || options.output == "-");
}

/// Refuses output paths that would overwrite the input or another output.
static Error checkPlaces(const DriverOptions &options) {
  if (options.report == "-" && printsOutput(options))
    return makeError("--report=- and the output would mix on standard output: name a file for one of them");
  if (isSameFile(options.input, options.output))
    return makeError("the output '" + options.output + "' is also the input graph; name another file");
  if (isSameFile(options.input, options.report))
    return makeError("--report=" + options.report + " is also the input graph; name another file");
  if (isSameFile(options.output, options.report))
    return makeError("--report=" + options.report + " is the output, too: give one of them another name");
  return Error::success();
}

/// Refuses options of element types that have no effect with the others.
static Error checkPrecisionOptions(const DriverOptions &options) {
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

Error braid::resolveOptions(DriverOptions &options) {
  for (auto resolve : {resolveTarget, resolveParallelOptions})
    if (Error error = resolve(options))
      return error;
  for (auto check : {checkPrecisionOptions, checkWithout, checkRecomputeOptions, checkLossChunk})
    if (Error error = check(options))
      return error;
  return Error::success();
}

Error braid::checkOptions(DriverOptions &options) {
  if (options.input.empty())
    return makeError("no graph is named; braid-model writes one");
  if (Error error = resolveOptions(options))
    return error;
  bool compares = options.parallel.compare.has_value(), writes = !compares && !listsHooks(options);
  if (!compares)
    if (Error error = checkCompiler(options))
      return error;
  if (options.output.empty() && options.emit >= Emit::Dir && writes)
    return makeError("no output is named; give one by -o");
  if (!options.report.empty() && options.emit < Emit::Memory)
    return makeError("--report needs a memory plan, which --emit=tg, comm and exec do not make: leave --emit "
                     "out, or emit memory, cpp, cu, dir, lib or exe");
  if (isPage(options.report) && compares)
    return makeError(
        "--report=" + options.report +
        " shows one plan, but --compare makes several: name another file for JSON, or leave --compare out");
  if (!options.passes.plan.memoryLimit.empty() && options.emit < Emit::Memory)
    return makeError(
        "--memory-limit needs a memory plan, which --emit=tg, comm and exec do not make: leave one of them out");
  if (Error error = checkPlaces(options))
    return error;
  if (compilesSources(options.emit) && writes)
    if (Error error = checkWritable(options.output))
      return error;
  if (options.emit == Emit::Dir && writes)
    if (Error error = checkSourceFolder(options.output))
      return error;
  return options.report.empty() || options.report == "-" ? Error::success() : checkWritable(options.report);
}
