//===- main.cpp - braid-import: a program of a framework as a tg graph ----===//

#include "cli/StandardFiles.h"
#include "lib/Import/PrintNamed.h"
#include "lib/Import/StableHLO/Translator.h"
#include "lib/Import/Torch/Translator.h"
#include "lib/Import/Torch/Weights.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"
#include "tools/CommandLine.h"
#include "tools/Failures.h"
#include "tools/braid-import/OpTable.h"
#include "tools/braid-import/Summary.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileUtilities.h"
#include "llvm/Support/InitLLVM.h"

using namespace llvm;
using namespace braid::cli;
using braid::Imported;
using braid::ImportOptions;
using braid::SourceKind;
using braid::torch::Archive;

namespace {
struct Options {
  std::string program, output = "-", weights, from, loss;
  std::vector<std::string> inputs, states;
  bool summary = false, ops = false;

  SourceKind source() const {
    if (from.empty())
      return StringRef(program).ends_with(".mlir") ? SourceKind::StableHLO : SourceKind::PyTorch;
    return from == "stablehlo" ? SourceKind::StableHLO : SourceKind::PyTorch;
  }
};

/// The word of --input for a parameter without an update.
constexpr StringLiteral kFrozen = "frozen";

/// Returns the role that a word names, if an input can have it.
std::optional<braid::tg::Role> roleNamed(StringRef word) {
  std::optional<braid::tg::Role> role = braid::tg::symbolizeRole(word);
  return role && (*role <= braid::tg::Role::Labels || *role == braid::tg::Role::Shared) ? role : std::nullopt;
}

bool isInputRole(std::string_view text) {
  auto [name, word] = StringRef(text).split('=');
  return !name.empty() && (word == kFrozen || roleNamed(word));
}

bool isState(std::string_view text) {
  auto [name, result] = StringRef(text).split('=');
  return !name.empty() && !result.empty() == StringRef(text).contains('=');
}

constexpr Option kImport[] = {
    {"FILE", text(""), "A program that torch.export.save wrote, or the StableHLO of a JAX function; docs/Importing.md",
     into<&Options::program>(), required()},
    {"--from", choice({"pytorch", "stablehlo"}), "What the program is", into<&Options::from>(),
     byDefault("stablehlo for *.mlir, otherwise pytorch")},
    {"--input", list("NAME=ROLE", isInputRole, "NAME=tokens, targets, features, labels, shared or frozen"),
     "Roles of inputs in training: tokens, targets, features or labels; shared has no rows of the batch; frozen is a "
     "parameter of a JAX function that no update changes, and may be an argument with several arrays; may be given "
     "several times",
     into<&Options::inputs>(), byDefault("by the input's name and type")},
    {"--state", list("NAME[=RESULT]", isState, "NAME or NAME=RESULT"),
     "Arguments of a JAX training step that are its state, whose new values it returns; RESULT is the first key of the "
     "new value among the results; may be given several times",
     into<&Options::states>(), byDefault("the donated arguments, if there are any")},
    {"--loss", text("LOSS"),
     "A loss for a program of PyTorch that returns none: cross_entropy(OUTPUT,LABELS), mse(OUTPUT,LABELS) or "
     "bce(OUTPUT,LABELS); "
     "cross_entropy also takes label_smoothing=NUMBER and ignore_index=INTEGER",
     into<&Options::loss>()},
};
constexpr Option kOutput[] = {
    {"-o", text("FILE"), "Path of the graph; - is standard output", into<&Options::output>()},
    {"--weights", text("FILE"), "Path of a safetensors file for the weights of a PyTorch program",
     into<&Options::weights>()},
    {"--summary", flag(), "Print parameters, ops and recognized patterns instead of the graph",
     into<&Options::summary>(), excludes("-o")},
    {"--ops", flag(), "Print the ops that can be imported, as Markdown", into<&Options::ops>(),
     excludes("FILE --input --state --loss -o --weights --summary")},
};
constexpr Topic kTopics[] = {topic<Options>("Import", kImport), topic<Options>("Output", kOutput),
                             topic<Options>("Help", braid::kToolHelp)};
constexpr Command kTool = {"braid-import", "Write the training graph of a PyTorch program or a JAX function", kTopics};
} // namespace

static int fail(const Twine &message) {
  errs() << "braid-import: " << message << '\n';
  return 1;
}

/// Prints `FILE:LINE: error: MESSAGE [MODULE]`, or a warning, with the place in the user's source and the module that
/// made the call.
static mlir::LogicalResult printDiagnostic(mlir::Diagnostic &diagnostic) {
  mlir::Location place = diagnostic.getLocation();
  std::string module;
  if (auto name = dyn_cast<mlir::NameLoc>(place)) {
    module = name.getName().str();
    place = name.getChildLoc();
  }
  if (auto source = dyn_cast<mlir::FileLineColLoc>(place))
    errs() << source.getFilename().getValue() << ':' << source.getLine() << ": ";
  else
    errs() << "braid-import: ";
  errs() << (diagnostic.getSeverity() == mlir::DiagnosticSeverity::Warning ? "warning: " : "error: ") << diagnostic;
  if (!module.empty())
    errs() << " [" << module << ']';
  errs() << '\n';
  return mlir::success();
}

/// Reads --input. Fails if the program has none of these inputs. `trees` are arguments that may be frozen as a whole.
static Expected<ImportOptions> readRoles(const std::vector<std::string> &inputs, ArrayRef<std::string> names,
                                         ArrayRef<std::string> trees = {}) {
  ImportOptions options;
  for (StringRef input : inputs) {
    auto [name, word] = input.split('=');
    if (!is_contained(names, name) && !(word == kFrozen && is_contained(trees, name)))
      return createStringError("--input=" + input + ": the program has no such input; its inputs are " +
                               join(names, ", "));
    if (word == kFrozen)
      options.frozen.push_back(name.str());
    else
      options.roles.push_back({name.str(), *roleNamed(word)});
  }
  return options;
}

