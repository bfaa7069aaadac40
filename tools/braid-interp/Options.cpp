//===- Options.cpp - the command line of braid-interp ---------------------===//

#include "tools/braid-interp/Options.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/WithColor.h"

using namespace braid;
using namespace braid::interp;
namespace cl = llvm::cl;

static constexpr const char *kOverview =
    R"(braid-interp: the reference interpreter

Runs functions of tg, comm and exec, and programs in memory, slowly and obviously.
Without a mode it runs every function once and prints the results.

A function with comm.program is run by all ranks of its mesh, in one process and
in turn.  Its inputs and results are logical all the same: inputs are split by
comm.sharding, results put together again.  Replicas must agree in every bit, and
ranks that wait for each other are an error; nothing depends on time.  Functions
that share the ranks of a mesh are one program, run under the name of any of them.

  braid-interp model.mlir --function=model --set lr=0.1
  braid-interp train.mlir --function=train --steps=10 --data=tokens.bin
  braid-interp model.mlir --compare --pipeline="tg-decompose,canonicalize"
  braid-interp model.mlir --check-gradients

Passes are textual pipelines, or @FILE to read one. Passes on functions need not be nested.
)";

static cl::OptionCategory general("What runs");
static cl::OptionCategory inputs("Inputs and outputs");
static cl::OptionCategory checks("Checks");

static cl::opt<std::string> file(cl::Positional, cl::desc("FILE"), cl::init("-"), cl::cat(general));
static cl::opt<std::string> function("function", cl::desc("The function or program to run (default: all)"),
                                     cl::value_desc("name"), cl::cat(general));
static cl::opt<reference::Arithmetic> arithmetic(
    "arithmetic", cl::desc("How float results are rounded"), cl::init(reference::Arithmetic::Native),
    cl::values(clEnumValN(reference::Arithmetic::Native, "native",
                          "to their element type, after each op (the default)"),
               clEnumValN(reference::Arithmetic::F64, "f64", "not at all: every float type computes as f64")),
    cl::cat(general));
static cl::opt<std::string> pipelineBefore("pipeline-before", cl::desc("Passes to apply before anything runs"),
                                           cl::value_desc("passes"), cl::cat(general));
static cl::opt<int64_t> steps("steps", cl::desc("Run this many training steps; updates are there for the next step"),
                              cl::value_desc("N"), cl::init(0), cl::cat(general));
static cl::opt<int64_t> accumulate("accumulate",
                                   cl::desc("Microbatches a step: N-1 times 'accumulate', then the function"),
                                   cl::value_desc("N"), cl::init(1), cl::cat(general));

static cl::opt<uint64_t> seed("seed", cl::desc("Seed of inputs and initial values (default 0)"), cl::value_desc("N"),
                              cl::init(0), cl::cat(inputs));
static cl::opt<bool> initialize("init",
                                cl::desc("Parameters and states start from their initializers; "
                                         "else they are random"),
                                cl::cat(inputs));
static cl::list<std::string> numbers("set", cl::desc("A number for every element of an input"),
                                     cl::value_desc("name=number"), cl::cat(inputs));
static cl::opt<double> ignored("ignored-share", cl::desc("The share of random targets that are the ignored index"),
                               cl::value_desc("x"), cl::init(0), cl::cat(inputs));
static cl::opt<std::string> inputFile("inputs", cl::desc("Tensors for inputs, by name (safetensors)"),
                                      cl::value_desc("file"), cl::cat(inputs));
static cl::opt<std::string> prefix("prefix",
                                   cl::desc("What names in --inputs and --expect begin with; @ stands "
                                            "for the function's name"),
                                   cl::value_desc("text"), cl::cat(inputs));
static cl::opt<std::string> data("data", cl::desc("Tokens for --steps: a BRAIDTOK file, read in order"),
                                 cl::value_desc("file"), cl::cat(inputs));
static cl::opt<std::string> logFile("log", cl::desc("Write a JSON line for each of --steps here"),
                                    cl::value_desc("file"), cl::cat(inputs));
static cl::opt<bool> print("print", cl::desc("Print results also when --outputs or --expect is given"),
                           cl::cat(inputs));
static cl::opt<bool> perRank("per-rank",
                             cl::desc("Print also what each rank of a local function returns, before it is "
                                      "put together"),
                             cl::cat(inputs));
static cl::opt<int64_t> printLimit("print-limit", cl::desc("Tensors with more elements are summed up (default 64)"),
                                   cl::value_desc("N"), cl::init(64), cl::cat(inputs));
static cl::opt<std::string> outputs("outputs",
                                    cl::desc("Write the results (after --steps: parameters and states) here"),
                                    cl::value_desc("file"), cl::cat(inputs));

static cl::opt<std::string> expect("expect",
                                   cl::desc("Compare results with those of this file (safetensors) by role; "
                                            "the gradient of x is 'dx'"),
                                   cl::value_desc("file"), cl::cat(checks));
static cl::opt<bool> compare("compare", cl::desc("Run before and after --pipeline on the same inputs and compare"),
                             cl::cat(checks));
