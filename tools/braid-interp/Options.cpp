//===- Options.cpp - the command line of braid-interp ---------------------===//

#include "tools/braid-interp/Options.h"
#include "tools/CommandLine.h"
#include <cmath>

using namespace braid;
using namespace braid::cli;
using namespace braid::interp;

namespace {

constexpr char kOverview[] =
    R"(Runs functions of tg, comm and exec, and programs in memory, slowly and obviously. Without a mode it runs every function once and prints the results.

A function with comm.program is run by all ranks of its mesh, in one process and in turn. Its inputs and results are logical all the same: inputs are split by comm.sharding, results put together again. Replicas must agree in every bit, and ranks that wait for each other are an error; nothing depends on time. Functions that share the ranks of a mesh are one program, run under the name of any of them.

  braid-interp model.mlir --function=model --set lr=0.1
  braid-interp train.mlir --function=train --steps=10 --data=tokens.bin
  braid-interp model.mlir --compare --pipeline="tg-decompose,canonicalize"
  braid-interp model.mlir --check-gradients

Passes are textual pipelines, or @FILE to read one. Passes on functions need not be nested.
)";

bool isAssignment(std::string_view text) {
  auto [name, number] = llvm::StringRef(text).split('=');
  double value;
  return !name.empty() && !number.getAsDouble(value) && std::isfinite(value);
}

constexpr Option kGeneral[] = {
    {"FILE", text(""), "Module to run; - is standard input", into<&Options::file>()},
    {"--function", text("NAME"), "Function or program to run", into<&Options::function>(), byDefault("all")},
    {"--arithmetic",
     choice({{"native", "rounded to the element type after each op"},
             {"f64", "not rounded: every float is computed in f64"}}),
     "Rounding of float results", into<&Options::arithmetic>()},
    {"--pipeline-before", text("PASSES"), "Passes to apply to the module before it runs",
     into<&Options::pipelineBefore>()},
    {"--steps", integer("N"), "Number of training steps to run; each step sees the updates of the step before",
     into<&Options::steps>(), excludes("--compare --check-gradients")},
    {"--accumulate", integer("N", 1), "Microbatches in a step: runs 'accumulate' N-1 times, then the function",
     into<&Options::microbatches>()},
    {"--runs", text("FILE"),
     "File with further options, one run per line; - is standard input; prints the outcome of each run",
     into<&Options::runsFile>()},
};

constexpr Option kInputs[] = {
    {"--seed", integer("N"), "Seed of inputs and initial values",
     into<&Options::inputs, &reference::InputOptions::seed>()},
    {"--init", flag(), "Initialize parameters and states by their initializers; by default they are random",
     into<&Options::inputs, &reference::InputOptions::initialize>()},
    {"--ignored-share", number("X", 0, 1), "Share of random targets that are the ignored index",
     into<&Options::inputs, &reference::InputOptions::ignoredShare>()},
    {"--prefix", text("TEXT"), "Prefix of names in --inputs and --expect; @ stands for the function's name",
     into<&Options::inputs, &reference::InputOptions::prefix>()},
    {"--set", list("NAME=NUMBER", isAssignment, "NAME=NUMBER, as in --set lr=0.1"),
     "Value of every element of an input", into<&Options::numbers>()},
    {"--inputs", list("FILES"), "Files with input tensors by name (safetensors)", into<&Options::inputFiles>()},
    {"--data", text("FILE"), "Tokens for --steps: a BRAIDTOK file, read in order", into<&Options::dataFile>(),
     needs("--steps")},
};

constexpr Option kOutputs[] = {
    {"--log", text("FILE"), "File for a JSON line per training step", into<&Options::logFile>(), needs("--steps")},
    {"--print", flag(), "Print results even with --outputs or --expect", into<&Options::print>()},
    {"--per-rank", flag(), "Also print the results of each rank of a local function, before they are assembled",
     into<&Options::perRank>(), excludes("--steps --compare --check-gradients")},
    {"--print-limit", integer("N"), "Largest number of elements to print of a tensor; larger tensors are summarized",
     into<&Options::printLimit>()},
    {"--outputs", text("FILE"), "File for the results, or with --steps for parameters and states (safetensors)",
     into<&Options::outputFile>()},
    {"--save-inputs", text("FILE"), "File for the inputs of the run, without parameters and states (safetensors)",
     into<&Options::drawnFile>(), excludes("--steps --compare --check-gradients")},
};

constexpr Option kChecks[] = {
    {"--expect", text("FILE"), "File with expected results by role (safetensors); the gradient of x is 'dx'",
     into<&Options::expectFile>()},
    {"--compare", flag(), "Compare the results before and after --pipeline on the same inputs",
     into<&Options::compare>(), excludes("--check-gradients")},
    {"--pipeline", text("PASSES"), "Passes that --compare tests; for passes before a run use --pipeline-before",
     into<&Options::pipeline>(), needs("--compare")},
    {"--reference-pipeline", text("PASSES"), "Passes for the other side of --compare",
     into<&Options::referencePipeline>(), byDefault("none"), needs("--compare")},
    {"--after-function", text("NAME"), "Function to run after the passes, if its name differs",
     into<&Options::afterFunction>()},
    {"--seeds", integer("N", 1), "Number of seeds to compare", into<&Options::seeds>()},
    {"--rtol", number("X"), "Allowed error relative to the largest absolute value of a tensor",
     into<&Options::relative>(), byDefault("1e-5; 1e-12 with --arithmetic=f64")},
    {"--atol", number("X"), "Allowed absolute error", into<&Options::tolerance, &reference::Tolerance::absolute>()},
    {"--check-gradients", flag(), "Compare tg-differentiate with central differences, in f64",
     into<&Options::checkGradients>()},
    {"--wrt", list("NAMES"), "Arguments to check", into<&Options::wrt>(), byDefault("every float argument")},
    {"--gradient-tolerance", number("X"), "Allowed error relative to the largest absolute value of a gradient",
     into<&Options::gradientTolerance>()},
    {"--eps", numberAbove("X", 0), "Half the step of a central difference", into<&Options::eps>()},
};

constexpr Topic kTopics[] = {
    topic<Options>("Module and run", kGeneral), topic<Options>("Inputs", kInputs), topic<Options>("Outputs", kOutputs),
    topic<Options>("Checks", kChecks),          topic<Options>("Help", kToolHelp),
};

constexpr Command kInterp = {"braid-interp", "The reference interpreter", kTopics, kOverview};

Mode modeOf(const Options &options) {
  if (options.compare)
    return Mode::Compare;
  if (options.checkGradients)
    return Mode::CheckGradients;
  return options.steps ? Mode::Train : Mode::Run;
}

} // namespace

Options interp::parseCommandLine(int argc, char **argv) {
  Options options;
  braid::parseCommandLine(kInterp, argc, argv, &options);
  options.mode = modeOf(options);
  options.inputs.initialize |= options.mode == Mode::Train;
  for (llvm::StringRef text : options.numbers) {
    auto [name, number] = text.split('=');
    auto [given, isNew] = options.inputs.numbers.try_emplace(name);
    if (!isNew)
      exitForUsage("braid-interp", ("--set gives '" + name + "' two numbers: leave one of them out").str());
    number.getAsDouble(given->second);
  }
  options.print |= options.outputFile.empty() && options.expectFile.empty();
  options.tolerance.relative =
      options.relative.value_or(options.arithmetic == reference::Arithmetic::F64 ? 1e-12 : 1e-5);
  return options;
}