/// Removes what is unused after patterns were recognized.
static mlir::LogicalResult simplify(mlir::ModuleOp module) {
  mlir::PassManager passes(module.getContext());
  passes.addPass(mlir::createCanonicalizerPass());
  passes.addPass(mlir::createCSEPass());
  return passes.run(module);
}

static Error writeGraph(const Options &options, mlir::ModuleOp module) {
  Error error = writeToOutput(options.output, [&](raw_ostream &os) {
    braid::printNamed(os, module);
    return Error::success();
  });
  return error ? createStringError(options.output + ": " + toString(std::move(error))) : Error::success();
}

/// Prints the summary, or calls `write` and then writes the graph.
static int finish(const Options &options, Imported imported, function_ref<Error(mlir::ModuleOp)> write) {
  if (!imported.module || failed(mlir::verify(*imported.module)) || failed(simplify(*imported.module)))
    return 1;
  if (options.summary) {
    braid::printSummary(outs(), *imported.module, imported.recognized);
    return 0;
  }
  if (Error error = write(*imported.module))
    return fail(toString(std::move(error)));
  Error error = writeGraph(options, *imported.module);
  return error ? fail(toString(std::move(error))) : 0;
}

/// Reads --input and --loss.
static Expected<braid::torch::ImportOptions> readOptions(const Options &given, const braid::torch::Program &program) {
  std::vector<std::string> names;
  for (const braid::torch::Input &input : program.inputs)
    if (input.kind == braid::torch::Input::Kind::User)
      names.push_back(input.target);
  Expected<ImportOptions> roles = readRoles(given.inputs, names);
  if (!roles)
    return roles.takeError();
  if (!roles->frozen.empty())
    return createStringError("--input=" + roles->frozen.front() +
                             "=frozen is for arguments of a JAX function; freeze a parameter of a module by "
                             "requires_grad=False before the export");
  braid::torch::ImportOptions options{*roles, std::nullopt};
  if (!given.loss.empty()) {
    Expected<braid::torch::LossRequest> loss = braid::torch::parseLoss(given.loss);
    if (!loss)
      return createStringError("--loss: " + toString(loss.takeError()));
    options.loss = *loss;
  }
  return options;
}

static int importPyTorch(const Options &options, mlir::MLIRContext &context) {
  if (!options.states.empty())
    return fail(
        "--state is for a training step of JAX; export a module's loss, and braidc adds gradients and optimizer");
  Expected<Archive> archive = Archive::open(options.program);
  if (!archive)
    return fail(toString(archive.takeError()));
  Expected<braid::torch::Program> program = braid::torch::readProgram(*archive);
  if (!program)
    return fail(toString(program.takeError()));
  Expected<braid::torch::ImportOptions> known = readOptions(options, *program);
  if (!known)
    return fail(toString(known.takeError()));
  auto writeWeights = [&](mlir::ModuleOp module) -> Error {
    if (options.weights.empty())
      return Error::success();
    Error error = writeToOutput(options.weights, [&](raw_ostream &os) {
      return braid::torch::writeWeights(*program, *archive, braid::parameterNames(module), os);
    });
    return error ? createStringError(options.weights + ": " + toString(std::move(error))) : Error::success();
  };
  return finish(options, braid::torch::translate(*program, *archive, *known, context), writeWeights);
}

static int importStableHLO(const Options &options, mlir::MLIRContext &context) {
  if (!options.weights.empty())
    return fail("--weights: the text of a JAX function has no weights; save its parameters as safetensors, as "
                "docs/Importing.md shows, and start from them with train --init");
  if (!options.loss.empty())
    return fail("--loss is for programs of PyTorch; return the loss from the JAX function");
  context.allowUnregisteredDialects();
  Expected<braid::stablehlo::Program> program = braid::stablehlo::readProgram(options.program, context);
  if (!program)
    return fail(toString(program.takeError()));
  std::vector<std::string> names, trees;
  for (const braid::stablehlo::Argument &argument : program->arguments) {
    names.push_back(argument.name);
    trees.push_back(argument.path.root);
  }
  Expected<ImportOptions> roles = readRoles(options.inputs, names, trees);
  if (!roles)
    return fail(toString(roles.takeError()));
  braid::stablehlo::ImportOptions known{*roles, {}};
  for (StringRef state : options.states)
    known.states.push_back({state.split('=').first.str(), state.split('=').second.str()});
  return finish(options, braid::stablehlo::translate(*program, known), [](mlir::ModuleOp) { return Error::success(); });
}

static int import(const Options &options) {
  mlir::DialectRegistry registry;
  registry.insert<braid::tg::TGDialect, mlir::func::FuncDialect, mlir::arith::ArithDialect, mlir::math::MathDialect>();
  mlir::MLIRContext context(registry);
  context.loadAllAvailableDialects();
  context.getDiagEngine().registerHandler(printDiagnostic);
  return options.source() == SourceKind::PyTorch ? importPyTorch(options, context) : importStableHLO(options, context);
}

int main(int argc, char **argv) {
  braid::cli::prepareProcess();
  braid::reportFailures("braid-import");
  InitLLVM init(argc, argv);
  Options options;
  braid::parseCommandLine(kTool, argc, argv, &options);
  if (options.ops) {
    braid::printOpTable(outs(), options.source());
    return 0;
  }
  return import(options);
}