static cl::opt<std::string> pipeline("pipeline", cl::desc("The passes that --compare tests"), cl::value_desc("passes"),
                                     cl::cat(checks));
static cl::opt<std::string> referencePipeline("reference-pipeline",
                                              cl::desc("Passes for the other side of --compare (default: none)"),
                                              cl::value_desc("passes"), cl::cat(checks));
static cl::opt<std::string> afterFunction("after-function",
                                          cl::desc("The function to run after the passes, if its name differs"),
                                          cl::value_desc("name"), cl::cat(checks));
static cl::opt<int64_t> seeds("seeds", cl::desc("Compare with this many seeds (default 1)"), cl::value_desc("N"),
                              cl::init(1), cl::cat(checks));
static cl::opt<double> relative("rtol",
                                cl::desc("Allowed error relative to a tensor's greatest value (default 1e-5; "
                                         "1e-12 with --arithmetic=f64)"),
                                cl::value_desc("x"), cl::cat(checks));
static cl::opt<double> absolute("atol", cl::desc("Allowed absolute error (default 0)"), cl::value_desc("x"),
                                cl::init(0), cl::cat(checks));
static cl::opt<bool> checkGradients("check-gradients",
                                    cl::desc("Compare tg-differentiate with central differences, in f64"),
                                    cl::cat(checks));
static cl::list<std::string> wrt("wrt", cl::desc("Arguments to check (default: every float argument)"),
                                 cl::value_desc("name"), cl::CommaSeparated, cl::cat(checks));
static cl::opt<double> gradientTolerance("gradient-tolerance",
                                         cl::desc("Allowed error relative to a gradient's greatest value "
                                                  "(default 1e-6)"),
                                         cl::value_desc("x"), cl::init(1e-6), cl::cat(checks));
static cl::opt<double> eps("eps", cl::desc("Half the distance of a central difference (default 1e-5)"),
                           cl::value_desc("x"), cl::init(1e-5), cl::cat(checks));

[[noreturn]] static void fail(llvm::StringRef message) {
  llvm::WithColor::error(llvm::errs(), "braid-interp") << message << '\n';
  exit(1);
}

/// Reads `name=number`.
static void parseNumbers(reference::InputOptions &options) {
  for (llvm::StringRef text : numbers) {
    auto [name, number] = text.split('=');
    double value;
    if (name.empty() || number.getAsDouble(value))
      fail("--set takes name=number, found '" + text.str() + "'");
    options.numbers[name] = value;
  }
}

static Mode findMode() {
  if ((steps.getNumOccurrences() > 0) + compare + checkGradients > 1)
    fail("--steps, --compare and --check-gradients exclude each other");
  if (!(pipeline.empty() && referencePipeline.empty()) && !compare)
    fail("--pipeline and --reference-pipeline need --compare; use "
         "--pipeline-before to run after passes");
  if ((!data.empty() || !logFile.empty()) && steps.getNumOccurrences() == 0)
    fail("--data and --log need --steps");
  if (perRank && (compare || checkGradients || steps.getNumOccurrences() > 0))
    fail("--per-rank prints a single run; --steps, --compare and --check-gradients exclude it");
  if (compare)
    return Mode::Compare;
  if (checkGradients)
    return Mode::CheckGradients;
  return steps.getNumOccurrences() > 0 ? Mode::Train : Mode::Run;
}

Options interp::parseCommandLine(int argc, char **argv) {
  cl::HideUnrelatedOptions({&general, &inputs, &checks});
  cl::SetVersionPrinter([](llvm::raw_ostream &os) { os << "braid-interp " BRAID_VERSION "\n"; });
  cl::ParseCommandLineOptions(argc, argv, kOverview);
  Options options;
  options.mode = findMode();
  if (steps < 0 || accumulate < 1 || seeds < 1)
    fail("--steps, --accumulate and --seeds must be positive");
  options.file = file;
  options.function = function;
  options.afterFunction = afterFunction;
  options.pipelineBefore = pipelineBefore;
  options.pipeline = pipeline;
  options.referencePipeline = referencePipeline;
  options.arithmetic = arithmetic;
  options.inputs.seed = seed;
  options.inputs.initialize = initialize || options.mode == Mode::Train;
  options.inputs.ignoredShare = ignored;
  options.inputs.prefix = prefix;
  parseNumbers(options.inputs);
  options.inputFile = inputFile;
  options.expectFile = expect;
  options.outputFile = outputs;
  options.dataFile = data;
  options.logFile = logFile;
  options.print = print || (outputs.empty() && expect.empty());
  options.printLimit = printLimit;
  options.perRank = perRank;
  options.steps = steps;
  options.microbatches = accumulate;
  options.seeds = seeds;
  options.tolerance.relative = relative.getNumOccurrences()               ? static_cast<double>(relative)
                               : arithmetic == reference::Arithmetic::F64 ? 1e-12
                                                                          : 1e-5;
  options.tolerance.absolute = absolute;
  options.wrt.assign(wrt.begin(), wrt.end());
  options.gradientTolerance = gradientTolerance;
  options.eps = eps;
  return options;
}
